// Decided approvals → StartRequests in turn, until the metadata service answers (behaviour 8.15).
import { BridgeError, messageOf } from '../../errors.ts';
import type { EventApproval, PostResult } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { sleep, within } from '../../time/clock.ts';
import type { SubmissionVerdict } from '../ports.ts';
import type { Answers } from '../record/answers.ts';
import type { RecordParts } from '../record/ledger.ts';
import { StartQueue, scheduledIn, type Waiting } from './start-queue.ts';

/**
 * The pause before the next read if no good document lists the event, and before the next attempt to store an answer.
 */
const PAUSE_MS = 1000;

/** A turn that moves by less is not logged again, because wall clocks are adjusted continually. */
const SAME_TURN_MS = 1000;

/** Statuses that one EventId of several may have caused; the others apply to the whole request. */
const MAY_BE_ONE_ALONE: ReadonlySet<number | string | null> = new Set([400, 413]);

/** How long dispose waits for a POST in flight before it aborts it. */
const CLOSE_MS = 5000;

interface SubmissionParts extends RecordParts {
  readonly answers: Pick<Answers, 'sent' | 'refused' | 'conclude'>;
  /** Returns the milliseconds until this bridge may post, 0 if it may post now, or null if it never does. */
  readonly turnMs: (approval: EventApproval) => number | null;
  /** Whether the document must be read again before they are posted. */
  readonly isProtected: (approval: EventApproval) => boolean;
}

const ACCEPTED = { verdict: 'submitted', status: 200 } as const;

/**
 * The answer of the metadata service. After `refused`, a document that is read later than `readAt` decides the verdict.
 */
type Answered = { readonly posted: EventApproval; readonly status: number } & (
  | { readonly verdict: SubmissionVerdict }
  | { readonly verdict: 'refused'; readonly readAt: Instant | null }
);

interface Running {
  readonly occurrence: number;
  /** Resolves at the first failed attempt, or at the end. */
  readonly attempted: Promise<void>;
  readonly attemptFailed: () => void;
  /** Ends the wait for its turn, which may now be earlier. */
  wake: () => void;
  /** The maximum number of approvals in its request. */
  together: number;
  /** Whether the document must be read before the next attempt. */
  isReadFirst: boolean;
}

/** Runs one loop for each approval that the ledger reports as `submitting`. */
export class Submitter implements AsyncDisposable {
  readonly #parts: SubmissionParts;
  readonly #running = new Map<string, Running>();
  readonly #loops = new Set<Promise<void>>();
  /** Ends waits; a POST in flight continues. */
  readonly #stop = new AbortController();
  /** Ends everything. */
  readonly #abort = new AbortController();
  readonly #queue: StartQueue;

