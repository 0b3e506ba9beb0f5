// Due approvals → at most 5 POSTs per second of StartRequests, most urgent first (behaviour 8.19).
import { BridgeError } from '../../errors.ts';
import type { EventApproval, PostResult } from '../../model/approvals.ts';
import type { KnownEvent } from '../../model/events.ts';
import { isDrill } from '../../model/ids.ts';
import { impactRank } from '../../model/worsened.ts';
import { ageMs, type CancelTimer, type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';

/** The maximum age of the good document that lists the event as Scheduled. */
export const FRESH_MS = 10_000;

/** The maximum number of EventIds in one StartRequest: a few kilobytes. */
const MOST_AT_ONCE = 100;

interface StartQueueParts {
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  /** Returns the approvals to post, or null if this bridge may no longer post them. */
  readonly due: (request: Waiting) => EventApproval | null;
  /** Whether the document must be read again before they are posted. */
  readonly isProtected: (approval: EventApproval) => boolean;
  /** Called before a StartRequest with all of these is sent. */
  readonly sent: (posted: readonly EventApproval[]) => void;
  /** Stores the answer to one StartRequest with all of these. Returns false if that failed. */
  readonly answered: (posted: readonly EventApproval[], result: PostResult) => boolean;
}

/** An approval in the queue. */
export interface Waiting {
  readonly key: string;
  readonly occurrence: number;
  /**
   * The maximum number of approvals in its request, itself included. Reduced after a request with several was refused.
   */
  readonly together: number;
  /** Whether the document must be read again first, whatever `isProtected` returns. */
  readonly isReadFirst: boolean;
}

/** `undue`: must no longer be posted. `unseen`: no good document lists the event as Scheduled, so nothing was sent. */
type Posted =
  | { readonly kind: 'undue' | 'unseen' }
  | {
      readonly kind: 'answered';
      readonly posted: EventApproval;
      readonly result: PostResult;
      readonly together: number;
      readonly isStored: boolean;
    };

interface Entry extends Waiting {
  readonly settle: (posted: Posted) => void;
}

interface Ready {
  readonly entry: Entry;
  readonly posted: EventApproval;
  readonly eventId: string;
}

export class StartQueue {
  readonly #parts: StartQueueParts;
  /** Ends reads and waits. */
  readonly #stop = new AbortController();
  /** Ends a POST in flight. */
  readonly #abort: AbortSignal;
  #waiting: Entry[] = [];
  /** Requests with a reserved place that are not sent yet. */
  #reserved = 0;
  #isWoken = false;
  #cancel: CancelTimer = () => {};

  /** `abort` ends a POST in flight. */
  constructor(parts: StartQueueParts, abort: AbortSignal) {
    this.#parts = parts;
    this.#abort = abort;
  }

  /**
   * Resolves when the approval was answered or need not be sent. Approvals of the same turn of the event loop are
   * sorted together.
   */
  post(request: Waiting): Promise<Posted> {
    if (this.#stop.signal.aborted) return Promise.resolve({ kind: 'undue' });
    if (isDrill(request.key)) return Promise.resolve(this.#answerDrill(request));
    return new Promise((settle) => {
      this.#waiting.push({ ...request, settle });
      this.#wake();
    });
  }

  /** A drill is never posted: the bridge accepts it itself, at once. */
  #answerDrill(request: Waiting): Posted {
    const posted = this.#parts.due(request);
    if (posted === null || this.#scheduled(request) === null) return { kind: 'undue' };
    const result: PostResult = { kind: 'accepted' };
    const isStored = this.#parts.answered([posted], result);
    this.#parts.ports.drillApproved(request.key);
    return { kind: 'answered', posted, result, together: 1, isStored };
  }

  /** Sends no more requests. A request in flight still gets its answer. */
  stop(): void {
    this.#stop.abort();
    this.#cancel();
    for (const { settle } of this.#waiting.splice(0)) settle({ kind: 'undue' });
  }

  #wake(): void {
    if (this.#isWoken || this.#waiting.length === 0) return;
    this.#isWoken = true;
    void Promise.resolve().then(() => {
      this.#isWoken = false;
      this.#sendAll();
    });
  }

  #sendAll(): void {
    this.#cancel();
    const queue = this.#inOrder();
    while (queue.length > 0) {
      const reads = this.#isReadFirst(queue[0] as Entry);
      const { posts, inMs } = this.#parts.ports.room(reads ? 1 : 0);
      const free = posts - this.#reserved;
      if (free <= 0) {
        // A reserved request also wakes the queue.
        if (posts === 0) this.#cancel = this.#parts.deps.after(Math.max(1, inMs), () => this.#sendAll());
        break;
      }
      const batch = batchOf(queue, (entry) => this.#isReadFirst(entry) === reads, free);
      for (const entry of batch) queue.splice(queue.indexOf(entry), 1);
      this.#reserved += 1;
      void this.#send(batch, reads);
    }
    this.#waiting = queue;
  }

  /** The most urgent first: the earliest NotBefore, then the hardest impact. What is not due leaves the queue. */
  #inOrder(): Entry[] {
    const due = this.#waiting.filter((entry) => {
      const isDue = this.#parts.due(entry) !== null;
      if (!isDue) entry.settle({ kind: 'undue' });
      return isDue;
    });
    return due
      .map((entry) => ({ entry, ...urgencyOf(this.#parts.ports.events().get(entry.key)) }))
      .sort((one, other) => one.atMs - other.atMs || other.impact - one.impact)
      .map(({ entry }) => entry);
  }

  #isReadFirst(entry: Entry): boolean {
    const approval = this.#parts.due(entry);
    return (
      entry.isReadFirst ||
      !this.#isFresh() ||
      this.#scheduled(entry) === null ||
      (approval !== null && this.#parts.isProtected(approval))
    );
  }

  async #send(batch: readonly Entry[], reads: boolean): Promise<void> {
    let ready: readonly Ready[] = [];
    try {
      ready = (await this.#look(reads)) ? this.#ready(batch) : [];
    } catch {
      // Stopped: approvals that are not sent yet stay in the store.
    }
    this.#reserved -= 1;
    this.#wake();
    if (ready.length > 0) await this.#post(ready);
    // No effect on entries that are settled; the others are not listed by a good document.
    for (const { settle } of batch) settle({ kind: 'unseen' });
  }

  /**
   * Returns false if the document had to be read again and was not. Its changes have been handled when this resolves.
   */
  async #look(reads: boolean): Promise<boolean> {
    if (!reads) return true;
    const { ports } = this.#parts;
    const before = ports.lastReadAt();
    await ports.read(this.#stop.signal);
    return ports.lastReadAt() !== before;
  }

  #ready(batch: readonly Entry[]): readonly Ready[] {
    return batch.flatMap((entry): Ready[] => {
      const posted = this.#parts.due(entry);
      if (posted === null) entry.settle({ kind: 'undue' });
      const known = posted && this.#isFresh() ? this.#scheduled(entry) : null;
      return posted && known ? [{ entry, posted, eventId: known.event.eventId }] : [];
    });
  }

  async #post(ready: readonly Ready[]): Promise<void> {
    const { ports, sent, answered } = this.#parts;
    const eventIds = ready.map(({ eventId }) => eventId);
    const all = ready.map(({ posted }) => posted);
    sent(all);
    try {
      const result = await ports.post(eventIds, this.#abort);
      // In the same turn: no document may be handled before the answer is stored.
      const isStored = answered(all, result);
      for (const { entry, posted } of ready)
        entry.settle({ kind: 'answered', posted, result, together: ready.length, isStored });
    } catch (cause) {
      // Aborted: the answer will not be read.
      const error = new BridgeError(
        'BRIDGE_APPROVALS_CLOSED',
        'The bridge stopped before the metadata service answered.',
        { cause },
      );
      answered(all, { kind: 'again', error, delayMs: 0, mayHaveArrived: true });
    }
  }

  #scheduled({ key, occurrence }: Waiting): KnownEvent | null {
    return scheduledIn(this.#parts.ports, key, occurrence);
  }

  #isFresh(): boolean {
    const { ports } = this.#parts;
    const readAt = ports.lastReadAt();
    return readAt !== null && !ports.isBehind() && ageMs(readAt, now(this.#parts.deps)) <= FRESH_MS;
  }
}

/** Returns the event if the last document lists it as Scheduled, else null. */
export function scheduledIn(ports: Pick<ApprovalPorts, 'events'>, key: string, occurrence: number): KnownEvent | null {
  const known = ports.events().get(key);
  return known?.occurrence === occurrence && known.listed && known.event.eventStatus === 'Scheduled' ? known : null;
}

/** Returns the first entry alone if there is room for every entry; otherwise so many that all entries get a place. */
function batchOf(queue: readonly Entry[], isAlike: (entry: Entry) => boolean, free: number): readonly Entry[] {
  const size = Math.min(MOST_AT_ONCE, Math.ceil(queue.length / free));
  const batch: Entry[] = [];
  let most = size;
  for (const entry of queue) {
    if (batch.length >= most) break;
    if (batch.length >= entry.together || !isAlike(entry)) continue;
    batch.push(entry);
    most = Math.min(most, entry.together);
  }
  return batch;
}

/** An event without NotBefore may start at any moment, so it is the most urgent. */
function urgencyOf(known: KnownEvent | undefined): { readonly atMs: number; readonly impact: number } {
  if (known === undefined) return { atMs: Number.POSITIVE_INFINITY, impact: 0 };
  const { notBefore } = known.event;
  return { atMs: notBefore === null ? 0 : Date.parse(notBefore), impact: impactRank(known.event) };
}
