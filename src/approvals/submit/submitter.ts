// Decided approvals, already stored → StartRequests, posted only while the event is Scheduled in a fresh document (contract, section 8).
import type { Logger } from 'pino';
import { BridgeError, messageOf } from '../../errors.ts';
import type { EventApproval, PostResult } from '../../model/approvals.ts';
import type { Instant, KnownEvent } from '../../model/events.ts';
import { ageMs, type Deps, now, sleep } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';

/** How old the good document may be that lists the event as Scheduled. */
export const FRESH_MS = 10_000;

/** Between two looks where the first gave no good document that lists the event, and between two tries to store what the service said. */
const PAUSE_MS = 1000;

/** A turn that moves by less is not told again: wall clocks are corrected all the time. */
const SAME_TURN_MS = 1000;

/** How long dispose lets a POST under way end before it is aborted. */
const CLOSE_MS = 5000;

export type Verdict = 'submitted' | 'moot' | 'failed';

export interface SubmissionParts {
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  readonly logger: Logger;
  /** The approvals as they stand; null once the occurrence has ended. */
  readonly approvalOf: (key: string, occurrence: number) => EventApproval | null;
  /** How long until it is this bridge's turn to post, 0 where it is; null where it never is. */
  readonly turnMs: (approval: EventApproval) => number | null;
  /** The metadata service answered a StartRequest with this status, or did not: an error's code, and it may have accepted it. The bridge asks again or looks. */
  readonly answered: (posted: EventApproval, status: number | string | null, mayHaveArrived: boolean) => void;
  /** Stores what became of `posted`, the approvals as they were posted. @throws BridgeError BRIDGE_STORE_* */
  readonly conclude: (posted: EventApproval, verdict: Verdict, status: number) => void;
}

/** What the metadata service said; after `refused` a document read later than `readAt` gives the verdict. */
type Said = { readonly posted: EventApproval; readonly status: number } & (
  | { readonly verdict: Verdict }
  | { readonly verdict: 'refused'; readonly readAt: Instant | null }
);

interface Running {
  readonly occurrence: number;
  /** Resolves at the first failed attempt, or at the end. */
  readonly attempted: Promise<void>;
  readonly attemptFailed: () => void;
  /** Ends a wait for its turn, which may have come nearer. */
  wake: () => void;
  /** A StartRequest was sent and is not answered yet. */
  isOnItsWay: boolean;
}

/** One loop for each approval in the state `submitting`. */
export class Submissions implements AsyncDisposable {
  readonly #parts: SubmissionParts;
  readonly #running = new Map<string, Running>();
  readonly #loops = new Set<Promise<void>>();
  /** Ends waiting; a POST under way goes on. */
  readonly #stop = new AbortController();
  /** Ends everything. */
  readonly #abort = new AbortController();

  constructor(parts: SubmissionParts) {
    this.#parts = parts;
  }

