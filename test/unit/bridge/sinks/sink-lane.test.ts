// A sink's configurations one after another → a lane for each at once, files never written by two.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../../adapters/adapter.ts';
import { type LaneSuccession, SinkLane, writtenFiles } from '../../../../src/bridge/sinks/sink-lane.ts';
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
  return {
    type: 'file',
    adapter,
    options: {},
    env: {},
    directory: '/',
    fingerprint: label,
    retry: { maxAgeMs: SECOND },
    filter: {},
  };
}

/** Sinks by name, whose deliveries hang; `told` says what was begun and dropped. */
function world() {
  const time = new VirtualTime();
  const told: string[] = [];
  const successions: LaneSuccession[] = [];
  const lanes = new Map<string, SinkLane>();
  let fault: Error | null = null;
  const sink = (name: string) => {
    const lane: SinkLane = new SinkLane({
      create: ({ fingerprint }, succession) => {
        if (fault !== null) throw fault;
        told.push(`${name} ${fingerprint}`);
        successions.push(succession);
        const { lane: own, queue } = laneFixture({ time, name, answer: hang });
        queue('a');
        return own;
      },
      drop: () => told.push(`${name} dropped`),
      obstacles: (next) => [...lanes.values()].flatMap((other) => other.endingOf(writtenFiles(next)) ?? []),
      ...{ deps: time, logger: pino({ level: 'silent' }) },
    });
    lanes.set(name, lane);
    return lane;
  };
  const fail = (error: Error | null) => {
    fault = error;
  };
  return { time, told, sink, fail, successions };
}

/** As a reload does for one sink. */
function take(lane: SinkLane, next: SinkConfig): void {
  lane.want(next);
  lane.settle();
}

test('the next lane begins at once and skips the keys of running calls; it stops when it is replaced', async () => {
  const { time, told, sink, successions } = world();
  const hooks = sink('hooks');
  take(hooks, config('one', '/a'));
  await settle();
  take(hooks, config('two', '/b'));
  take(hooks, config('three', '/c'));
  assert.deepEqual(told, ['hooks one', 'hooks two', 'hooks three']);
  assert.deepEqual(
    successions.map(({ isInForce }) => isInForce()),
    [false, false, true],
  );
  assert.deepEqual([...(successions[2]?.heldKeys() ?? [])], ['a']);
  assert.equal(hooks.status()?.inFlight, 1);
  await time.advance(600 * SECOND);
  assert.deepEqual([...(successions[2]?.heldKeys() ?? [])], [], 'the call was given up after 5 min');
});

test('a lane waits for those before that write its file, and of several configurations meanwhile the last begins', async () => {
  const { time, told, sink } = world();
  const hooks = sink('hooks');
  take(hooks, config('one', '/a'));
  await settle();
  take(hooks, config('two', '/a'));
  take(hooks, config('three', '/a'));
  await time.advance(4 * SECOND);
  assert.deepEqual(told, ['hooks one']);
  await time.advance(2 * SECOND);
  assert.deepEqual(told, ['hooks one', 'hooks three']);
});

test('a sink whose file another one still writes waits only for that one', async () => {
  const { time, told, sink } = world();
  const old = sink('old');
  take(old, config('one', '/a'));
  await settle();
  const removed = old.remove(5 * SECOND);
  take(sink('renamed'), config('one', '/a'));
  take(sink('elsewhere'), config('one', '/b'));
  await time.advance(4 * SECOND);
  assert.deepEqual(told, ['old one', 'elsewhere one']);
  await time.advance(4 * SECOND);
  await removed;
  assert.deepEqual(told, ['old one', 'elsewhere one', 'old dropped', 'renamed one']);
});

test('if the store fails, it is tried again each second until the sink is closed', async () => {
  const { time, told, sink, fail } = world();
  const [hooks, closed] = [sink('hooks'), sink('closed')];
  fail(new Error('the disk is full'));
  take(hooks, config('one', '/a'));
  take(closed, config('one', '/b'));
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
