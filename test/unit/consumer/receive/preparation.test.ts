// CloudEvents of an event, complete or not → prepare and recover, each called only when it is due.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import { readStructured } from '../../../../src/consumer/read-event.ts';
import { dispatcherOn } from '../../../../src/consumer/receive/dispatcher.ts';
import { memoryHandledStore } from '../../../../src/consumer/receive/handled-store.ts';
import { type PreparationOptions, preparation } from '../../../../src/consumer/receive/preparation.ts';
import { fileState } from '../../../../src/consumer/receive/prepared-state.ts';
import type { Change } from '../../../../src/model/events.ts';
import { folderOf } from '../../../support/folder.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf, lifeOf } from '../deliveries.ts';

/** Handles changes, and returns the calls that they cause. */
function fixture(options: Partial<PreparationOptions> = {}) {
  const calls: string[] = [];
  const handlers = preparation({
    prepare: ({ data }, { noticed, again }) =>
      calls.push(`prepare ${data.eventStatus}${noticed ? '' : ' unnoticed'}${again ? ' again' : ''}`),
    recover: (_, outcome) => calls.push(`recover ${outcome}`),
    ...options,
  });
  const dispatcher = dispatcherOn(handlers, memoryHandledStore({}, new VirtualTime()));
  const handle = async (...changes: Change[]) => {
    for (const change of changes) await dispatcher.handle(readStructured(JSON.parse(Buffer.from(deliveryOf(change).bytes).toString())));
    return calls.splice(0);
  };
  return { handle, calls };
}

const life = lifeOf({ eventType: 'Reboot' });
const COMES_AGAIN = { ...life.scheduled, id: `${life.scheduled.id}:r2` };

test('an event is prepared for once and recovered from once', async () => {
  const { handle } = fixture();
  assert.deepEqual(await handle(life.scheduled, COMES_AGAIN), ['prepare Scheduled']);
  assert.deepEqual(await handle(life.started), []);
  assert.deepEqual(await handle(life.ended(), { ...life.ended(), id: 'again' }), ['recover completed']);
});

for (const outcome of ['canceled', 'unknown'] as const) {
  test(`recover gets the outcome ${outcome}`, async () => {
    const { handle } = fixture();
    assert.deepEqual(await handle(life.scheduled, life.ended(outcome)), ['prepare Scheduled', `recover ${outcome}`]);
  });
}

for (const [what, now] of [
  ['a harder impact', { eventType: 'Redeploy' }],
  ['a longer duration', { durationInSeconds: 6 }],
  ['one more machine', { resources: ['WestNO_0', 'WestNO_1', 'WestNO_2'] }],
  ['an earlier NotBefore', { notBefore: '2022-04-11T22:20:00Z' }],
] as const) {
  test(`prepare is called again for ${what}`, async () => {
    const { handle } = fixture();
    assert.deepEqual(await handle(life.scheduled, life.updated(now)), ['prepare Scheduled', 'prepare Scheduled again']);
    assert.deepEqual(await handle(life.updated(now, 2)), [], 'later events are compared with the last one that was prepared for');
  });
}

test('prepare is not called again for a change that is not worse', async () => {
  const { handle } = fixture();
  const better = { eventType: 'Freeze', durationInSeconds: 4, notBefore: '2022-04-11T23:00:00Z', description: 'less' };
  assert.deepEqual(await handle(life.scheduled, life.updated(better)), ['prepare Scheduled']);
});

test('prepare is not called again for an event that has started, however it changes', async () => {
  const { handle } = fixture();
  const running = life.updated({ eventStatus: 'Started', notBefore: null, durationInSeconds: -1 });
  assert.deepEqual(await handle(life.scheduled, running), ['prepare Scheduled']);
});

test('an event without notice is prepared for once, with noticed: false', async () => {
  const { handle } = fixture();
  const running = life.updated({ eventStatus: 'Started', notBefore: null });
  assert.deepEqual(await handle(life.started, running), ['prepare Started unnoticed']);
  assert.deepEqual(await handle(life.ended()), ['recover completed']);
});

test('an update is prepared for if the scheduled before it was missed', async () => {
  const { handle } = fixture();
  assert.deepEqual(await handle(life.updated({})), ['prepare Scheduled']);
});

test('recover is not called for an end without a preparation', async () => {
  assert.deepEqual(await fixture().handle(life.ended()), []);
});

test('an event that comes back after its end is prepared for again', async () => {
  const { handle } = fixture();
  assert.deepEqual(await handle(life.scheduled, life.ended(), COMES_AGAIN), [
    'prepare Scheduled',
    'recover completed',
    'prepare Scheduled',
  ]);
});

test('two events are prepared for separately', async () => {
  const { handle } = fixture();
  const other = lifeOf({ eventId: 'other' });
  assert.deepEqual(await handle(life.scheduled, other.scheduled, other.ended()), [
    'prepare Scheduled',
    'prepare Scheduled',
    'recover completed',
  ]);
});

