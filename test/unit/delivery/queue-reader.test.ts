// QueueReader on a store in memory: which events ended long ago.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { QueueReader } from '../../../src/delivery/queue-reader.ts';
import { RequestWindow } from '../../../src/delivery/rate-limiter.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { ScriptedAdapter } from '../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

test('an event has ended long ago from 10 min after its end, whatever the wall clock does meanwhile', () => {
  const deps = new VirtualTime();
  const store = new MemoryLaneStore(() => 0);
  const own = { name: 'hooks', store, deps };
  const requests = new RequestWindow({ ...own, logger: pino({ level: 'silent' }) });
  const queue = new QueueReader({
    ...own,
    adapter: new ScriptedAdapter(),
    requests,
    heldKeys: () => new Set(),
    isFull: () => false,
  });
  const row = store.queue('hooks', 'a', { endedAtMs: 1_000_000 });
  const at = (elapsedMs: number, wallMs: number) =>
    queue.isLongEnded(row, { elapsedMs, wallMs, chance: { key: 0, sink: 0 } });
  assert.equal(at(0, 1_000_000), false);
  assert.equal(at(1_000, 1_001_000 + 3_600_000), false);
  assert.equal(at(599_999, 1_599_999), false);
  assert.equal(at(600_000, 1_600_000 - 3_600_000), true);
  assert.equal(
    queue.isLongEnded(
      { ...row, seq: 9, endedAtMs: null },
      { elapsedMs: 1e12, wallMs: 1e15, chance: { key: 0, sink: 0 } },
    ),
    false,
  );
});
