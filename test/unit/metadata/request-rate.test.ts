// StartRequests beside polls → when they may leave, so that no second holds more than 5 requests.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { RequestRate } from '../../../src/metadata/request-rate.ts';

class Clock {
  ms = 0;
  readonly rate: RequestRate;
  readonly sentMs: { readonly method: string; readonly atMs: number }[] = [];

  constructor(pollIntervalMs: number) {
    this.rate = new RequestRate({ pollIntervalMs, elapsedMs: () => this.ms });
  }

  send(method: 'GET' | 'POST'): void {
    this.rate.sent(method);
    this.sentMs.push({ method, atMs: this.ms });
  }

  /** The most within one second, wherever that lies. */
  most(method = /./): number {
    const times = this.sentMs.filter((sent) => method.test(sent.method)).map(({ atMs }) => atMs);
    return Math.max(0, ...times.map((fromMs) => times.filter((ms) => ms >= fromMs && ms <= fromMs + 1000).length));
  }
}

test('polls keep their room, and StartRequests get the rest: 3 at once with one poll a second', () => {
  const clock = new Clock(1000);
  const { rate } = clock;
  assert.equal(rate.room(0).posts, 3);
  rate.sent('POST');
  assert.deepEqual(rate.room(0), { posts: 2, inMs: 1050 });
  rate.sent('GET');
  assert.equal(rate.room(0).posts, 2, 'this poll had its place');
  assert.equal(rate.room(1).posts, 1, 'read so soon, the next poll falls into the same second');
  clock.ms = 60;
  assert.equal(rate.room(1).posts, 2);
  rate.sent('GET');
  assert.equal(rate.room(1).posts, 1, 'a read beside the polls takes a place');
});

test('for any interval of polls and any demand, no second has more than 5 requests', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 263, max: 30_000 }),
      fc.array(fc.nat(400), { maxLength: 60 }),
      (pollIntervalMs, waits) => {
        const clock = new Clock(pollIntervalMs);
        let pollMs = 0;
        for (const wait of waits) {
          const untilMs = clock.ms + wait;
          for (; pollMs <= untilMs; pollMs += pollIntervalMs) {
            clock.ms = pollMs;
            clock.send('GET');
          }
          clock.ms = untilMs;
          for (let free = clock.rate.room(0).posts; free > 0; free--) clock.send('POST');
        }
        assert.ok(clock.most() <= 5, `${clock.most()} requests in a second`);
      },
    ),
    { numRuns: 300 },
  );
});

test('for any demand with reads in between, from which polls restart their interval, no second has more than 5 requests', () => {
  const demand = fc.array(fc.tuple(fc.oneof(fc.nat(20), fc.nat(600)), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 30_000 }), demand, (pollIntervalMs, steps) => {
      const clock = new Clock(pollIntervalMs);
      let pollMs = 0;
      for (const [wait, isReadFirst] of steps) {
        const untilMs = clock.ms + wait;
        for (; pollMs <= untilMs; pollMs += pollIntervalMs) {
          clock.ms = pollMs;
          clock.send('GET');
        }
        clock.ms = untilMs;
        const { posts } = clock.rate.room(isReadFirst ? 1 : 0);
        if (posts > 0 && isReadFirst) {
          clock.send('GET');
          pollMs = clock.ms + pollIntervalMs;
        }
        for (let free = posts; free > 0; free--) clock.send('POST');
      }
      assert.ok(clock.most() <= 5, `${clock.most()} requests in a second`);
    }),
    { numRuns: 300 },
  );
});

test('an expected read keeps its room until a GET is sent, and is reserved once', () => {
  const clock = new Clock(1000);
  const { rate } = clock;
  rate.sent('GET');
  clock.ms = 100;
  assert.deepEqual([rate.expectRead(), rate.expectRead()], [true, false]);
  assert.deepEqual([rate.room(0).posts, rate.room(1).posts], [3, 3]);
  rate.sent('POST');
  assert.deepEqual([rate.room(0).posts, rate.room(1).posts], [2, 2]);
  rate.sent('GET');
  assert.deepEqual([rate.room(0).posts, rate.room(1).posts], [2, 1]);
  assert.equal(rate.expectRead(), true);
});

test('StartRequests are sent even if polls use the whole limit', () => {
  for (const [pollIntervalMs, posts] of [
    [50, 21],
    [200, 6],
    [250, 1],
    [300, 1],
  ] as const)
    assert.equal(new Clock(pollIntervalMs).rate.room(0).posts, posts, `${pollIntervalMs} ms`);
  const { rate } = new Clock(300);
  for (let read = 0; read < 9; read++) rate.sent('GET');
  assert.equal(rate.room(1).posts, 1, 'one a second, whatever else is read');
});

test('a read outside the polls waits if the limit is reached', () => {
  const clock = new Clock(1000);
  for (let sent = 0; sent < 4; sent++) clock.send('POST');
  assert.equal(clock.rate.readInMs(), 0);
  clock.ms = 10;
  clock.send('GET');
  assert.equal(clock.rate.readInMs(), 1040);
  clock.ms = 1050;
  assert.equal(clock.rate.readInMs(), 0);
});

test('after a 429 nothing is posted for the requested time', () => {
  const clock = new Clock(1000);
  clock.rate.rest(4000);
  assert.deepEqual(clock.rate.room(0), { posts: 0, inMs: 4000 });
  clock.rate.rest(1000);
  clock.ms = 4000;
  assert.equal(clock.rate.room(0).posts, 3);
});

test('one read beside the polls is reserved at a time, until a GET is sent', () => {
  const { rate } = new Clock(1000);
  assert.deepEqual([rate.expectRead(), rate.expectRead()], [true, false]);
  rate.sent('POST');
  assert.equal(rate.expectRead(), false, 'a StartRequest reads nothing');
  rate.sent('GET');
  assert.equal(rate.expectRead(), true);
});

test('polls that nearly use the limit alone leave room for one more request a second', () => {
  const { rate } = new Clock(210);
  for (let count = 0; count < 5; count += 1) rate.sent('GET');
  assert.equal(rate.readInMs(), 0);
  rate.sent('GET');
  assert.equal(rate.readInMs(), 1050);
});
