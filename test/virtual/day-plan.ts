// A seed → what happens around a bridge on one day: events, faults, failing sinks, restarts, kills.

import { sleep } from '../../src/time/clock.ts';
import type { FaultyMetadataService } from './faulty-metadata-service.ts';
import { ANSWER_LOST } from './memory-sinks.ts';
import type { Answer } from './scripted-adapter.ts';
import { failure } from './scripted-adapter.ts';
import { HOUR, MINUTE, SECOND, type VirtualBridge } from './virtual-bridge.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Something that happens so long after midnight. */
export interface Happening {
  readonly atMs: number;
  readonly run: () => void | Promise<void>;
}

const TYPES = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate', 'SpotRebalanceRecommendation', 'Quiesce'];
const SOURCES = ['Platform', 'User'];
const RESOURCES = [['sim_0'], ['sim_1'], ['sim_0', 'sim_1'], ['sim_1', 'sim_0', 'sim_2'], []];

/** Nothing new begins after this: everything has to be over at midnight. */
const LAST_MS = 22 * HOUR;

export class DayPlan {
  readonly happenings: Happening[] = [];
  readonly scheduled: string[] = [];
  restarts = 0;
  kills = 0;
  readonly #bridge: VirtualBridge;
  readonly #metadata: FaultyMetadataService;
  readonly #random: () => number;

  constructor(bridge: VirtualBridge, metadata: FaultyMetadataService, random: () => number) {
    this.#bridge = bridge;
    this.#metadata = metadata;
    this.#random = random;
    this.#often(80, () => this.#burst());
    this.#often(110, () => metadata.misbehave());
    this.#often(60, () => metadata.stale());
    this.#often(10, (atMs) => this.#outage(atMs));
    this.#often(6, () => metadata.restart(this.#below(4 * MINUTE)));
    this.#often(2, () => this.#restart());
    this.#often(2, () => this.#kill());
    this.#at(LAST_MS, () => metadata.clear());
    // What got a NotBefore in the past waits for ever.
    this.#at(LAST_MS + HOUR, () => bridge.simulation.simulator.group.events.withdraw(bridge.time.wallMs()));
    this.happenings.sort((one, other) => one.atMs - other.atMs);
  }

