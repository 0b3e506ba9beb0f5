// Due approvals → StartRequests within 5 a second, the most urgent first (behaviour 8.19).
import { BridgeError } from '../../errors.ts';
import type { EventApproval, PostResult } from '../../model/approvals.ts';
import { isDrill } from '../../model/drills.ts';
import type { KnownEvent } from '../../model/events.ts';
import { impactRank } from '../../model/worsened.ts';
import { ageMs, type CancelTimer, type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';

/** How old the good document may be that lists the event as Scheduled. */
export const FRESH_MS = 10_000;

/** EventIds in one StartRequest: some kilobytes. */
const MOST_AT_ONCE = 100;

export interface StartQueueParts {
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  /** The approvals that wait here, where it is still this bridge's turn to post them; else null. */
  readonly due: (request: Waiting) => EventApproval | null;
  /** Whether the document is to be read again before they are posted. */
  readonly isProtected: (approval: EventApproval) => boolean;
  /** A StartRequest with all of these leaves now. */
  readonly sent: (posted: readonly EventApproval[]) => void;
  /** Stores what was answered to one StartRequest with all of these; false where that failed. */
  readonly answered: (posted: readonly EventApproval[], result: PostResult) => boolean;
}

/** What waits for its place. */
export interface Waiting {
  readonly key: string;
  readonly occurrence: number;
  /** With how many it may stand in one request, itself included; where so many were refused together they are fewer. */
  readonly together: number;
  /** The document is read again first in any case. */
  readonly isReadFirst: boolean;
}

/** `undue`: not to be posted any more; `unseen`: no good document lists it as Scheduled, so nothing was sent. */
export type Posted =
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
  /** Ends looks and waiting. */
  readonly #stop = new AbortController();
  /** Ends a POST under way. */
  readonly #abort: AbortSignal;
  #waiting: Entry[] = [];
  /** Requests that have their place and are not sent yet. */
  #reserved = 0;
  #isWoken = false;
  #cancel: CancelTimer = () => {};

  /** `abort` ends a POST under way. */
  constructor(parts: StartQueueParts, abort: AbortSignal) {
    this.#parts = parts;
    this.#abort = abort;
  }

  /** Resolves once it was answered, or need not be sent. What comes in the same turn of the event loop is looked at together. */
  post(request: Waiting): Promise<Posted> {
    if (this.#stop.signal.aborted) return Promise.resolve({ kind: 'undue' });
    if (isDrill(request.key)) return Promise.resolve(this.#answerDrill(request));
    return new Promise((settle) => {
      this.#waiting.push({ ...request, settle });
      this.#wake();
    });
  }

  /** No request ever names a drill: the bridge itself says yes, at once. */
  #answerDrill(request: Waiting): Posted {
    const posted = this.#parts.due(request);
    if (posted === null || this.#scheduled(request) === null) return { kind: 'undue' };
    const result: PostResult = { kind: 'accepted' };
    const isStored = this.#parts.answered([posted], result);
    this.#parts.ports.drillApproved(request.key);
    return { kind: 'answered', posted, result, together: 1, isStored };
  }

  /** Sends no more; what is on its way is answered. */
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
        // What is reserved wakes it, too.
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
      entry.isReadFirst || !this.#isFresh() || this.#scheduled(entry) === null || (approval !== null && this.#parts.isProtected(approval))
    );
  }

  async #send(batch: readonly Entry[], reads: boolean): Promise<void> {
    let ready: readonly Ready[] = [];
    try {
      ready = (await this.#look(reads)) ? this.#ready(batch) : [];
    } catch {
      // Stopped: what is not sent yet stays in the store.
    }
    this.#reserved -= 1;
    this.#wake();
    if (ready.length > 0) await this.#post(ready);
    // Settled already, unless no document lists it.
    for (const { settle } of batch) settle({ kind: 'unseen' });
  }

  /** Whether the document was read again where that was required; its changes have then been handled. */
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
      // In this turn: no document may be handled between the answer and what is stored of it.
      const isStored = answered(all, result);
      for (const { entry, posted } of ready) entry.settle({ kind: 'answered', posted, result, together: ready.length, isStored });
    } catch (cause) {
      // Aborted: nobody will read the answer.
      const error = new BridgeError('BRIDGE_APPROVALS_CLOSED', 'The bridge stopped before the metadata service answered.', { cause });
      answered(all, { kind: 'again', error, delayMs: 0, mayHaveArrived: true });
    }
  }

  #scheduled({ key, occurrence }: Waiting): KnownEvent | null {
    return scheduledIn(this.#parts.ports, key, occurrence);
  }

  #isFresh(): boolean {
    const readAt = this.#parts.ports.lastReadAt();
    return readAt !== null && ageMs(readAt, now(this.#parts.deps)) <= FRESH_MS;
  }
}

/** The event as the last document lists it; null where that does not list it as Scheduled. */
export function scheduledIn(ports: Pick<ApprovalPorts, 'events'>, key: string, occurrence: number): KnownEvent | null {
  const known = ports.events().get(key);
  return known?.occurrence === occurrence && known.listed && known.event.eventStatus === 'Scheduled' ? known : null;
}

/** The first of the queue alone where all of them have room; else it and so many behind it that all have. */
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

/** Without a NotBefore it may start at any moment. */
function urgencyOf(known: KnownEvent | undefined): { readonly atMs: number; readonly impact: number } {
  if (known === undefined) return { atMs: Number.POSITIVE_INFINITY, impact: 0 };
  const { notBefore } = known.event;
  return { atMs: notBefore === null ? 0 : Date.parse(notBefore), impact: impactRank(known.event) };
}
