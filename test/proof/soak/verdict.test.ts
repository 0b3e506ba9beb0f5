// Made-up samples → what the verdict finds in them.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Sample } from './month.ts';
import { verdictOf } from './verdict.ts';

const BOUNDS = { mib: 1, count: 1 };
const STILL = { rss: 9e7, anonymous: 5e7, heapUsed: 1e7, external: 5e6, descriptors: 30, timers: 5, handles: 4 };

/** 30 samples; each quantity is as `at` says. */
function samples(at: (index: number) => Partial<Sample>): readonly Sample[] {
  return Array.from({ length: 30 }, (_, index) => ({
    ...{ ...STILL, poll: 100_000 + index * 10_000, storeBytes: 4e6, retainedRows: 40, rememberedRows: 100 },
    ...at(index),
  }));
}

const failures = (at: (index: number) => Partial<Sample>) =>
  verdictOf(samples(at), BOUNDS, 864).failures.map((line) => line.split(':')[0]);

test('a process that holds the same all the time passes', () => {
  assert.deepEqual(
    failures((index) => ({ descriptors: 30 + (index % 3), heapUsed: 1e7 + (index % 5) * 1e6 })),
    [],
  );
});

test('four bytes kept at each poll are found in RSS and heap', () => {
  assert.deepEqual(
    failures((index) => ({ heapUsed: 1e7 + index * 40_000, rss: 9e7 + index * 40_000 + (index % 4) * 5000 })),
    ['RSS', 'heap used'],
  );
});

test('a descriptor, a timer or a row that stays now and then is found', () => {
  assert.deepEqual(
    failures((index) => ({
      descriptors: 30 + Math.floor(index / 5),
      timers: 5 + Math.floor(index / 4),
      retainedRows: 40 + index,
    })),
    ['descriptors', 'timers', 'rows of store.retain'],
  );
});

test('what is kept for 400 days may grow with the maintenances, and no faster', () => {
  const perSample = (864 / 2_592_000) * 10_000;
  assert.deepEqual(
    failures((index) => ({ rememberedRows: 100 + Math.round(index * perSample * 12) })),
    [],
  );
  assert.deepEqual(
    failures((index) => ({ rememberedRows: 100 + index * 200, storeBytes: 4e6 + index * 200_000 })),
    ['rows of 400 days', 'store'],
  );
});

test('a growth within the bound is reported and passes', () => {
  const { lines, failures } = verdictOf(
    samples((index) => ({ heapUsed: 1e7 + index * 1000 })),
    BOUNDS,
    864,
  );
  assert.deepEqual(failures, []);
  assert.ok(
    lines.some((line) => /^heap used: .* a month \+0\.247 /.test(line)),
    lines.join('\n'),
  );
});
