// Requests for drills and the clock → made-up events through the store, the sinks and approvals.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { type Drill, drillEventId, isDrill } from '../model/drills.ts';
import type { EventChange, KnownEvent, KnownState } from '../model/events.ts';
import type { Committer } from '../outbox/committer.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Transaction } from '../outbox/transaction.ts';
import { type CancelTimer, type Deps, now } from '../time/clock.ts';
import { drillChange, drillEvent, knownDrill, startedEvent } from './drill-event.ts';
import type { DrillRequest } from './options.ts';
import { type DrillReport, drillReport } from './report.ts';

/** Where a step could not be stored, it is tried again so much later. */
const RETRY_MS = 1000;

/** In a report: a drill has a handful, unless approvers keep changing their minds. */
const MOST_CHANGES = 1000;

export interface DrillsParts {
  readonly store: Pick<Committer, 'state' | 'step'>;
  readonly outbox: Pick<Outbox, 'drills' | 'journal' | 'journalPages' | 'approvals'>;
  /** Inside the transaction: the CloudEvents of the changes and what they do to approvals; returns what is to be done once it is on disk. */
  readonly publish: (changes: readonly EventChange[], transaction: Transaction) => () => void;
  /** Of an event that is Scheduled: whose yes it lacks, and whether its StartRequest would have been accepted. */
  readonly approval: (key: string, occurrence: number) => { readonly missing: readonly string[]; readonly isSubmitted: boolean };
  readonly ownName: () => string | null;
  readonly deps: Deps;
  readonly logger: Logger;
}

/** Why there is no drill. */
export type DrillRefusal = 'event-listed' | 'unnamed';

type Outcome = NonNullable<Drill['outcome']>;

/** Each lives on over restarts, until its end. It is told to the metadata service by nothing: approvals answer for it themselves. */
export class Drills implements Disposable {
  readonly #parts: DrillsParts;
  /** Those that have not ended, by key. */
  readonly #open = new Map<string, Drill>();
  #cancelTimer: CancelTimer = () => {};
  #isClosed = false;

  constructor(parts: DrillsParts) {
    this.#parts = parts;
  }

  /** Takes up those that had not ended when the last process did; what fell due meanwhile happens now. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    for (const drill of this.#parts.outbox.drills.open()) this.#open.set(drillEventId(drill.id), drill);
    this.#goOn();
  }

  /** Announces one. @param operator who asks @throws BridgeError BRIDGE_STORE_*, and then there is none */
  begin(operator: string, request: DrillRequest): Drill | DrillRefusal {
    const { store, deps, logger, ownName } = this.#parts;
    const isListed = [...store.state.events.keys()].some((key) => !isDrill(key));
    if (isListed && !request.force) return 'event-listed';
    const own = ownName();
    const resources = request.resources ?? (own === null ? null : [own]);
    if (resources === null) return 'unnamed';
    const [id, at, { state }] = [newGuid(deps.random), now(deps), store];
    const event = drillEvent(id, request, resources, at.wallMs);
    const fresh = { startedMs: null, endedMs: null, outcome: null, missing: [] };
    const drill: Drill = { id, occurrence: state.nextOccurrence, event, operator, madeMs: at.wallMs, ...fresh };
    const known = knownDrill(drill, event, state.epoch?.number ?? 0);
    this.#step(drill, { ...withEvent(state, known), nextOccurrence: drill.occurrence + 1 }, this.#change('scheduled', known));
    logger.info({ eventId: event.eventId, operator }, 'a drill begins: nothing of it is told to the metadata service');
    this.#goOn();
    return drill;
  }

  /** Ends it as cancelled; null where there is none, the drill as it was where it has ended. @throws BridgeError BRIDGE_STORE_* */
  cancel(operator: string, id: string): Drill | null {
    const drill = this.#open.get(drillEventId(id));
    if (drill === undefined) return this.#parts.outbox.drills.find(id);
    this.#end(drill, 'canceled');
    this.#parts.logger.info({ eventId: drill.event.eventId, operator }, 'a drill was cancelled');
    this.#goOn();
    return drill;
  }

