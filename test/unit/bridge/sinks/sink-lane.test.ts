// A sink's configurations one after another → one lane at a time, files never written by two.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../../adapters/adapter.ts';
import { filesOf, SinkLane } from '../../../../src/bridge/sinks/sink-lane.ts';
import type { SinkConfig } from '../../../../src/config/config.ts';
import { laneFixture, SECOND } from '../../../virtual/lane-fixture.ts';
import { hang } from '../../../virtual/scripted-adapter.ts';
import { settle, VirtualTime } from '../../../virtual/virtual-time.ts';

function config(label: string, file: string): SinkConfig {
  const adapter: AdapterDefinition<unknown> = {
    ...{ type: 'file', options: v.unknown() },
    filesOf: () => [file],
    create: () => assert.fail('lanes of this test have adapters of their own'),
  };
  return { type: 'file', adapter, options: {}, env: {}, directory: '/', fingerprint: label, retry: { maxAgeMs: SECOND }, filter: {} };
}

/** Sinks by name, whose deliveries hang; `told` says what was begun and dropped. */
function world() {
  const time = new VirtualTime();
  const told: string[] = [];
  const lanes = new Map<string, SinkLane>();
  let fault: Error | null = null;
  const sink = (name: string) => {
    const lane: SinkLane = new SinkLane({
      create: ({ fingerprint }) => {
        if (fault !== null) throw fault;
        told.push(`${name} ${fingerprint}`);
        const { lane: own, queue } = laneFixture({ time, name, answer: hang });
        queue('a');
        return own;
      },
      drop: () => told.push(`${name} dropped`),
      obstacles: (next) => [...lanes.values()].flatMap((other) => other.endingOf(filesOf(next)) ?? []),
      ...{ deps: time, logger: pino({ level: 'silent' }) },
    });
    lanes.set(name, lane);
    return lane;
  };
  const fail = (error: Error | null) => {
    fault = error;
  };
  return { time, told, sink, fail };
}

test('the next lane begins when what is under way has ended; of several configurations meanwhile the last', async () => {
  const { time, told, sink } = world();
  const hooks = sink('hooks');
  hooks.take(config('one', '/a'));
  assert.deepEqual(told, ['hooks one'], 'the first begins at once');
  await settle();
  hooks.take(config('two', '/a'));
  hooks.take(config('three', '/a'));
  await time.advance(60 * SECOND);
  assert.deepEqual(told, ['hooks one']);
  await time.advance(600 * SECOND);
  assert.deepEqual(told, ['hooks one', 'hooks three']);
});

test('a sink whose file another one still writes waits for that one alone', async () => {
  const { time, told, sink } = world();
  const old = sink('old');
  old.take(config('one', '/a'));
  await settle();
  const removed = old.remove(5 * SECOND);
  sink('renamed').take(config('one', '/a'));
  sink('elsewhere').take(config('one', '/b'));
  await time.advance(4 * SECOND);
  assert.deepEqual(told, ['old one', 'elsewhere one']);
  await time.advance(4 * SECOND);
  await removed;
  assert.deepEqual(told, ['old one', 'elsewhere one', 'old dropped', 'renamed one']);
});

test('where the store fails it is tried again each second, until the sink is closed', async () => {
  const { time, told, sink, fail } = world();
  const [hooks, closed] = [sink('hooks'), sink('closed')];
  fail(new Error('the disk is full'));
  hooks.take(config('one', '/a'));
  closed.take(config('one', '/b'));
  await time.advance(3 * SECOND);
  await closed.close(0);
  fail(null);
  await time.advance(2 * SECOND);
  assert.deepEqual(told, ['hooks one']);
  const end = hooks.close(0);
  await time.advance(3 * SECOND);
  await end;
  assert.equal(time.pending, 0);
});