test('an event that does not concern the consumer is ignored until it does', async () => {
  const { handle } = fixture({ concerns: ({ data }) => data.resources.includes('WestNO_2') });
  assert.deepEqual(await handle(life.scheduled), []);
  assert.deepEqual(await handle(life.updated({ resources: ['WestNO_0', 'WestNO_2'] })), ['prepare Scheduled']);
  assert.deepEqual(await handle(life.ended()), ['recover completed']);
});

test('a failed prepare is called again with the repeat, and recover is called even if prepare never succeeded', async () => {
  let failures = 1;
  const prepare = () => {
    if (failures-- > 0) throw new Error('not now');
  };
  const { handle } = fixture({ prepare });
  await assert.rejects(handle(life.scheduled), /not now/);
  await handle(life.scheduled);
  assert.equal(failures, -1);
  failures = 1;
  await handle(life.ended());
  await assert.rejects(handle(COMES_AGAIN), /not now/);
  assert.deepEqual(await handle({ ...life.ended(), id: 'second' }), ['recover completed']);
});

test('a prepare that fails after the event got worse still gets again: true', async () => {
  const flags: boolean[] = [];
  const { handle } = fixture({
    prepare: (_, { again }) => {
      flags.push(again);
      if (flags.length === 2) throw new Error('not now');
    },
  });
  await handle(life.scheduled);
  const worse = life.updated({ eventType: 'Redeploy' });
  await assert.rejects(handle(worse), /not now/);
  await handle(worse);
  assert.deepEqual(flags, [false, true, true]);
});

test('a failed recover is called again with the repeat', async () => {
  let failures = 1;
  const { handle, calls } = fixture({
    recover: () => {
      if (failures-- > 0) throw new Error('not now');
      calls.push('recovered');
    },
  });
  await handle(life.scheduled);
  await assert.rejects(handle(life.ended()), /not now/);
  assert.deepEqual(await handle(life.ended()), ['recovered']);
});

test('a file keeps prepared events over a restart, also those prepared in part', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  const state = () => ({ state: fileState(path) });
  assert.deepEqual(await fixture(state()).handle(life.scheduled), ['prepare Scheduled']);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(await fixture(state()).handle(life.scheduled, life.started), [], 'the restart finds it prepared');
  assert.deepEqual(await fixture(state()).handle(life.ended()), ['recover completed']);
  assert.deepEqual(await fixture(state()).handle(life.ended()), []);
  assert.equal(readFileSync(path, 'utf8'), '{}');

  const crash = () => Promise.reject(new Error('crash'));
  await assert.rejects(fixture({ ...state(), prepare: crash }).handle(life.scheduled));
  assert.deepEqual(await fixture(state()).handle(life.ended()), ['recover completed']);
});

test('after a restart the file lists the events that are prepared at present', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  assert.deepEqual(await fileState(path).all(), []);
  const { handle } = fixture({ state: fileState(path) });
  await handle(life.scheduled, lifeOf({ eventId: 'other' }).scheduled);
  const found = await fileState(path).all();
  assert.deepEqual(
    found.map(({ eventId, isReady }) => [eventId, isReady]),
    [
      [life.scheduled.event.eventId, true],
      ['other', true],
    ],
  );
  await handle(life.ended());
  assert.deepEqual((await fileState(path).all()).length, 1);
});

test('changes of several events at the same time are all in the file', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  const { handle } = fixture({ state: fileState(path) });
  const lives = ['a', 'b', 'c', 'd'].map((eventId) => lifeOf({ eventId }));
  await Promise.all(lives.map(({ scheduled }) => handle(scheduled)));
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length, 4);
});

for (const [what, text] of [
  ['cut short', '{"a'],
  ['not an object', '[]'],
] as const) {
  test(`a file that is ${what} is an error, not an empty state`, async (t) => {
    const path = join(folderOf(t), 'prepared.json');
    writeFileSync(path, text);
    const { handle } = fixture({ state: fileState(path) });
    const namesFile = (error: unknown) => error instanceof ConsumerError && error.code === 'state' && error.message.includes(path);
    await assert.rejects(handle(life.scheduled), namesFile);
    assert.equal(readFileSync(path, 'utf8'), text);
    writeFileSync(path, '{}');
    assert.deepEqual(await handle(life.scheduled), ['prepare Scheduled'], 'once it is repaired, it is read again');
  });
}

test('prepare is not called if the file cannot be written', async (t) => {
  const { handle } = fixture({ state: fileState(join(folderOf(t), 'missing/prepared.json')) });
  await assert.rejects(handle(life.scheduled), (error) => error instanceof ConsumerError && error.code === 'state');
  assert.deepEqual(await handle(), []);
});
