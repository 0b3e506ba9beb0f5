// Decided approvals, already stored → StartRequests, posted only while the event is Scheduled in a fresh document (contract, section 8).
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { EventApproval, Instant, KnownEvent } from '../model.ts';
import { ageMs, type Deps, now, sleep } from '../time.ts';
import type { ApprovalPorts } from './approval-ports.ts';

/** How old the good document may be that lists the event as Scheduled. */
const FRESH_MS = 10_000;

/** Between two looks where the first gave no good document that lists the event, and between two tries to store what the service said. */
const PAUSE_MS = 1000;

/** How long dispose lets a POST under way end before it is aborted. */
const CLOSE_MS = 5000;

export type Verdict = 'submitted' | 'moot' | 'failed';

export interface SubmissionParts {
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  readonly logger: Logger;
  /** The approvals as they stand; null once the occurrence has ended. */
  readonly approvalOf: (key: string, occurrence: number) => EventApproval | null;
  /** Stores what became of `posted`, the approvals as they were posted. @throws BridgeError BRIDGE_STORE_* */
  readonly conclude: (posted: EventApproval, verdict: Verdict) => void;
}

/** What the metadata service said; after `refused` a document read later than `readAt` gives the verdict. */
type Said =
  | { readonly posted: EventApproval; readonly verdict: Verdict }
  | { readonly posted: EventApproval; readonly verdict: 'refused'; readonly readAt: Instant | null };

interface Running {
  readonly occurrence: number;
  /** Resolves at the first failed attempt, or at the end. */
  readonly attempted: Promise<void>;
  readonly attemptFailed: () => void;
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

  /** Posts this approval until the metadata service has answered; does nothing where that is under way. */
  start({ key, occurrence }: EventApproval): void {
    if (this.#stop.signal.aborted || this.#running.get(key)?.occurrence === occurrence) return;
    const { promise: attempted, resolve: attemptFailed } = Promise.withResolvers<void>();
    const running = { occurrence, attempted, attemptFailed };
    this.#running.set(key, running);
    const loop = this.#run(key, running).finally(() => this.#loops.delete(loop));
    this.#loops.add(loop);
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

  async #untilConcluded(key: string, { occurrence, attemptFailed }: Running): Promise<void> {
    let said: Said | null = null;
    while (!this.#stop.signal.aborted && (said !== null || this.#decided(key, occurrence) !== null)) {
      let pauseMs = PAUSE_MS;
      try {
        if (said === null) {
          const step = await this.#post(key, occurrence);
          if (step === 'undecided') continue;
          if ('posted' in step) said = step;
          else pauseMs = step.delayMs;
        }
        if (said?.verdict === 'refused') said = await this.#lookAfterRefusal(said.posted, said.readAt);
        if (said !== null && said.verdict !== 'refused') return this.#parts.conclude(said.posted, said.verdict);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#parts.logger.error({ eventId: key, err: error }, 'an approval could not be taken further; it is tried again');
      }
      attemptFailed();
      await this.#pause(pauseMs);
    }
  }

  /** `undecided`: the approval became void or moot by the look before the POST. */
  async #post(key: string, occurrence: number): Promise<Said | { readonly delayMs: number } | 'undecided'> {
    const known = await this.#look(key, occurrence);
    const posted = this.#decided(key, occurrence);
    if (posted === null) return 'undecided';
    if (known === null) return { delayMs: PAUSE_MS };
    const { eventId } = known.event;
    const result = await this.#parts.ports.post([eventId], this.#abort.signal);
    if (result.kind === 'accepted') return { posted, verdict: 'submitted' };
    this.#parts.logger.warn({ eventId, reason: messageOf(result.error) }, 'the metadata service did not accept a StartRequest');
    return result.kind === 'again' ? { delayMs: result.delayMs } : { posted, verdict: 'refused', readAt: this.#parts.ports.lastReadAt() };
  }

  /** The event as a fresh document lists it as Scheduled; null where there is none. */
  async #look(key: string, occurrence: number): Promise<KnownEvent | null> {
    const known = this.#scheduled(key, occurrence);
    if (known !== null && this.#isFresh()) return known;
    await this.#parts.ports.read(this.#stop.signal);
    return this.#isFresh() ? this.#scheduled(key, occurrence) : null;
  }

  /** Still Scheduled means failed; gone or Started means moot; without a good document since, nobody knows yet. */
  async #lookAfterRefusal(posted: EventApproval, readAt: Instant | null): Promise<Said> {
    await this.#parts.ports.read(this.#stop.signal);
    const after = this.#parts.ports.lastReadAt();
    if (after === null || after === readAt) return { posted, verdict: 'refused', readAt };
    return { posted, verdict: this.#scheduled(posted.key, posted.occurrence) === null ? 'moot' : 'failed' };
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
