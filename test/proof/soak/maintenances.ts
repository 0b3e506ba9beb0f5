// Polls and StartRequests → the documents of a month: maintenances that come, move, start and end.
import { fakeDocument } from '../../far-sides/metadata-service.ts';
import { eventIdOf, isApproved, type Mix, maintenancesWithin } from './mix.ts';

export const VM_NAME = 'WestNO_0';

export interface MaintenancesOptions {
  readonly mix: Mix;
  /** Polls in all: no maintenance begins too late to end within them. */
  readonly polls: number;
  /** Wall time of the first poll. */
  readonly startMs: number;
  /** Time from poll to poll. */
  readonly intervalMs: number;
}

interface Running {
  readonly index: number;
  readonly fromPoll: number;
  /** Null until it has started. */
  startedAt: number | null;
}

export class Maintenances {
  /** How many there are from first to last. */
  readonly count: number;
  /** StartRequests for events that are not listed, or that nobody approved. */
  forbidden = 0;
  /** StartRequests for events that had been started by one. */
  twice = 0;
  readonly #options: MaintenancesOptions;
  #running: Running | null = null;
  #incarnation = 1;
  #document = fakeDocument(1);

  constructor(options: MaintenancesOptions) {
    this.#options = options;
    this.count = maintenancesWithin(options.polls, options.mix);
  }

  /** The document for this poll, from 1 on; the same bytes until something changes. */
  at(poll: number): string {
    const { mix } = this.#options;
    const running = this.#running;
    if (running === null) {
      const index = Math.floor(poll / mix.betweenMaintenances);
      if (poll % mix.betweenMaintenances === 0 && index >= 1 && index <= this.count) this.#begin(index - 1, poll);
      return this.#document;
    }
    const age = poll - running.fromPoll;
    if (age === mix.movesAfter) this.#list(running);
    if (age === mix.startsAfter && running.startedAt === null) this.#start(running, poll);
    if (running.startedAt !== null && poll - running.startedAt >= mix.lasts) this.#end();
    return this.#document;
  }

  /** The wall time of a poll, but for back-off and refreshed documents. */
  wallMsAt(poll: number): number {
    return this.#options.startMs + poll * this.#options.intervalMs;
  }

  /** The EventId that an approver approves at this poll; null if none. */
  approvedAt(poll: number): string | null {
    const running = this.#running;
    if (running === null || !isApproved(running.index)) return null;
    return poll - running.fromPoll === this.#options.mix.approvedAfter ? eventIdOf(running.index) : null;
  }

  /** A StartRequest of the bridge, at this poll. */
  startRequested(eventIds: readonly string[], poll: number): void {
    const running = this.#running;
    for (const eventId of eventIds) {
      if (running === null || eventId !== eventIdOf(running.index) || !isApproved(running.index)) this.forbidden += 1;
      else if (running.startedAt !== null) this.twice += 1;
      else this.#start(running, poll);
    }
  }

  #begin(index: number, fromPoll: number): void {
    this.#running = { index, fromPoll, startedAt: null };
    this.#list(this.#running);
  }

  #start(running: Running, poll: number): void {
    running.startedAt = poll;
    this.#list(running);
  }

  #end(): void {
    this.#running = null;
    this.#publish();
  }

  /** Each listing of one maintenance differs from the one before. */
  #list({ index, fromPoll, startedAt }: Running): void {
    const { mix } = this.#options;
    const hasMoved = this.#document.includes(eventIdOf(index)) && startedAt === null;
    const notBeforeMs = this.wallMsAt(fromPoll + mix.startsAfter + (hasMoved ? mix.lasts : 0));
    this.#publish({
      EventId: eventIdOf(index),
      EventType: 'Reboot',
      EventStatus: startedAt === null ? 'Scheduled' : 'Started',
      Resources: [VM_NAME, 'WestNO_1'],
      NotBefore: startedAt === null ? new Date(notBeforeMs).toUTCString() : '',
    });
  }

  #publish(...events: readonly Record<string, unknown>[]): void {
    this.#incarnation += 1;
    this.#document = fakeDocument(this.#incarnation, ...events);
  }
}