  constructor(parts: SubmissionParts) {
    const { ports, deps, isProtected, ledger, answers } = parts;
    this.#parts = parts;
    const due = ({ key, occurrence }: Waiting): EventApproval | null => {
      const decided = this.#decided(key, occurrence);
      return decided !== null && parts.turnMs(decided) === 0 ? decided : null;
    };
    const answered = (posted: readonly EventApproval[], result: PostResult) => this.#store(posted, result);
    const sent = (posted: readonly EventApproval[]) => answers.sent(posted);
    this.#queue = new StartQueue({ ports, deps, isProtected, due, sent, answered }, this.#abort.signal);
    ledger.decided$.subscribe((approval) => this.#start(approval));
  }

  /** Resolves when each running loop of these keys has ended or failed an attempt, or after `limitMs`. */
  async attempted(keys: readonly string[], limitMs: number): Promise<void> {
    const attempts = keys.flatMap((key) => this.#running.get(key)?.attempted ?? []);
    if (attempts.length === 0) return;
    await within(this.#parts.deps, Promise.all(attempts), limitMs);
  }

  /** Starts no more POSTs. Approvals that were not accepted are posted after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#queue.stop();
    const cancel = this.#parts.deps.after(CLOSE_MS, () => this.#abort.abort());
    await Promise.all(this.#loops);
    cancel();
  }

  /**
   * Posts this approval in its turn until the metadata service answers. If its loop runs already, the turn is computed
   * again.
   */
  #start(approval: EventApproval): void {
    const { key, occurrence } = approval;
    const earlier = this.#running.get(key);
    if (earlier?.occurrence === occurrence) {
      earlier.wake();
      return;
    }
    if (this.#stop.signal.aborted || this.#parts.turnMs(approval) === null) return;
    const { promise: attempted, resolve: attemptFailed } = Promise.withResolvers<void>();
    const alone = { together: Number.POSITIVE_INFINITY, isReadFirst: false };
    const running: Running = { occurrence, attempted, attemptFailed, wake: () => {}, ...alone };
    this.#running.set(key, running);
    const loop = this.#run(key, running).finally(() => this.#loops.delete(loop));
    this.#loops.add(loop);
  }

  async #run(key: string, running: Running): Promise<void> {
    // The caller first updates the memory to match the disk.
    await Promise.resolve();
    try {
      await this.#untilConcluded(key, running);
    } finally {
      // Synchronous, so that a decision made right after the end of this loop starts a new one.
      if (this.#running.get(key) === running) this.#running.delete(key);
      running.attemptFailed();
    }
  }

  async #untilConcluded(key: string, running: Running): Promise<void> {
    let answer: Answered | null = null;
    while (!this.#stop.signal.aborted && (answer !== null || (await this.#turn(key, running)))) {
      let pauseMs = PAUSE_MS;
      try {
        if (answer === null) {
          const step = await this.#post(key, running);
          if (step === 'stored') return;
          if (step === 'undecided') continue;
          if ('posted' in step) answer = step;
          else pauseMs = step.delayMs;
        }
        if (answer?.verdict === 'refused') answer = await this.#lookAfterRefusal(answer);
        if (answer !== null && answer.verdict !== 'refused')
          return this.#parts.answers.conclude([answer.posted], answer.verdict, answer.status);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#parts.logger.error(
          { eventId: this.#eventIdOf(key), err: error },
          'an approval could not be processed; the bridge will retry it',
        );
      }
      running.attemptFailed();
      await sleep(this.#parts.deps, pauseMs, this.#stop.signal).catch(() => {});
    }
  }

  /** Waits for this bridge's turn. Returns false if there is nothing left to post. */
  async #turn(key: string, running: Running): Promise<boolean> {
    const { deps, logger } = this.#parts;
    let loggedMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      const decided = this.#decided(key, running.occurrence);
      const turnMs = decided && this.#parts.turnMs(decided);
      if (turnMs === null || this.#stop.signal.aborted) return false;
      if (turnMs <= 0) return true;
      const dueMs = deps.elapsedMs() + turnMs;
      if (Math.abs(dueMs - loggedMs) > SAME_TURN_MS) {
        loggedMs = dueMs;
        const turnInSeconds = Math.ceil(turnMs / 1000);
        const eventId = this.#eventIdOf(key);
        logger.info(
          { eventId, turnInSeconds },
          'other machines of the group post first; this bridge posts if the event is still Scheduled then',
        );
      }
      const woken = new AbortController();
      running.wake = () => woken.abort();
      await sleep(deps, turnMs, AbortSignal.any([woken.signal, this.#stop.signal])).catch(() => {});
      running.wake = () => {};
    }
  }

  /**
   * Returns `stored` if the approval was accepted and stored. Returns `undecided` if it became void, moot or held
   * before the POST, or if it must be posted again at once with fewer others.
   */
  async #post(
    key: string,
    running: Running,
  ): Promise<Answered | { readonly delayMs: number } | 'stored' | 'undecided'> {
    const { occurrence, together, isReadFirst } = running;
    const sent = await this.#queue.post({ key, occurrence, together, isReadFirst });
    if (sent.kind !== 'answered') return sent.kind === 'undue' ? 'undecided' : { delayMs: PAUSE_MS };
    running.isReadFirst = false;
    const { posted, result } = sent;
    if (result.kind === 'accepted') return sent.isStored ? 'stored' : { posted, ...ACCEPTED };
    const reason = messageOf(result.error);
    this.#parts.logger.warn(
      { eventId: this.#eventIdOf(key), reason, count: sent.together },
      'the metadata service did not accept a StartRequest',
    );
    const isNarrowed = sent.together > 1 && MAY_BE_ONE_ALONE.has(statusOf(result));
    if (isNarrowed) running.together = Math.ceil(sent.together / 2);
    if (result.kind === 'again') return { delayMs: result.delayMs };
    if (!isNarrowed)
      return { posted, verdict: 'refused', status: result.status, readAt: this.#parts.ports.lastReadAt() };
    running.isReadFirst = true;
    return 'undecided';
  }

  /**
   * Stores the answer for all approvals of one StartRequest in one transaction. If an acceptance cannot be stored, the
   * loop of each approval stores it later. If another answer cannot be stored, that does not change what is posted, or
   * when.
   */
  #store(posted: readonly EventApproval[], result: PostResult): boolean {
    try {
      if (result.kind === 'accepted') this.#parts.answers.conclude(posted, ACCEPTED.verdict, ACCEPTED.status);
      else this.#parts.answers.refused(posted, statusOf(result), result.kind === 'again' && result.mayHaveArrived);
      return true;
    } catch (error) {
      const eventIds = posted.map(({ key }) => this.#eventIdOf(key));
      this.#parts.logger.error({ eventIds, err: error }, 'the answer of the metadata service could not be stored');
      return false;
    }
  }

  /**
   * Reads the document: `failed` if the event is still Scheduled, `moot` if it is gone or Started, unchanged without a
   * good document.
   */
  async #lookAfterRefusal(answer: Answered & { readonly verdict: 'refused' }): Promise<Answered> {
    await this.#parts.ports.read(this.#stop.signal);
    const after = this.#parts.ports.lastReadAt();
    if (after === null || after === answer.readAt) return answer;
    const { posted, status } = answer;
    return {
      posted,
      status,
      verdict: scheduledIn(this.#parts.ports, posted.key, posted.occurrence) === null ? 'moot' : 'failed',
    };
  }

  /** Returns null under a hold of everything, whatever state the approval is in. */
  #decided(key: string, occurrence: number): EventApproval | null {
    const { ledger } = this.#parts;
    const approval = ledger.approvalOf(key, occurrence);
    return approval?.state === 'submitting' && ledger.holdOfAll === null ? approval : null;
  }

  #eventIdOf(key: string): string {
    return this.#parts.ports.events().get(key)?.event.eventId ?? key;
  }
}

function statusOf(result: Exclude<PostResult, { kind: 'accepted' }>): number | string | null {
  if (result.kind === 'refused') return result.status;
  const { error } = result;
  return error instanceof BridgeError ? (error.status ?? error.code) : null;
}
