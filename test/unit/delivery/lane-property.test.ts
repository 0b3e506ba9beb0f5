// Any failures at any time → each row of a lane ends exactly once, in order; none waits for others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Outcome } from '../../../adapters/adapter.ts';
import type { Disposition } from '../../../src/errors.ts';
import { HOUR, type LaneFixtureOptions, laneFixture, MINUTE, SECOND } from '../../virtual/lane-fixture.ts';
import { failure } from '../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const keyNames = ['a', 'b', 'c', 'd', 'e', 'f'];
const kind = fc.constantFrom<'accepted' | Exclude<Disposition, 'retired'> | 'sink' | 'later' | 'throw'>(
  ...(['accepted', 'accepted', 'retry', 'misconfigured', 'refused', 'sink', 'later', 'throw'] as const),
);
type Kind = typeof kind extends fc.Arbitrary<infer Value> ? Value : never;

function outcomeOf(given: Kind): Outcome {
  if (given === 'accepted') return given;
  if (given === 'sink') return failure({ scope: 'sink' });
  if (given === 'later') return failure({ retryAfterMs: 5_000 });
  if (given === 'throw') throw new Error('a mistake');
  return failure({ disposition: given });
}

const script = fc.record({
  seed: fc.integer(),
  keys: fc.array(fc.constantFrom(...keyNames), { minLength: 1, maxLength: 40 }),
  limits: fc.record({
    inFlight: fc.integer({ min: 1, max: 4 }),
    urgentInFlight: fc.nat(2),
    batch: fc.integer({ min: 1, max: 5 }),
    batchBytes: fc.constantFrom(20, 1_000),
  }),
  kinds: fc.array(kind, { maxLength: 80 }),
  delays: fc.array(fc.nat(400), { minLength: 1, maxLength: 10 }),
  late: fc.nat(20),
  /** Scheduled events, and how much notice they have at the start. */
  scheduled: fc.dictionary(fc.constantFrom(...keyNames), fc.integer({ min: -MINUTE, max: 10 * MINUTE }), {
    noNullPrototype: true,
  }),
});

test('for any failures and any notice: every row ends once, keys in order, at most as many calls as there are places, no key in two', async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ seed, keys, limits, kinds, delays, late, scheduled }) => {
      const time = new VirtualTime({ seed });
      const { lane, queue, adapter, store } = laneFixture({ time, limits });
      for (const [key, noticeMs] of Object.entries(scheduled)) store.notBefore.set(key, time.wallMs() + noticeMs);
      let drawn = 0;
      adapter.answer = (batch) =>
        new Promise((resolve, reject) => {
          time.after(delays[drawn % delays.length] ?? 0, () => {
            try {
              resolve(batch.map(() => outcomeOf(kinds[drawn++] ?? 'accepted')));
            } catch (error) {
              reject(error);
            }
          });
        });
      const rows = keys.slice(late).map((key) => queue(key));
      lane.start();
      await time.advance(300);
      rows.push(...keys.slice(0, late).map((key) => queue(key)));
      await time.advance(12 * HOUR);

      const ended = [...store.accepted, ...store.dead.map(({ row }) => row)].map(({ seq }) => seq);
      assert.deepEqual(
        ended.sort((one, other) => one - other),
        rows.map(({ seq }) => seq),
      );
      assert.deepEqual(adapter.overlaps, []);
      assert.ok(adapter.mostRunning <= limits.inFlight + limits.urgentInFlight);
      assert.ok(store.dead.every(({ reason }) => reason === 'refused'));
      assert.equal(time.pending, 0);
      if (limits.batch > 1) return;
      for (const key of keyNames) {
        const sent = adapter.calls.flat().filter((id) => id.startsWith(key));
        const firsts = sent.filter((id, index) => sent.indexOf(id) === index);
        assert.deepEqual(
          firsts,
          rows.filter(({ partitionKey }) => partitionKey === key).map(({ id }) => id),
        );
        assert.deepEqual(
          sent,
          firsts.flatMap((id) => sent.filter((each) => each === id)),
        );
      }
    }),
    { numRuns: 150 },
  );
});

test('for any pattern of two failing keys: the others never wait for them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.array(fc.boolean(), { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      async (seed, fails, inFlight) => {
        const time = new VirtualTime({ seed });
        const { lane, queue, adapter, store } = laneFixture({ time, limits: { inFlight } });
        let drawn = 0;
        adapter.answer = (batch) =>
          batch.map(({ partitionKey }) =>
            partitionKey.startsWith('bad') && (fails[drawn++] ?? false) ? failure() : 'accepted',
          );
        const acceptedAtMs = new Map<string, number>();
        for (let round = 0; round < 10; round++) {
          queue('bad1');
          queue('bad2');
          const good = queue(`good${round}`);
          lane.start();
          await time.advance(0);
          await time.advance(0);
          acceptedAtMs.set(good.id, time.elapsedMs());
          assert.ok(
            store.accepted.some(({ id }) => id === good.id),
            `${good.id} waits`,
          );
          await time.advance(700);
        }
        await time.advance(HOUR);
        assert.equal(store.accepted.length, 30);
      },
    ),
    { numRuns: 100 },
  );
});

