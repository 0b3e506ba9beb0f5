// The life of an event, told well or badly → prepare and recover, each when due and no oftener.
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

/** What was called, by the changes that it is told. */
function fixture(options: Partial<PreparationOptions> = {}) {
  const calls: string[] = [];
  const handlers = preparation({
    prepare: ({ data }, { noticed, again }) =>
      calls.push(`prepare ${data.eventStatus}${noticed ? '' : ' unnoticed'}${again ? ' again' : ''}`),
    recover: (_, outcome) => calls.push(`recover ${outcome}`),
    ...options,
  });
  const dispatcher = dispatcherOn(handlers, memoryHandledStore({}, new VirtualTime()));
  const tell = async (...changes: Change[]) => {
    for (const change of changes) await dispatcher.handle(readStructured(JSON.parse(Buffer.from(deliveryOf(change).bytes).toString())));
    return calls.splice(0);
  };
  return { tell, calls };
}

const life = lifeOf({ eventType: 'Reboot' });
const COMES_AGAIN = { ...life.scheduled, id: `${life.scheduled.id}:r2` };

test('an event is prepared for once and recovered from once', async () => {
  const { tell } = fixture();
  assert.deepEqual(await tell(life.scheduled, COMES_AGAIN), ['prepare Scheduled']);
  assert.deepEqual(await tell(life.started), []);
  assert.deepEqual(await tell(life.ended(), { ...life.ended(), id: 'again' }), ['recover completed']);
});

for (const outcome of ['canceled', 'unknown'] as const) {
  test(`recover is told that the outcome is ${outcome}`, async () => {
    const { tell } = fixture();
    assert.deepEqual(await tell(life.scheduled, life.ended(outcome)), ['prepare Scheduled', `recover ${outcome}`]);
  });
}

for (const [what, now] of [
  ['a harder impact', { eventType: 'Redeploy' }],
  ['a longer duration', { durationInSeconds: 6 }],
  ['one more machine', { resources: ['WestNO_0', 'WestNO_1', 'WestNO_2'] }],
  ['an earlier NotBefore', { notBefore: '2022-04-11T22:20:00Z' }],
] as const) {
  test(`${what} is prepared for again`, async () => {
    const { tell } = fixture();
    assert.deepEqual(await tell(life.scheduled, life.updated(now)), ['prepare Scheduled', 'prepare Scheduled again']);
    assert.deepEqual(await tell(life.updated(now, 2)), [], 'what it was prepared for is what counts from now on');
  });
}

test('a change for the better is none to prepare for', async () => {
  const { tell } = fixture();
  const better = { eventType: 'Freeze', durationInSeconds: 4, notBefore: '2022-04-11T23:00:00Z', description: 'less' };
  assert.deepEqual(await tell(life.scheduled, life.updated(better)), ['prepare Scheduled']);
});

test('an event that runs is not prepared for again, however it changes', async () => {
  const { tell } = fixture();
  const running = life.updated({ eventStatus: 'Started', notBefore: null, durationInSeconds: -1 });
  assert.deepEqual(await tell(life.scheduled, running), ['prepare Scheduled']);
});

test('what begins without notice is prepared for as such, once', async () => {
  const { tell } = fixture();
  const running = life.updated({ eventStatus: 'Started', notBefore: null });
  assert.deepEqual(await tell(life.started, running), ['prepare Started unnoticed']);
  assert.deepEqual(await tell(life.ended()), ['recover completed']);
});

test('an update is the first news where the first was missed', async () => {
  const { tell } = fixture();
  assert.deepEqual(await tell(life.updated({})), ['prepare Scheduled']);
});

test('an end without a beginning recovers nothing', async () => {
  assert.deepEqual(await fixture().tell(life.ended()), []);
});

test('an event that comes back after its end is prepared for anew', async () => {
  const { tell } = fixture();
  assert.deepEqual(await tell(life.scheduled, life.ended(), COMES_AGAIN), ['prepare Scheduled', 'recover completed', 'prepare Scheduled']);
});

test('two events are prepared for each by itself', async () => {
  const { tell } = fixture();
  const other = lifeOf({ eventId: 'other' });
  assert.deepEqual(await tell(life.scheduled, other.scheduled, other.ended()), [
    'prepare Scheduled',
    'prepare Scheduled',
    'recover completed',
  ]);
});