  /** What became of it so far; null where there is none. @throws BridgeError BRIDGE_STORE_* */
  report(id: string): DrillReport | null {
    const { outbox, approval } = this.#parts;
    const drill = outbox.drills.find(id);
    if (drill === null) return null;
    const eventKey = drillEventId(id);
    const range = { after: 0, sinceMs: 0, untilMs: Number.POSITIVE_INFINITY, eventKey, limit: MOST_CHANGES };
    const votes = outbox.approvals.of(drill.occurrence)?.votes ?? [];
    const missingNow = approval(eventKey, drill.occurrence).missing;
    return drillReport({ drill, journal: outbox.journalPages.page(range).items, votes, missingNow });
  }

  /** The StartRequest of this drill would have been accepted: it starts. */
  approved(key: string): void {
    if (this.#open.has(key)) this.#goOn();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#cancelTimer();
  }

  /** Does all that is due, and sets the timer for what comes next. Never throws. */
  #goOn(): void {
    this.#cancelTimer();
    if (this.#isClosed) return;
    try {
      for (const drill of [...this.#open.values()]) this.#advance(drill);
    } catch (error) {
      this.#parts.logger.error({ reason: messageOf(error) }, 'a step of a drill could not be stored: tried again in a second');
      this.#cancelTimer = this.#parts.deps.after(RETRY_MS, () => this.#goOn());
      return;
    }
    const dueMs = Math.min(...[...this.#open.values()].map((drill) => this.#dueMs(drill)));
    // Wall clocks jump: it looks again now and then.
    if (this.#open.size > 0)
      this.#cancelTimer = this.#parts.deps.after(Math.min(Math.max(dueMs - this.#parts.deps.wallMs(), 1), RETRY_MS), () => this.#goOn());
  }

  #advance(drill: Drill): void {
    const { deps, approval } = this.#parts;
    const isDue = deps.wallMs() >= this.#dueMs(drill);
    if (drill.startedMs !== null) {
      if (isDue) this.#end(drill, 'completed');
      return;
    }
    const { isSubmitted, missing } = approval(drillEventId(drill.id), drill.occurrence);
    if (!isDue && !isSubmitted) return;
    const known = this.#known(drill);
    if (known === undefined) return;
    const started = { ...known, event: startedEvent(known.event) };
    this.#step(
      { ...drill, startedMs: deps.wallMs(), missing },
      withEvent(this.#parts.store.state, started),
      this.#change('started', started),
    );
    if (drill.event.durationInSeconds === 0) this.#advance(this.#open.get(known.key) as Drill);
  }

  #end(drill: Drill, outcome: Outcome): void {
    const { deps, approval, store } = this.#parts;
    const known = this.#known(drill);
    if (known === undefined) return;
    const missing = drill.startedMs === null ? approval(known.key, known.occurrence).missing : drill.missing;
    const events = new Map(store.state.events);
    events.delete(known.key);
    this.#step({ ...drill, endedMs: deps.wallMs(), outcome, missing }, { ...store.state, events }, this.#change('ended', known, outcome));
  }

  /** One transaction: the drill, the known events, the CloudEvent, its deliveries, and what it does to approvals. */
  #step(drill: Drill, state: KnownState, change: EventChange): void {
    const { store, publish } = this.#parts;
    store.step(
      { state },
      (transaction) => {
        transaction.saveDrill(drill);
        return publish([change], transaction);
      },
      change.at.wallMs,
    );
    if (drill.endedMs === null) this.#open.set(change.key, drill);
    else this.#open.delete(change.key);
  }

  #known({ id }: Drill): KnownEvent | undefined {
    return this.#parts.store.state.events.get(drillEventId(id));
  }

  /** Wall time of its next step, where nobody approves it before. */
  #dueMs({ event, startedMs }: Drill): number {
    return startedMs === null ? Date.parse(event.notBefore ?? '') : startedMs + event.durationInSeconds * 1000;
  }

  #change(phase: 'scheduled' | 'started' | 'ended', known: KnownEvent, outcome: Drill['outcome'] = null): EventChange {
    const { deps, outbox } = this.#parts;
    return drillChange(phase, known, { at: now(deps), isUsed: (id) => outbox.journal.isUsed(id), outcome });
  }
}

function withEvent(state: KnownState, known: KnownEvent): KnownState {
  return { ...state, events: new Map([...state.events, [known.key, known]]) };
}

/** A version 4 UUID; chance enough for a name that is unique here. */
function newGuid(random: Deps['random']): string {
  const hex = [...'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'].map((place) => (place === 'x' ? Math.floor(random() * 16).toString(16) : place));
  return hex.join('');
}