  /** One or several events at the same moment, each with a fate of its own. */
  #burst(): void {
    const count = this.#random() < 0.7 ? 1 : 2 + this.#below(7);
    for (let i = 0; i < count; i++) this.#event();
  }

  #event(): void {
    const { EventId } = this.#bridge.simulation.schedule({
      EventType: this.#one(TYPES),
      EventSource: this.#one(SOURCES),
      Resources: this.#one(RESOURCES),
      DurationInSeconds: this.#below(60) - 1,
    });
    this.scheduled.push(EventId);
    const order = (path: string, body?: object) => () => {
      this.#bridge.simulation.send(
        body ? 'PATCH' : 'POST',
        `/simulator/events/${EventId}${path}`,
        body ? { body } : {},
      );
    };
    const patches = this.#below(4);
    for (let i = 0; i < patches; i++) this.#soon(20 * MINUTE, order('', this.#patch()));
    const fate = this.#random();
    if (fate < 0.2) this.#soon(12 * MINUTE, order('/cancel'));
    else if (fate < 0.5) this.#soon(12 * MINUTE, () => this.#approve(EventId));
    else if (fate < 0.7) this.#soon(12 * MINUTE, order('/start'));
    // Others start by themselves, and all end by themselves or by order.
    if (this.#random() < 0.4) this.#soon(25 * MINUTE, order('/end'));
  }

  #patch(): object {
    return this.#one([
      { Description: `Words number ${this.#below(1000)}` },
      { DurationInSeconds: this.#below(100) },
      { Resources: this.#one(RESOURCES) },
      { NotBefore: new Date(this.#bridge.time.wallMs() + this.#below(30 * MINUTE)).toUTCString() },
    ]);
  }

  /** Only while the service is well, so that the answer needs no time. */
  async #approve(eventId: string): Promise<void> {
    if (!this.#metadata.isWell) return;
    const body = { StartRequests: [{ EventId: eventId }] };
    await this.#bridge.request('POST', '/v1/approvals', { as: 'orders', body, patienceMs: 10_000 });
  }

  #outage(atMs: number): void {
    const lastsMs = this.#below(this.#random() < 0.5 ? 2 * MINUTE : 20 * MINUTE);
    this.#metadata.outage(lastsMs);
    this.#insert(atMs + lastsMs, () => this.#metadata.clear());
    const fate = this.#random();
    if (fate < 0.6) this.#insert(atMs + this.#below(lastsMs), () => (fate < 0.3 ? this.#restart() : this.#kill()));
  }

  async #restart(): Promise<void> {
    this.restarts += 1;
    await this.#bridge.stop();
    await this.#bridge.advance(this.#below(3 * MINUTE));
    await this.#bridge.start();
  }

  async #kill(): Promise<void> {
    this.kills += 1;
    await this.#bridge.kill();
    await this.#bridge.advance(this.#below(3 * MINUTE));
    await this.#bridge.start();
  }

  #often(times: number, run: (atMs: number) => void | Promise<void>): void {
    for (let i = 0; i < times; i++) {
      const atMs = this.#below(LAST_MS);
      this.#at(atMs, () => run(atMs));
    }
  }

  #at(atMs: number, run: Happening['run']): void {
    this.happenings.push({ atMs, run });
  }

  #soon(withinMs: number, run: Happening['run']): void {
    this.#insert(this.#bridge.time.elapsedMs() + this.#below(withinMs), run);
  }

  /** Keeps the order of what is still to come. */
  #insert(atMs: number, run: Happening['run']): void {
    const place = this.happenings.findIndex((other) => other.atMs > atMs);
    this.happenings.splice(place === -1 ? this.happenings.length : place, 0, { atMs, run });
  }

  /** A whole number. */
  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }
}

/** The day's sinks by name: each has another trouble, and all are well again in the evening. */
export const TROUBLES: Readonly<Record<string, (time: VirtualTime, random: () => number) => Answer>> = {
  /** Slow, and one in four fails. */
  flaky: (time, random) => async (batch, signal) => {
    await sleep(time, Math.floor(random() * 2 * SECOND), signal);
    return batch.map(() => (random() < 0.25 ? failure() : 'accepted'));
  },
  /** Takes calls and does not answer them for three hours. */
  hanging: (time) => (batch, signal) => {
    if (!isBetween(time, 2, 5)) return batch.map(() => 'accepted');
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  },
  /** Not there for four hours, and asks for a pause now and then. */
  away: (time, random) => (batch) => {
    if (!isBetween(time, 6, 10)) return batch.map(() => 'accepted');
    const pause = random() < 0.1 ? { retryAfterMs: random() * 10 * MINUTE } : {};
    return batch.map(() => failure({ disposition: 'retry', scope: 'sink', status: 'ECONNREFUSED', ...pause }));
  },
  /** Wrongly set up for two hours. */
  misconfigured: (time) => (batch) =>
    batch.map(() =>
      isBetween(time, 11, 13) ? failure({ disposition: 'misconfigured', scope: 'sink', status: 404 }) : 'accepted',
    ),
  /** Takes it, but the answer is lost on the way. */
  forgetful: (_time, random) => (batch) =>
    batch.map(() => (random() < 0.7 ? 'accepted' : failure({ disposition: 'retry', status: ANSWER_LOST }))),
  /** Refuses some for good, alone or in a batch. */
  picky: (time, random) => (batch) =>
    batch.map(() =>
      isBetween(time, 0, 22) && random() < 0.05 ? failure({ disposition: 'refused', status: 422 }) : 'accepted',
    ),
};

function isBetween(time: VirtualTime, fromHour: number, toHour: number): boolean {
  return time.elapsedMs() >= fromHour * HOUR && time.elapsedMs() < toHour * HOUR;
}