test('what does not concern is left alone, until it does', async () => {
  const { tell } = fixture({ concerns: ({ data }) => data.resources.includes('WestNO_2') });
  assert.deepEqual(await tell(life.scheduled), []);
  assert.deepEqual(await tell(life.updated({ resources: ['WestNO_0', 'WestNO_2'] })), ['prepare Scheduled']);
  assert.deepEqual(await tell(life.ended()), ['recover completed']);
});

test('a prepare that fails is called again with the repeat, and one that never ended well is recovered from', async () => {
  let failures = 1;
  const prepare = () => {
    if (failures-- > 0) throw new Error('not now');
  };
  const { tell } = fixture({ prepare });
  await assert.rejects(tell(life.scheduled), /not now/);
  await tell(life.scheduled);
  assert.equal(failures, -1);
  failures = 1;
  await tell(life.ended());
  await assert.rejects(tell(COMES_AGAIN), /not now/);
  assert.deepEqual(await tell({ ...life.ended(), id: 'second' }), ['recover completed']);
});

test('a prepare that fails after a change for the worse is still told that it was prepared before', async () => {
  const told: boolean[] = [];
  const { tell } = fixture({
    prepare: (_, { again }) => {
      told.push(again);
      if (told.length === 2) throw new Error('not now');
    },
  });
  await tell(life.scheduled);
  const worse = life.updated({ eventType: 'Redeploy' });
  await assert.rejects(tell(worse), /not now/);
  await tell(worse);
  assert.deepEqual(told, [false, true, true]);
});

test('a recover that fails is called again with the repeat', async () => {
  let failures = 1;
  const { tell, calls } = fixture({
    recover: () => {
      if (failures-- > 0) throw new Error('not now');
      calls.push('recovered');
    },
  });
  await tell(life.scheduled);
  await assert.rejects(tell(life.ended()), /not now/);
  assert.deepEqual(await tell(life.ended()), ['recovered']);
});

test('a file keeps over a restart what was prepared, in part too', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  const state = () => ({ state: fileState(path) });
  assert.deepEqual(await fixture(state()).tell(life.scheduled), ['prepare Scheduled']);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(await fixture(state()).tell(life.scheduled, life.started), [], 'the restart finds it prepared');
  assert.deepEqual(await fixture(state()).tell(life.ended()), ['recover completed']);
  assert.deepEqual(await fixture(state()).tell(life.ended()), []);
  assert.equal(readFileSync(path, 'utf8'), '{}');

  const crash = () => Promise.reject(new Error('crash'));
  await assert.rejects(fixture({ ...state(), prepare: crash }).tell(life.scheduled));
  assert.deepEqual(await fixture(state()).tell(life.ended()), ['recover completed']);
});

test('a start learns from the file what is prepared at present', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  assert.deepEqual(await fileState(path).all(), []);
  const { tell } = fixture({ state: fileState(path) });
  await tell(life.scheduled, lifeOf({ eventId: 'other' }).scheduled);
  const found = await fileState(path).all();
  assert.deepEqual(
    found.map(({ eventId, isReady }) => [eventId, isReady]),
    [
      [life.scheduled.event.eventId, true],
      ['other', true],
    ],
  );
  await tell(life.ended());
  assert.deepEqual((await fileState(path).all()).length, 1);
});

test('changes of several events at once all get into the file', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  const { tell } = fixture({ state: fileState(path) });
  const lives = ['a', 'b', 'c', 'd'].map((eventId) => lifeOf({ eventId }));
  await Promise.all(lives.map(({ scheduled }) => tell(scheduled)));
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length, 4);
});

for (const [what, text] of [
  ['cut short', '{"a'],
  ['no object', '[]'],
] as const) {
  test(`a file that is ${what} is an error that says what to do, not an empty state`, async (t) => {
    const path = join(folderOf(t), 'prepared.json');
    writeFileSync(path, text);
    const { tell } = fixture({ state: fileState(path) });
    const isTold = (error: unknown) => error instanceof ConsumerError && error.code === 'state' && error.message.includes(path);
    await assert.rejects(tell(life.scheduled), isTold);
    assert.equal(readFileSync(path, 'utf8'), text);
    writeFileSync(path, '{}');
    assert.deepEqual(await tell(life.scheduled), ['prepare Scheduled'], 'once it is mended, it is read again');
  });
}

test('a file that cannot be written keeps the preparation from beginning', async (t) => {
  const { tell } = fixture({ state: fileState(join(folderOf(t), 'missing/prepared.json')) });
  await assert.rejects(tell(life.scheduled), (error) => error instanceof ConsumerError && error.code === 'state');
  assert.deepEqual(await tell(), []);
});