  /** Posts this approval, when its turn comes, until the metadata service has answered; where that is under way it looks again whose turn it is. */
  start(approval: EventApproval): void {
    const { key, occurrence } = approval;
    const earlier = this.#running.get(key);
    if (earlier?.occurrence === occurrence) {
      earlier.wake();
      return;
    }
    if (this.#stop.signal.aborted || this.#parts.turnMs(approval) === null) return;
    const { promise: attempted, resolve: attemptFailed } = Promise.withResolvers<void>();
    const running: Running = { occurrence, attempted, attemptFailed, wake: () => {}, isOnItsWay: false };
    this.#running.set(key, running);
    const loop = this.#run(key, running).finally(() => this.#loops.delete(loop));
    this.#loops.add(loop);
  }

  /** Whether a StartRequest for this occurrence was sent and is not answered yet. */
  isOnItsWay({ key, occurrence }: EventApproval): boolean {
    const running = this.#running.get(key);
    return running?.occurrence === occurrence && running.isOnItsWay;
  }

  /** Resolves once each of these that is under way has failed an attempt or ended, or after `limitMs`. */
  async attempted(keys: readonly string[], limitMs: number): Promise<void> {
    const attempts = keys.flatMap((key) => this.#running.get(key)?.attempted ?? []);
    if (attempts.length === 0) return;
    const { promise: limit, resolve } = Promise.withResolvers<void>();
    const cancel = this.#parts.deps.after(limitMs, resolve);
    await Promise.race([Promise.all(attempts), limit]);
    cancel();
  }

  /** Starts no more; what was not accepted yet is posted after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const cancel = this.#parts.deps.after(CLOSE_MS, () => this.#abort.abort());
    await Promise.all(this.#loops);
    cancel();
  }

  async #run(key: string, running: Running): Promise<void> {
    // The caller first puts in place what is on disk now.
    await Promise.resolve();
    try {
      await this.#untilConcluded(key, running);
    } finally {
      // Here and not in a later step, so that a decision made right after this loop gave up starts a new one.
      if (this.#running.get(key) === running) this.#running.delete(key);
      running.attemptFailed();
    }
  }

  async #untilConcluded(key: string, running: Running): Promise<void> {
    let said: Said | null = null;
    while (!this.#stop.signal.aborted && (said !== null || (await this.#turn(key, running)))) {
      let pauseMs = PAUSE_MS;
      try {
        if (said === null) {
          const step = await this.#post(key, running);
          if (step === 'undecided') continue;
          if ('posted' in step) said = step;
          else pauseMs = step.delayMs;
        }
        if (said?.verdict === 'refused') said = await this.#lookAfterRefusal(said);
        if (said !== null && said.verdict !== 'refused') return this.#parts.conclude(said.posted, said.verdict, said.status);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#parts.logger.error({ eventId: key, err: error }, 'an approval could not be taken further; it is tried again');
      }
      running.attemptFailed();
      await this.#pause(pauseMs);
    }
  }

  /** Waits for this bridge's turn; false once there is nothing to post any more. */
  async #turn(key: string, running: Running): Promise<boolean> {
    const { deps, logger, ports } = this.#parts;
    let toldMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      const decided = this.#decided(key, running.occurrence);
      const turnMs = decided && this.#parts.turnMs(decided);
      if (turnMs === null || this.#stop.signal.aborted) return false;
      if (turnMs <= 0) return true;
      const dueMs = deps.elapsedMs() + turnMs;
      if (Math.abs(dueMs - toldMs) > SAME_TURN_MS) {
        toldMs = dueMs;
        const turnInSeconds = Math.ceil(turnMs / 1000);
        const eventId = ports.events().get(key)?.event.eventId ?? key;
        logger.info({ eventId, turnInSeconds }, 'others of the group post first; this bridge does if the event is still Scheduled then');
      }
      const woken = new AbortController();
      running.wake = () => woken.abort();
      await sleep(deps, turnMs, AbortSignal.any([woken.signal, this.#stop.signal])).catch(() => {});
      running.wake = () => {};
    }
  }

  /** `undecided`: the approval became void, moot or held by the look before the POST. */
  async #post(key: string, running: Running): Promise<Said | { readonly delayMs: number } | 'undecided'> {
    const { ports, logger } = this.#parts;
    const known = await this.#look(key, running.occurrence);
    const posted = this.#decided(key, running.occurrence);
    if (posted === null || this.#parts.turnMs(posted) !== 0) return 'undecided';
    if (known === null) return { delayMs: PAUSE_MS };
    const { eventId } = known.event;
    running.isOnItsWay = true;
    const result = await ports.post([eventId], this.#abort.signal).finally(() => {
      running.isOnItsWay = false;
    });
    if (result.kind === 'accepted') return { posted, verdict: 'submitted', status: 200 };
    logger.warn({ eventId, reason: messageOf(result.error) }, 'the metadata service did not accept a StartRequest');
    this.#tell(posted, result);
    return result.kind === 'again'
      ? { delayMs: result.delayMs }
      : { posted, verdict: 'refused', status: result.status, readAt: ports.lastReadAt() };
  }

  /** A line of the record that cannot be stored does not make it post again sooner, or what was refused at all. */
  #tell(posted: EventApproval, result: Exclude<PostResult, { kind: 'accepted' }>): void {
    try {
      this.#parts.answered(posted, statusOf(result), result.kind === 'again' && result.mayHaveArrived);
    } catch (error) {
      this.#parts.logger.error({ eventId: posted.key, err: error }, 'what the metadata service answered could not be stored');
    }
  }

  /** The event as a fresh document lists it as Scheduled; null where there is none. */
  async #look(key: string, occurrence: number): Promise<KnownEvent | null> {
    const known = this.#scheduled(key, occurrence);
    if (known !== null && this.#isFresh()) return known;
    await this.#parts.ports.read(this.#stop.signal);
    return this.#isFresh() ? this.#scheduled(key, occurrence) : null;
  }

  /** Still Scheduled means failed; gone or Started means moot; without a good document since, nobody knows yet. */
  async #lookAfterRefusal(said: Said & { readonly verdict: 'refused' }): Promise<Said> {
    await this.#parts.ports.read(this.#stop.signal);
    const after = this.#parts.ports.lastReadAt();
    if (after === null || after === said.readAt) return said;
    const { posted, status } = said;
    return { posted, status, verdict: this.#scheduled(posted.key, posted.occurrence) === null ? 'moot' : 'failed' };
  }

  #decided(key: string, occurrence: number): EventApproval | null {
    const approval = this.#parts.approvalOf(key, occurrence);
    return approval?.state === 'submitting' ? approval : null;
  }

  #scheduled(key: string, occurrence: number): KnownEvent | null {
    const known = this.#parts.ports.events().get(key);
    return known?.occurrence === occurrence && known.listed && known.event.eventStatus === 'Scheduled' ? known : null;
  }

  #isFresh(): boolean {
    const readAt = this.#parts.ports.lastReadAt();
    return readAt !== null && ageMs(readAt, now(this.#parts.deps)) <= FRESH_MS;
  }

  /** Ends early, without an error, when the bridge stops. */
  async #pause(delayMs: number): Promise<void> {
    await sleep(this.#parts.deps, delayMs, this.#stop.signal).catch(() => {});
  }
}

function statusOf(result: Exclude<PostResult, { kind: 'accepted' }>): number | string | null {
  if (result.kind === 'refused') return result.status;
  const { error } = result;
  return error instanceof BridgeError ? (error.status ?? error.code) : null;
}
