// A few events, a store in memory → Approvals over them in virtual time, and what is posted.
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { Approvals } from '../../src/approvals/approvals.ts';
import type { ApprovalAnswer, HoldAnswer, ReleaseAnswer } from '../../src/approvals/requests/answer.ts';
import type { RulesOptions } from '../../src/approvals/rules/rules-in-force.ts';
import type { ApprovalsParts } from '../../src/approvals/stages.ts';
import type { ApprovalStore } from '../../src/approvals/store.ts';
import { BridgeError } from '../../src/errors.ts';
import { RequestRate } from '../../src/metadata/request-rate.ts';
import type { ApprovalOrigin, PostResult } from '../../src/model/approvals.ts';
import type { EventChange, Instant, KnownEvent, Phase, ScheduledEvent } from '../../src/model/events.ts';
import { now } from '../../src/time/clock.ts';
import { EVENT_ID, scheduledEvent } from '../support/events.ts';
import { MemoryApprovalStore } from './memory-approval-store.ts';
import { settle, VirtualTime } from './virtual-time.ts';

/** Of two approvers, each of whom is enough. */
export const RULES: RulesOptions = {
  ...{ approvers: { orders: {}, billing: {} }, required: 'any', policy: null, dryRun: false, holdingSinks: new Map() },
  ...{ windows: {}, budgets: {} },
  group: { submit: 'every', failoverAfterMs: 10_000, members: [] },
};

export const ACCEPTED: PostResult = { kind: 'accepted' };
export const REFUSED: PostResult = {
  kind: 'refused',
  status: 403,
  error: new Error('the metadata service answered 403'),
};

/** Answered 503. */
export function again(delayMs: number): PostResult {
  return { kind: 'again', error: new Error('the metadata service answered 503'), delayMs, mayHaveArrived: false };
}

/** No answer came. */
export const LOST: PostResult = {
  ...{ kind: 'again', delayMs: 1000, mayHaveArrived: true },
  error: new BridgeError('BRIDGE_METADATA_TIMEOUT', 'the metadata service gave no complete answer'),
};

export interface Post {
  readonly eventIds: readonly string[];
  readonly atMs: number;
  /** How old the document was on which it was posted; null without one. */
  readonly documentAgeMs: number | null;
  /** Whether that document listed the event as Scheduled. */
  readonly scheduled: boolean;
  /** Votes in the store when it was posted. */
  readonly votes: number;
}

export type ApprovalSettings = Partial<
  Pick<
    ApprovalsParts,
    'approvers' | 'required' | 'policy' | 'windows' | 'budgets' | 'group' | 'dryRun' | 'isShared' | 'holdingSinks'
  > & {
    readonly ownName: string | null;
  }
>;

/** By a token at this bridge's own endpoint. */
export function caller(approver: string): ApprovalOrigin {
  return { approver, via: 'token', isShared: false };
}

export class ApprovalsFixture {
  readonly time: VirtualTime;
  readonly store = new MemoryApprovalStore();
  /** What the service lists, by EventId in lower case. */
  readonly service = new Map<string, ScheduledEvent>();
  readonly posts: Post[] = [];
  /** Keys of events that the next documents leave out although they have not ended, as after a gap (4.4). */
  readonly missing = new Set<string>();
  /** Keys of drills that the bridge has accepted itself. */
  readonly drillsApproved: string[] = [];
  /** Polls every second, as is usual. */
  readonly rate: RequestRate;
  /** `SINK OCCURRENCE` of what sinks were sent. */
  readonly sent = new Set<string>();
  /** `source:NAME APPROVER` and `sink:NAME APPROVER` that may no longer act. */
  readonly revoked = new Set<string>();
  reads = 0;
  /** The next answers to StartRequests. */
  answers: (PostResult | Promise<PostResult>)[] = [];
  /** What is answered behind `answers`. */
  answerTo: (eventIds: readonly string[]) => PostResult = () => ACCEPTED;
  /** Whether reading the document fails. */
  isAway = false;
  /** Whether the last document could not be stored. */
  isBehind = false;
  /** Whether sight of the service is lost. */
  isBlind = false;
  readonly log: string[] = [];
  readonly told: string[] = [];
  /** What became of messages: `queue settled`. */
  readonly messages: string[] = [];
  #known: ReadonlyMap<string, KnownEvent> = new Map();
  #readAt: Instant | null = null;
  #goodAt: Instant | null = null;
  #occurrences = 0;
  #approvals: Approvals | null = null;

  /** @param options when the clock begins; by default at midnight of 1 January 2026 */
  constructor(options: { readonly startMs?: number } = {}) {
    this.time = new VirtualTime(options);
    this.rate = new RequestRate({ pollIntervalMs: 1000, elapsedMs: this.time.elapsedMs });
  }

