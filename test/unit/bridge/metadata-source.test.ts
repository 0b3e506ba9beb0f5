// Reads and StartRequests at any moments → how many GETs leave, and that none is answered 429.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { StartQueue } from '../../../src/approvals/submit/start-queue.ts';
import { MetadataSource } from '../../../src/bridge/metadata-source.ts';
import type { MetadataOptions } from '../../../src/metadata/options.ts';
import type { Instant } from '../../../src/model/events.ts';
import { RateLimit } from '../../../src/simulator/simulator.ts';
import { sleep } from '../../../src/time/clock.ts';
import { knownEvent } from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { eventApproval } from '../cloudevents/changes.ts';

const METADATA: MetadataOptions = {
  ...{ endpoint: 'http://169.254.169.254', apiVersion: '2020-07-01', settleMs: 0 },
  ...{ pollIntervalMs: 1000, timeoutMs: 10_000, firstTimeoutMs: 10_000 },
};
const DOCUMENT = new TextEncoder().encode('{"DocumentIncarnation":1,"Events":[]}');
const EVENTS = Array.from({ length: 30 }, (_, index) => knownEvent(`event-${index}`, index + 1));
const NEVER = new AbortController().signal;

/** A source that polls every second. Requests take up to 30 ms to get there, and answers 5 ms. */
class World {
  readonly time: VirtualTime;
  readonly source: MetadataSource;
  /** When requests left. */
  readonly gets: number[] = [];
  readonly refused: string[] = [];
  readonly #limit = new RateLimit();
  #readAt: Instant | null = null;

  constructor(seed = 1) {
    this.time = new VirtualTime({ seed });
    this.source = new MetadataSource({
      config: { metadata: METADATA },
      deps: this.time,
      logger: pino({ level: 'silent' }),
      transport: async ({ method }, signal) => {
        if (method === 'GET') this.gets.push(this.time.elapsedMs());
        await sleep(this.time, Math.floor(this.time.random() * 30), signal);
        const isTaken = this.#limit.take(this.time.elapsedMs());
        if (!isTaken) this.refused.push(`${method} at ${this.time.elapsedMs()} ms`);
        await sleep(this.time, 5, signal);
        return { status: isTaken ? 200 : 429, headers: {}, body: DOCUMENT };
      },
      storedGoodAt: null,
    });
    this.source.polls$.subscribe((poll) => {
      if (poll.kind === 'document') this.#readAt = poll.at;
      this.source.handled(poll);
    });
  }

  /** Every one of them stands on what its approver has seen, so the document is read before each StartRequest. */
  queue(): StartQueue {
    const events = new Map(EVENTS.map((known) => [known.key, known]));
    const ports = {
      events: () => events,
      lastReadAt: () => this.#readAt,
      lastGoodAt: () => this.#readAt,
      isBehind: () => false,
      isBlind: () => false,
      read: (signal: AbortSignal) => this.source.read(signal),
      room: (reads: number) => this.source.rate.room(reads),
      post: (eventIds: readonly string[], signal: AbortSignal) => this.source.post(eventIds, signal),
      wasSent: () => false,
      actsOn: () => true,
      ownName: () => null,
      isAuthorized: () => true,
      drillApproved: () => {},
      observerId: () => 'a',
    };
    const due = ({ key }: { readonly key: string }) => eventApproval({ key });
    return new StartQueue(
      { ports, deps: this.time, due, isProtected: () => true, sent: () => {}, answered: () => true },
      NEVER,
    );
  }
}

test('all who ask for a fresh document at once are served by one GET', async () => {
  const { time, source, gets } = new World();
  await time.advance(100);
  const reads = [source.read(NEVER), source.read(NEVER), source.read(NEVER)];
  await time.advance(200);
  await Promise.all(reads);
  assert.deepEqual(gets, [0, 100]);
});

test('all who ask while a GET is under way are served by one more, which has its place before it leaves', async () => {
  const { time, source, gets } = new World();
  await time.advance(900);
  const first = source.read(NEVER);
  await time.advance(1);
  assert.equal(source.rate.room(0).posts, 3);
  const later = [source.read(NEVER), source.read(NEVER)];
  assert.deepEqual([source.rate.room(0).posts, source.rate.room(1).posts], [2, 2], 'who reads, too, shares that GET');
  await time.advance(99);
  await Promise.all([first, ...later]);
  assert.equal(gets.length, 3);
});

