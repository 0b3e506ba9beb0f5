// Requests for drills and the clock → simulated events in the store, the sinks and approvals.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Drill } from '../model/drills.ts';
import type { EventChange, Instant, KnownEvent, KnownState } from '../model/events.ts';
import { drillEventId, isDrill } from '../model/ids.ts';
import type { Committer } from '../outbox/committer.ts';
import type { Transaction } from '../outbox/open-store.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { ageMs, type CancelTimer, type Deps, now } from '../time/clock.ts';
import { drillChange, drillEvent, knownDrill, startedEvent } from './drill-event.ts';
import type { DrillRequest } from './options.ts';
import { type DrillReport, drillReport } from './report.ts';

/** The pause before a retry of a step that could not be stored. */
const RETRY_MS = 1000;

/** The limit of a report. A drill has only a few changes, unless approvers approve and hold repeatedly. */
const MOST_CHANGES = 1000;

interface DrillsParts {
  readonly store: Pick<Committer, 'state' | 'step'>;
  readonly outbox: Pick<Outbox, 'drills' | 'journal' | 'journalPages' | 'approvals' | 'operatorActs'>;
  /**
   * Stores the CloudEvents of the changes and their effect on approvals in the transaction; returns a function to call
   * once it is on disk.
   */
  readonly publish: (changes: readonly EventChange[], transaction: Transaction) => () => void;
  /** Returns the missing approvers of a Scheduled event, and whether its StartRequest would have been accepted. */
  readonly approval: (
    key: string,
    occurrence: number,
  ) => { readonly missing: readonly string[]; readonly isSubmitted: boolean };
  readonly ownName: () => string | null;
  readonly deps: Deps;
  readonly logger: Logger;
}

/** Why a drill cannot begin. */
type DrillRefusal = 'event-listed' | 'unnamed';

type Outcome = NonNullable<Drill['outcome']>;

/** Drills survive restarts. Nothing of them is sent to the metadata service: approvals replace its answers. */
export class Drills implements Disposable {
  readonly #parts: DrillsParts;
  /** Drills that have not ended, by key. */
  readonly #open = new Map<string, Drill>();
  /** Keys of drills from an earlier process: their overdue steps count from the time when they were due. */
  readonly #resumed = new Set<string>();
  /** When drills started, on the monotonic clock. */
  readonly #startedAt = new Map<string, Instant>();
  #cancelTimer: CancelTimer = () => {};
  #isClosed = false;

  constructor(parts: DrillsParts) {
    this.#parts = parts;
  }

