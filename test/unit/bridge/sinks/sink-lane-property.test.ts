// Any changes of a sink's configuration → each row ends once, in order, in one call at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import * as v from 'valibot';
import type { Outcome } from '../../../../adapters/adapter.ts';
import { SinkLane } from '../../../../src/bridge/sinks/sink-lane.ts';
import type { SinkConfig } from '../../../../src/config/config.ts';
import { Lane } from '../../../../src/delivery/lane.ts';
import { HOUR, MINUTE } from '../../../virtual/lane-fixture.ts';
import { MemoryLaneStore } from '../../../virtual/memory-lane-store.ts';
import { failure, ScriptedAdapter } from '../../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const KEYS = ['a', 'b', 'c', 'd'];
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  accepted: 'accepted',
  retry: failure(),
  sink: failure({ scope: 'sink' }),
  misconfigured: failure({ disposition: 'misconfigured' }),
  retired: failure({ disposition: 'retired' }),
  later: failure({ retryAfterMs: 5_000 }),
};

const script = fc.record({
  seed: fc.integer(),
  keys: fc.array(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 30 }),
  kinds: fc.array(fc.constantFrom('accepted', 'accepted', ...Object.keys(OUTCOMES)), { maxLength: 40 }),
  delays: fc.array(fc.constantFrom(0, 50, 400, 3_000, 20_000), { minLength: 1, maxLength: 10 }),
  changes: fc.array(fc.nat(10_000), { minLength: 1, maxLength: 6 }),
  full: fc.record({ fromMs: fc.nat(10_000), forMs: fc.nat(4_000) }),
  inFlight: fc.integer({ min: 1, max: 3 }),
});

const CONFIG: SinkConfig = {
  ...{ type: 'memory', options: {}, env: {}, directory: '/', fingerprint: '', retry: { maxAgeMs: HOUR }, filter: {} },
  adapter: {
    type: 'memory',
    options: v.unknown(),
    create: () => assert.fail('lanes of this test have adapters of their own'),
  },
};

test('for any changes of the configuration: every row ends once, keys in order, no key in two calls, and nothing accepted goes again', async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ seed, keys, kinds, delays, changes, full, inFlight }) => {
      const time = new VirtualTime({ seed });
      const store = new MemoryLaneStore(time.wallMs);
      const logger = pino({ level: 'silent' });
      const running = new Set<string>();
      const [accepted, began]: [string[], string[]] = [[], []];
      let drawn = 0;
      const newAdapter = () =>
        new ScriptedAdapter(
          ([row]) =>
            new Promise((resolve) => {
              if (row === undefined) return resolve([]);
              assert.ok(!running.has(row.partitionKey), `${row.partitionKey} is in two calls`);
              running.add(row.partitionKey);
              began.push(row.id);
              const kind = kinds[drawn] ?? 'accepted';
              time.after(delays[drawn++ % delays.length] ?? 0, () => {
                running.delete(row.partitionKey);
                if (kind === 'accepted') accepted.push(row.id);
                resolve([OUTCOMES[kind] ?? 'accepted']);
              });
            }),
          { inFlight },
        );
      const lane = new SinkLane({
        create: (_, { heldKeys }) => {
          store.resume('hooks');
          return new Lane({ name: 'hooks', adapter: newAdapter(), store, deps: time, logger, heldKeys });
        },
        drop: () => assert.fail('nobody removes it'),
        obstacles: () => [],
        ...{ deps: time, logger },
      });
      const change = () => {
        lane.want(CONFIG);
        lane.settle();
      };
      const rows = keys.map((key) => store.queue('hooks', key));
      change();
      for (const ms of changes) time.after(ms, change);
      time.after(full.fromMs, () => {
        store.faults.settle = new Error('the disk is full');
      });
      time.after(full.fromMs + full.forMs, () => {
        delete store.faults.settle;
        lane.wake();
      });
      await time.advance(MINUTE);
      // A retirement by the last settings is lifted by another change.
      for (let again = 0; again < 60 && store.open.length > 0; again++) {
        change();
        await time.advance(MINUTE);
      }
      await time.advance(MINUTE);
      assert.deepEqual(
        store.accepted.map(({ seq }) => seq).toSorted((one, other) => one - other),
        rows.map(({ seq }) => seq),
      );
      assert.equal(accepted.length, new Set(accepted).size, 'what was accepted goes again');
      for (const key of KEYS) {
        const own = rows.filter(({ partitionKey }) => partitionKey === key).map(({ id }) => id);
        const firsts = [...new Set(began.filter((id) => id.startsWith(key)))];
        assert.deepEqual(firsts, own, 'in order');
      }
      assert.equal(time.pending, 0);
    }),
    { numRuns: 150 },
  );
});