test('a fresh document that is asked for while a GET is under way waits as long as the answer of that GET asks for', async () => {
  const time = new VirtualTime();
  const gets: number[] = [];
  const source = new MetadataSource({
    config: { metadata: METADATA },
    deps: time,
    logger: pino({ level: 'silent' }),
    transport: async (_request, signal) => {
      gets.push(time.elapsedMs());
      const isSecond = gets.length === 2;
      await sleep(time, 400, signal);
      return isSecond
        ? { status: 429, headers: { 'retry-after': '8' }, body: new Uint8Array() }
        : { status: 200, headers: {}, body: DOCUMENT };
    },
    storedGoodAt: null,
  });
  source.polls$.subscribe((poll) => source.handled(poll));
  await time.advance(1100);
  const read = source.read(NEVER);
  await time.advance(8400 + 400);
  await read;
  assert.deepEqual(gets, [0, 1000, 9400]);
});

test('wherever approvals fall that are read for first, no request is one too many, and each is posted', async () => {
  const gaps = fc.array(fc.oneof(fc.nat(5), fc.nat(60), fc.nat(400)), { minLength: 2, maxLength: EVENTS.length });
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(1100), gaps, async (seed, startMs, waits) => {
      const world = new World(seed);
      const queue = world.queue();
      const posted: string[] = [];
      await world.time.advance(2000 + startMs);
      for (const [index, waitMs] of waits.entries()) {
        const { key, occurrence } = EVENTS[index] as (typeof EVENTS)[number];
        void queue
          .post({ key, occurrence, together: 100, isReadFirst: false })
          .then(({ kind }) => posted.push(`${key} ${kind}`));
        await world.time.advance(waitMs);
      }
      await world.time.advance(5000);
      queue.stop();
      assert.deepEqual(world.refused, []);
      assert.deepEqual(posted.sort(), waits.map((_, index) => `event-${index} answered`).sort());
    }),
    { numRuns: 200 },
  );
});

test('a shorter interval applies at once, a longer one from the next poll on, and no poll is lost', async () => {
  const world = new World();
  await world.time.advance(1500);
  const before = world.gets.length;
  world.source.reload({ pollIntervalMs: 200, timeoutMs: 10_000, firstTimeoutMs: 10_000 });
  await world.time.advance(1000);
  const quick = world.gets.slice(before);
  assert.ok(quick.length >= 5, `${quick}`);
  world.source.reload({ pollIntervalMs: 5000, timeoutMs: 10_000, firstTimeoutMs: 10_000 });
  await world.time.advance(24_000);
  const slow = world.gets.slice(before + quick.length);
  const all = [quick.at(-1) ?? 0, ...slow];
  const pauses = all.slice(1).map((atMs, index) => atMs - (all[index] ?? 0));
  assert.ok((pauses[0] ?? 0) <= 5000, 'one that is waited for comes when it was due');
  assert.deepEqual(pauses.slice(1, 4), [5000, 5000, 5000]);
});

test('other time limits hold from the next request on, and a back-off is not cut short by a shorter interval', async () => {
  const time = new VirtualTime();
  const asked: number[] = [];
  const limits: number[] = [];
  const source = new MetadataSource({
    config: { metadata: METADATA },
    deps: time,
    logger: pino({ level: 'silent' }),
    transport: async ({ timeoutMs }) => {
      asked.push(time.elapsedMs());
      limits.push(timeoutMs);
      return { status: 410, headers: {}, body: new Uint8Array() };
    },
    storedGoodAt: null,
  });
  const subscription = source.polls$.subscribe((poll) => source.handled(poll));
  await time.advance(1000);
  source.reload({ pollIntervalMs: 50, timeoutMs: 2000, firstTimeoutMs: 3000 });
  assert.equal(source.blindAfterMs, 3000);
  await time.advance(9000);
  assert.deepEqual(asked, [0, 10_000]);
  assert.deepEqual(limits, [10_000, 3000]);
  subscription.unsubscribe();
});
