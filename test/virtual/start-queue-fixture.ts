// A few events → a StartQueue alone, what it reads and sends, and the answer to each approval.
import type { ApprovalPorts } from '../../src/approvals/ports.ts';
import { StartQueue } from '../../src/approvals/submit/start-queue.ts';
import type { EventApproval, PostResult } from '../../src/model/approvals.ts';
import type { Instant, KnownEvent, ScheduledEvent } from '../../src/model/events.ts';
import { now } from '../../src/time/clock.ts';
import { scheduledEvent } from '../support/events.ts';
import { knownEvent } from './outbox-fixture.ts';
import { VirtualTime } from './virtual-time.ts';

/** An event, by default in the last document. */
export function firstOccurrence(
  key: string,
  fields: Partial<ScheduledEvent> = {},
  others: Partial<KnownEvent> = {},
): KnownEvent {
  return knownEvent(key, 1, { event: scheduledEvent({ eventId: key.toUpperCase(), ...fields }), ...others });
}

/** As the ledger keeps it when a rule has decided. */
export function decidedApproval(key: string): EventApproval {
  const at = { wallMs: 0, elapsedMs: 0 };
  return {
    ...{ key, occurrence: 1, state: 'submitting', votes: [], holds: [], policy: null, isDryRun: false, at },
    decision: { by: 'policy', at, atOnce: false, dueMs: null, rule: null, isSpent: false, window: null },
  };
}

/** The document is fresh, there is room for everything, and every approval is due, until a test changes that. */
export class StartQueueFixture {
  readonly time = new VirtualTime();
  /** `read`, `post A B`, `accepted a b` and `drill approved a`, in order. */
  readonly actions: string[] = [];
  /** What `answered` was called with. */
  readonly results: PostResult[] = [];
  readonly events = new Map<string, KnownEvent>();
  /** Keys whose approval is protected. */
  readonly isProtected = new Set<string>();
  /** Keys that must no longer be posted. */
  readonly undue = new Set<string>();
  /** Runs when an approval is looked up, before the answer. */
  looksUp: (key: string) => void = () => {};
  room: { readonly posts: number; readonly inMs: number } = { posts: 100, inMs: 0 };
  /** How often the queue has asked for room. */
  roomAsked = 0;
  readAt: Instant | null = now(this.time);
  isBehind = false;
  /** Runs while the document is read. Without an effect on `readAt`, the read brings no document. */
  reads: () => void | Promise<void> = () => {};
  posts: (signal: AbortSignal) => Promise<PostResult> = async () => ({ kind: 'accepted' });
  readonly abort = new AbortController();
  readonly ports: ApprovalPorts = {
    events: () => this.events,
    lastReadAt: () => this.readAt,
    lastGoodAt: () => this.readAt,
    isBehind: () => this.isBehind,
    isBlind: () => false,
    read: async () => {
      this.actions.push('read');
      await this.reads();
    },
    room: () => {
      this.roomAsked++;
      return this.room;
    },
    post: (eventIds, signal) => {
      this.actions.push(['post', ...eventIds].join(' '));
      return this.posts(signal);
    },
    wasSent: () => false,
    actsOn: () => true,
    isAuthorized: () => true,
    drillApproved: (key) => this.actions.push(`drill approved ${key}`),
    ownName: () => null,
    observerId: () => 'vm',
  };
  readonly queue = new StartQueue(
    {
      deps: this.time,
      due: ({ key }) => {
        this.looksUp(key);
        return this.undue.has(key) ? null : decidedApproval(key);
      },
      isProtected: ({ key }) => this.isProtected.has(key),
      sent: () => {},
      answered: (posted, result) => {
        this.results.push(result);
        return this.actions.push([result.kind, ...posted.map(({ key }) => key)].join(' ')) > 0;
      },
      ports: this.ports,
    },
    this.abort.signal,
  );

  constructor(...keys: readonly string[]) {
    for (const key of keys) this.events.set(key, firstOccurrence(key));
  }

  post(key: string, options: { readonly together?: number; readonly isReadFirst?: boolean } = {}) {
    return this.queue.post({ ...{ key, occurrence: 1, together: 100, isReadFirst: false }, ...options });
  }

  /** A document that was just read. */
  document(): void {
    this.readAt = now(this.time);
  }
}