test('a back-off of a key is no longer than its own failures allow, whatever others do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 6 }), async (seed, failures) => {
      const time = new VirtualTime({ seed });
      const { lane, queue, adapter, watch } = laneFixture({ time, limits: { inFlight: 2 } });
      let left = failures;
      adapter.answer = (batch) =>
        batch.map(({ partitionKey }) => (partitionKey === 'one' && left-- > 0 ? failure() : 'accepted'));
      const at = watch();
      queue('one');
      for (let index = 0; index < 30; index++) queue(`other${index}`);
      lane.start();
      await time.advance(MINUTE);
      const tries = at.filter(({ key }) => key === 'one').map(({ ms }) => ms);
      assert.equal(tries.length, failures + 1);
      for (const [index, ms] of tries.slice(1).entries()) assert.ok(ms - (tries[index] ?? 0) <= 250 * 2 ** index);
    }),
    { numRuns: 100 },
  );
});

/** Keys that fail for ever, queued before 50 that are accepted; the company of one in a batch fails too. */
const ailing = fc.record({
  seed: fc.integer(),
  tookMs: fc.constantFrom(0, 50),
  plan: fc.constantFrom<{ limits: NonNullable<LaneFixtureOptions['limits']>; bad: number; withinMs: number }>(
    { limits: { inFlight: 1 }, bad: 3, withinMs: 30 * SECOND },
    { limits: { inFlight: 1 }, bad: 5, withinMs: 30 * SECOND },
    { limits: { inFlight: 4 }, bad: 8, withinMs: 30 * SECOND },
    { limits: { inFlight: 16 }, bad: 5, withinMs: 10 * SECOND },
    { limits: { inFlight: 16 }, bad: 20, withinMs: 20 * SECOND },
    { limits: { inFlight: 1, batch: 100 }, bad: 1, withinMs: 10 * SECOND },
    { limits: { inFlight: 16, batch: 100 }, bad: 5, withinMs: 40 * SECOND },
    { limits: { inFlight: 16, batch: 10 }, bad: 5, withinMs: 40 * SECOND },
  ),
});

test('for any chance: keys that fail for ever keep those behind them, or those that come later, waiting for seconds, not minutes', async () => {
  await fc.assert(
    fc.asyncProperty(ailing, async ({ seed, tookMs, plan: { limits, bad, withinMs } }) => {
      const time = new VirtualTime({ seed });
      const { lane, queue, adapter, store } = laneFixture({ time, limits });
      adapter.answer = (batch) =>
        new Promise((resolve) => {
          const outcome = batch.some(({ partitionKey }) => partitionKey.startsWith('bad')) ? failure() : 'accepted';
          time.after(tookMs, () => resolve(batch.map(() => outcome)));
        });
      for (let index = 0; index < bad; index++) queue(`bad${index}`);
      for (let index = 0; index < 50; index++) queue(`good${index}`);
      lane.start();
      await time.advance(withinMs);
      assert.equal(store.accepted.length, 50);
      for (let round = 0; round < 10; round++) {
        await time.advance(7 * SECOND);
        queue(`late${round}`);
        await time.advance(11 * SECOND);
        assert.equal(store.accepted.length, 51 + round);
      }
      assert.ok(adapter.calls.length < bad * 100 + 100, `${adapter.calls.length} calls for ${bad} keys that ail`);
    }),
    { numRuns: 400 },
  );
});

test('for any queue and any length of its calls: an urgent event of a sink that is well waits for no other, while it has a place', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.array(fc.nat(5_000), { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.nat(20_000), { minLength: 1, maxLength: 3 }),
      async (seed, delays, places, announced) => {
        const time = new VirtualTime({ seed });
        const { lane, queue, adapter, store, watch } = laneFixture({
          time,
          limits: { inFlight: places, urgentInFlight: 3 },
        });
        let drawn = 0;
        adapter.answer = (batch) =>
          new Promise((resolve) =>
            time.after(delays[drawn++ % delays.length] ?? 0, () => resolve(batch.map(() => 'accepted'))),
          );
        const at = watch();
        for (let index = 0; index < 100; index++) queue(`over${index % 40}`);
        lane.start();
        for (const [index, ms] of announced.entries()) {
          time.after(ms, () => {
            store.notBefore.set(`urgent${index}`, time.wallMs() + 30 * SECOND);
            queue(`urgent${index}`);
          });
        }
        await time.advance(HOUR);
        assert.equal(store.open.length, 0);
        for (const [index, ms] of announced.entries())
          assert.equal(at.find(({ key }) => key === `urgent${index}`)?.ms, ms);
      },
    ),
    { numRuns: 100 },
  );
});