  /** Resumes open drills of the last process; overdue steps happen now. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    for (const drill of this.#parts.outbox.drills.open()) {
      const key = drillEventId(drill.id);
      this.#open.set(key, drill);
      this.#resumed.add(key);
      if (drill.startedMs !== null) this.#startedAt.set(key, this.#instant(drill.startedMs));
    }
    this.#goOn();
  }

  /**
   * Announces a drill.
   * @param operator the requester
   * @throws BridgeError BRIDGE_STORE_*, in which case no drill begins
   */
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
    this.#step(
      drill,
      { ...withEvent(state, known), nextOccurrence: drill.occurrence + 1 },
      this.#change('scheduled', known),
      () => this.#note(operator, 'drill', drill, request),
    );
    logger.info({ eventId: event.eventId, operator }, 'a drill begins: nothing of it is sent to the metadata service');
    this.#goOn();
    return drill;
  }

  /**
   * Cancels a drill.
   * @returns null for an unknown id; an ended drill is returned unchanged
   * @throws BridgeError BRIDGE_STORE_*
   */
  cancel(operator: string, id: string): Drill | null {
    const drill = this.#open.get(drillEventId(id));
    if (drill === undefined) return this.#parts.outbox.drills.find(id);
    this.#end(drill, 'canceled', () => this.#note(operator, 'cancel-drill', drill));
    this.#parts.logger.info({ eventId: drill.event.eventId, operator }, 'a drill was cancelled');
    this.#goOn();
    return drill;
  }

  /** Returns the results so far; null for an unknown id. @throws BridgeError BRIDGE_STORE_* */
  report(id: string): DrillReport | null {
    const { outbox, approval } = this.#parts;
    const drill = outbox.drills.find(id);
    if (drill === null) return null;
    const eventKey = drillEventId(id);
    const votes = outbox.approvals.of(drill.occurrence)?.votes ?? [];
    const missingNow = approval(eventKey, drill.occurrence).missing;
    return drillReport({ drill, changes: outbox.journalPages.changesOf(eventKey, MOST_CHANGES), votes, missingNow });
  }

  /** Starts the drill of this key, because its StartRequest would have been accepted. */
  approved(key: string): void {
    if (this.#open.has(key)) this.#goOn();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#cancelTimer();
  }

  /** Takes all due steps, the earliest first, and sets the timer for the next one. Never throws. */
  #goOn(): void {
    this.#cancelTimer();
    if (this.#isClosed) return;
    const failed = new Set<string>();
    for (let drill = this.#due(failed); drill !== undefined; drill = this.#due(failed)) {
      try {
        if (drill.startedMs !== null) this.#end(drill, 'completed');
        else this.#begin(drill);
      } catch (error) {
        failed.add(drill.id);
        const { eventId } = drill.event;
        this.#parts.logger.error(
          { eventId, reason: messageOf(error) },
          'a step of a drill could not be stored: the bridge retries in a second',
        );
      }
    }
    if (this.#open.size === 0) return;
    // Wall clocks jump, so it checks at least as often as it retries.
    const nextMs =
      failed.size > 0 ? RETRY_MS : Math.min(...[...this.#open.values()].map((drill) => this.#remainingMs(drill)));
    this.#cancelTimer = this.#parts.deps.after(Math.min(Math.max(nextMs, 1), RETRY_MS), () => this.#goOn());
  }

  /** Returns the drill that is due for the longest time, except those that have just failed. */
  #due(failed: ReadonlySet<string>): Drill | undefined {
    const waiting = [...this.#open.values()].filter(({ id }) => !failed.has(id));
    const due = waiting
      .map((drill) => ({ drill, remainingMs: this.#remainingMs(drill) }))
      .filter(({ remainingMs }) => remainingMs <= 0);
    return due.sort((one, other) => one.remainingMs - other.remainingMs)[0]?.drill;
  }

  #begin(drill: Drill): void {
    const { deps, approval, store } = this.#parts;
    const known = this.#known(drill);
    const started = { ...known, event: startedEvent(known.event) };
    const { missing } = approval(known.key, known.occurrence);
    const at = now(deps);
    const startedMs = this.#resumed.has(known.key) ? Math.min(at.wallMs, notBeforeMs(drill)) : at.wallMs;
    this.#step({ ...drill, startedMs, missing }, withEvent(store.state, started), this.#change('started', started));
    this.#startedAt.set(known.key, this.#instant(startedMs));
  }

  #end(drill: Drill, outcome: Outcome, note?: () => void): void {
    const { deps, approval, store } = this.#parts;
    const known = this.#known(drill);
    const missing = drill.startedMs === null ? approval(known.key, known.occurrence).missing : drill.missing;
    const events = new Map(store.state.events);
    events.delete(known.key);
    this.#step(
      { ...drill, endedMs: deps.wallMs(), outcome, missing },
      { ...store.state, events },
      this.#change('ended', known, outcome),
      note,
    );
  }

  /**
   * Stores in one transaction: the drill, the known events, the CloudEvent, its deliveries, and the effect on
   * approvals.
   */
  #step(drill: Drill, state: KnownState, change: EventChange, note: () => void = () => {}): void {
    const { store, publish } = this.#parts;
    store.step(
      { state },
      (transaction) => {
        transaction.saveDrill(drill);
        note();
        return publish([change], transaction);
      },
      change.at.wallMs,
    );
    if (drill.endedMs === null) this.#open.set(change.key, drill);
    else for (const kept of [this.#open, this.#resumed, this.#startedAt]) kept.delete(change.key);
  }

  /** Adds a line to the record of operators, in the transaction of the step. */
  #note(
    operator: string,
    act: 'drill' | 'cancel-drill',
    { id, event: { resources } }: Drill,
    request?: DrillRequest,
  ): void {
    const { outbox, deps } = this.#parts;
    outbox.operatorActs.add({
      atMs: deps.wallMs(),
      operator,
      act,
      subject: id,
      detail: request === undefined ? {} : { ...request, resources },
    });
  }

  /** Returns the known event, which was stored in the same transaction as the drill. */
  #known({ id }: Drill): KnownEvent {
    const known = this.#parts.store.state.events.get(drillEventId(id));
    if (known === undefined) throw new RangeError(`the drill ${id} has no event in the store`);
    return known;
  }

  /**
   * Returns the time until the next step; 0 or less if it is due. NotBefore counts in wall time, the duration in
   * elapsed time.
   */
  #remainingMs(drill: Drill): number {
    const { deps, approval } = this.#parts;
    const [key, at] = [drillEventId(drill.id), now(deps)];
    if (drill.startedMs !== null) {
      const since = this.#startedAt.get(key) ?? this.#instant(drill.startedMs);
      return drill.event.durationInSeconds * 1000 - ageMs(since, at);
    }
    const untilMs = notBeforeMs(drill) - at.wallMs;
    return approval(key, drill.occurrence).isSubmitted ? Math.min(untilMs, 0) : untilMs;
  }

  /**
   * Converts a wall time of this or an earlier process; a time in the future, after the clock was set back, counts as
   * now.
   */
  #instant(wallMs: number): Instant {
    const { deps } = this.#parts;
    return { wallMs, elapsedMs: deps.elapsedMs() - Math.max(0, deps.wallMs() - wallMs) };
  }

  #change(phase: 'scheduled' | 'started' | 'ended', known: KnownEvent, outcome: Drill['outcome'] = null): EventChange {
    const { deps, outbox } = this.#parts;
    return drillChange(phase, known, { at: now(deps), isUsed: (id) => outbox.journal.isUsed(id), outcome });
  }
}

function notBeforeMs({ event }: Drill): number {
  return Date.parse(event.notBefore ?? '');
}

function withEvent(state: KnownState, known: KnownEvent): KnownState {
  return { ...state, events: new Map([...state.events, [known.key, known]]) };
}

/** Returns a version 4 UUID, random enough for a unique name in one bridge. */
function newGuid(random: Deps['random']): string {
  const hex = [...'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'].map((place) =>
    place === 'x' ? Math.floor(random() * 16).toString(16) : place,
  );
  return hex.join('');
}