  /**
   * Approvals over the same store, as a process makes them; those before it are forgotten, as by kill -9.
   * @throws what `start` does
   */
  open(parts: ApprovalSettings = {}): Approvals {
    const write = (line: string) => this.log.push(line);
    const approvals: Approvals = new Approvals({
      ...{ ...RULES, isShared: () => true },
      ...parts,
      store: this.#storeOf(() => approvals === this.#approvals),
      deps: this.time,
      logger: pino({ level: 'trace' }, { write }),
      onEvent: (name) => this.told.push(name),
      onMessage: (source, result) => this.messages.push(`${source} ${result}`),
      ports: {
        events: () => this.#known,
        lastReadAt: () => (approvals === this.#approvals ? this.#readAt : null),
        lastGoodAt: () => this.#goodAt,
        read: (signal) => this.#read(approvals, signal),
        post: (eventIds, signal) => this.#post(approvals, eventIds, signal),
        room: (reads) => this.rate.room(reads),
        isBehind: () => this.isBehind,
        isBlind: () => this.isBlind,
        wasSent: (sink, occurrence) => this.sent.has(`${sink} ${occurrence}`),
        actsOn: () => true,
        drillApproved: (key) => this.drillsApproved.push(key),
        isAuthorized: ({ via, approver }) => !this.revoked.has(`${via} ${approver}`),
        ownName: () => parts.ownName ?? 'WestNO_0',
        observerId: () => 'westno_0',
      },
    });
    this.#approvals = approvals;
    try {
      approvals.start();
    } catch (error) {
      void approvals[Symbol.asyncDispose]();
      throw error;
    }
    return approvals;
  }

  /** Closes them, with the time passing that a POST under way may take. */
  async close(approvals: Approvals): Promise<void> {
    const closed = approvals[Symbol.asyncDispose]();
    await this.time.advance(5000);
    await closed;
  }

  /** How many StartRequests have been posted when this time has passed. */
  async postsAfter(ms: number): Promise<number> {
    await this.time.advance(ms);
    return this.posts.length;
  }

  /** A new process has read no document itself yet. */
  forgetReading(): void {
    this.#readAt = null;
  }

  get readAt(): Instant | null {
    return this.#readAt;
  }

  known(key: string): KnownEvent | undefined {
    return this.#known.get(key);
  }

  /** The service lists this event, with these fields, from now on. */
  list(eventId: string, fields: Partial<ScheduledEvent> = {}): void {
    const before = this.service.get(eventId.toLowerCase()) ?? scheduledEvent();
    this.service.set(eventId.toLowerCase(), { ...before, eventId, ...fields });
  }

  end(eventId: string): void {
    this.service.delete(eventId.toLowerCase());
  }

  /**
   * One good document, handled as the pipeline does: changes in one transaction, then the new state, then the memory of
   * approvals.
   */
  poll(): void {
    const at = now(this.time);
    const next = new Map<string, KnownEvent>();
    const changes: EventChange[] = [];
    for (const [key, event] of this.service) {
      const before = this.#known.get(key);
      const occurrence = before?.occurrence ?? ++this.#occurrences;
      next.set(key, {
        key,
        occurrence,
        event,
        apiVersion: '2020-07-01',
        epoch: 1,
        listed: !this.missing.has(key),
        lastListedAt: null,
        missing: null,
      });
      if (before?.event !== event)
        changes.push(this.#change(before ? phaseOf(event) : 'scheduled', key, occurrence, event, at));
    }
    for (const [key, { occurrence, event }] of this.#known)
      if (!next.has(key)) changes.push(this.#change('ended', key, occurrence, event, at));
    this.isBehind = changes.length > 0;
    const commit = this.store.commit((transaction) => this.#approvals?.observe(transaction, changes));
    this.isBehind = false;
    for (const { key, occurrence, phase } of changes) if (phase === 'ended') this.store.end(key, occurrence, at.wallMs);
    this.#known = next;
    this.#readAt = at;
    this.#goodAt = { ...at, elapsedMs: null };
    commit?.();
    this.#approvals?.documentHandled();
  }

  #change(phase: Phase, key: string, occurrence: number, event: ScheduledEvent, at: Instant): EventChange {
    return {
      ...{ kind: 'event', phase, id: `${key}:${phase}:${at.elapsedMs}`, key, occurrence, event, at },
      ...{ previousStatus: null, changedFields: [], outcome: null, withoutNotice: false, incarnation: 1 },
    };
  }

  /** A process that was killed writes nothing any more. */
  #storeOf(isAlive: () => boolean): ApprovalStore {
    const { approvals, messages, rests, journal, known, holdOfAll } = this.store;
    const commit: ApprovalStore['commit'] = (work) => {
      if (!isAlive()) throw new BridgeError('BRIDGE_STORE_FAILED', 'the process was killed');
      return this.store.commit(work);
    };
    return { approvals, messages, rests, journal, known, holdOfAll, commit };
  }

  async #read(from: Approvals, signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    signal.throwIfAborted();
    if (from !== this.#approvals) return aborted(signal);
    this.reads++;
    this.rate.sent('GET');
    if (!this.isAway) this.poll();
  }

  async #post(from: Approvals, eventIds: readonly string[], signal: AbortSignal): Promise<PostResult> {
    if (from !== this.#approvals) return aborted(signal);
    this.rate.sent('POST');
    const at = now(this.time);
    const documentAgeMs = this.#readAt === null ? null : (at.elapsedMs ?? 0) - (this.#readAt.elapsedMs ?? 0);
    const known = this.#known.get(eventIds[0]?.toLowerCase() ?? '');
    const scheduled = known?.event.eventStatus === 'Scheduled';
    const votes = known ? (this.store.stored(known.key, known.occurrence)?.votes.length ?? 0) : 0;
    this.posts.push({ eventIds, atMs: this.time.elapsedMs(), documentAgeMs, scheduled, votes });
    const result = await Promise.race([this.answers.shift() ?? this.answerTo(eventIds), aborted(signal)]);
    return from === this.#approvals ? result : aborted(signal);
  }
}

/** Nothing comes back, as to a process that is no more, until it is told to give up. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function phaseOf({ eventStatus }: ScheduledEvent): Phase {
  return eventStatus === 'Started' ? 'started' : 'updated';
}

/** The body of an approval of these events. */
export function startRequests(...eventIds: readonly string[]): object {
  return { StartRequests: eventIds.map((EventId) => ({ EventId })) };
}

/** Approvals beside a metadata service with one Scheduled event, EVENT_ID, that was just read. */
export function approvalsOverOneEvent(
  t: TestContext,
  settings: ApprovalSettings = {},
  fields: Partial<ScheduledEvent> = {},
): { readonly fixture: ApprovalsFixture; readonly approvals: Approvals } {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open(settings);
  t.after(() => fixture.close(approvals));
  fixture.list(EVENT_ID, fields);
  fixture.poll();
  return { fixture, approvals };
}

/** How the one event of `approvalsOverOneEvent` is known. */
export const KEY = EVENT_ID.toLowerCase();

/** What the service lists of an event that has started. */
export const STARTED = { eventStatus: 'Started', notBefore: null } as const;

/** A yes to EVENT_ID, or to these. */
export function approve(
  approvals: Approvals,
  approver = 'orders',
  ...eventIds: readonly string[]
): Promise<ApprovalAnswer> {
  return approvals.request(caller(approver), startRequests(...(eventIds.length === 0 ? [EVENT_ID] : eventIds)));
}

/** `200 submitted`, `201 held`, `released`, `409 changed`, … */
export function said(answered: ApprovalAnswer | HoldAnswer | ReleaseAnswer): string {
  if (answered.kind === 'refusal') return `${answered.status} ${answered.type}`;
  if (answered.kind === 'released') return 'released';
  return answered.kind === 'held'
    ? '201 held'
    : `${answered.status} ${answered.results.map(({ state }) => state).join(' ')}`;
}

/** EVENT_ID changes, in a document that is read at once. */
export function change(fixture: ApprovalsFixture, fields: Partial<ScheduledEvent> = {}): void {
  fixture.list(EVENT_ID, fields);
  fixture.poll();
}

/** EVENT_ID is no longer listed, in a document that is read at once. */
export function end(fixture: ApprovalsFixture): void {
  fixture.end(EVENT_ID);
  fixture.poll();
}

/** A StartRequest that `orders` has approved and that waits for its answer. */
export async function approvalOnItsWay(t: TestContext, settings: ApprovalSettings = {}) {
  const { fixture, approvals } = approvalsOverOneEvent(t, settings);
  const { promise, resolve } = Promise.withResolvers<PostResult>();
  fixture.answers = [promise];
  const asked = approve(approvals);
  // Some tests stop before the answer, and do not wait for it.
  asked.catch(() => {});
  await settle();
  return { fixture, approvals, asked, answer: resolve };
}

/** kill -9 and a start, in which no document has been read yet. */
export function reopened(fixture: ApprovalsFixture, settings: ApprovalSettings = {}): Approvals {
  const approvals = fixture.open(settings);
  fixture.forgetReading();
  return approvals;
}

/** The lines of this level: their text and their fields, and of an error its message alone. */
export function logged({ log }: ApprovalsFixture, of: 'info' | 'warn' | 'error'): readonly object[] {
  const lines = log.map((line) => JSON.parse(line) as Record<string, unknown> & { err?: { message: string } });
  return lines
    .filter(({ level }) => level === pino.levels.values[of])
    .map(({ level: _, time: __, pid: ___, hostname: ____, err, ...fields }) => ({
      ...fields,
      ...(err && { err: err.message }),
    }));
}
