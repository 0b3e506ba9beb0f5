// CloudEvents of an event, complete or not → prepare and recover, each called only when it is due.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import { readStructured } from '../../../../src/consumer/read-event.ts';
import { dispatcherOn } from '../../../../src/consumer/receive/dispatcher.ts';
import { memoryHandledStore } from '../../../../src/consumer/receive/handled-store.ts';
import { type PreparationOptions, preparationOn } from '../../../../src/consumer/receive/preparation.ts';
import { fileState, type StoredEvent } from '../../../../src/consumer/receive/prepared-state.ts';
import type { Change, EventChange } from '../../../../src/model/events.ts';
import { momentAt, START_MS } from '../../../support/events.ts';
import { folderOf } from '../../../support/folder.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { context } from '../../cloudevents/changes.ts';
import { deliveryOf, lifeOf } from '../deliveries.ts';

/** A change, and the VM whose bridge saw it if it is not the usual one. */
type Seen = Change & { readonly observer?: string };

function eventOf(change: Seen) {
  const event = JSON.parse(Buffer.from(deliveryOf(change).bytes).toString());
  if (change.observer !== undefined) event.data.observer.name = change.observer;
  return readStructured(event);
}

/** Handles changes, and returns the calls that they cause. */
function fixture(options: Partial<PreparationOptions> = {}) {
  const calls: string[] = [];
  const clock = new VirtualTime({ startMs: START_MS });
  const handlers = preparationOn(
    {
      prepare: ({ data }, { noticed, again }) =>
        calls.push(`prepare ${data.eventStatus}${noticed ? '' : ' unnoticed'}${again ? ' again' : ''}`),
      recover: (_, outcome) => calls.push(`recover ${outcome}`),
      ...options,
    },
    clock,
  );
  const dispatcher = dispatcherOn(handlers, memoryHandledStore({}, new VirtualTime()));
  const handle = async (...changes: Seen[]) => {
    for (const change of changes) await dispatcher.handle(eventOf(change));
    return calls.splice(0);
  };
  return { handle, calls, clock };
}

const life = lifeOf({ eventType: 'Reboot' });
const COMES_AGAIN = { ...life.scheduled, id: `${life.scheduled.id}:r2` };
const ENDS_AGAIN = { ...life.ended(), id: `${life.ended().id}:r2` };
/** Seconds after the end of `life`, as the same bridge saw it. */
const later = (change: EventChange, seconds: number) => ({
  ...change,
  id: `${change.id}:later`,
  at: momentAt(1234 + seconds * 1000),
});

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
    assert.deepEqual(
      await handle(life.updated(now, 2)),
      [],
      'later events are compared with the last one that was prepared for',
    );
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

for (const [what, late] of [
  ['scheduled', life.scheduled],
  ['started', life.started],
  ['updated that got worse', life.updated({ eventType: 'Redeploy' })],
  ['updated of a time after the end', later(life.updated({}), 60)],
  ['scheduled of another bridge, at whatever time', { ...later(life.scheduled, 60), observer: 'WestNO_1' }],
  ['scheduled of a time before the end', later(life.scheduled, -1)],
] as const) {
  test(`after its end an event is not prepared for, by a late ${what}`, async (t) => {
    const path = join(folderOf(t), 'prepared.json');
    const before = fixture({ state: fileState(path) });
    assert.deepEqual(await before.handle(life.started, life.ended()), [
      'prepare Started unnoticed',
      'recover completed',
    ]);
    assert.deepEqual(await before.handle(late), []);
    assert.deepEqual(await fixture({ state: fileState(path) }).handle(late), [], 'nor after a restart');
  });
}

for (const [what, newer] of [
  ['scheduled with a higher number', COMES_AGAIN],
  ['scheduled that the same bridge saw later', later(life.scheduled, 60)],
  ['started that the same bridge saw later', later(life.started, 60)],
] as const) {
  test(`after its end an event is prepared for by a ${what}`, async () => {
    const { handle } = fixture();
    assert.deepEqual(await handle(life.scheduled, life.ended(), newer).then((calls) => calls.length), 3);
    assert.deepEqual(
      await handle({ ...life.ended(), id: 'late' }),
      [],
      'the first end does not recover the second occurrence',
    );
    assert.deepEqual(
      await handle(life.updated({ eventType: 'Redeploy' })),
      ['prepare Scheduled again'],
      'its updates count',
    );
    const old = { ...life.updated({ eventType: 'Terminate' }, 2), at: momentAt(1233) };
    assert.deepEqual(await handle(old), [], 'those of the first occurrence do not');
    assert.deepEqual(await handle(ENDS_AGAIN), ['recover completed']);
    assert.deepEqual(await handle(COMES_AGAIN), []);
  });
}

test('an end is kept even if nothing was prepared', async () => {
  assert.deepEqual(await fixture().handle(life.ended(), life.scheduled), []);
});

test('an end is not kept before recover has ended well', async () => {
  const stored = new Map<string, StoredEvent>();
  const state = {
    get: async (key: string) => stored.get(key),
    set: async (key: string, event: StoredEvent) => void stored.set(key, event),
    delete: async (key: string) => void stored.delete(key),
  };
  const recover = () => Promise.reject(new Error('not now'));
  const { handle } = fixture({ state, recover });
  await handle(life.scheduled);
  await assert.rejects(handle(life.ended()), /not now/);
  assert.deepEqual(
    [...stored.values()].map((event) => 'isReady' in event && event.isReady),
    [true],
  );
  assert.deepEqual(
    await fixture({ state }).handle(life.ended(), life.started),
    ['recover completed'],
    'also in a state of your own',
  );
});

test('after an occurrence that did not concern the consumer, an update of the next one may', async () => {
  const { handle } = fixture({ concerns: ({ data }) => data.resources.includes('WestNO_2') });
  const grown = { resources: ['WestNO_0', 'WestNO_2'] };
  assert.deepEqual(await handle(life.ended(), life.updated(grown)), []);
  assert.deepEqual(await handle(COMES_AGAIN, life.updated(grown, 2)), ['prepare Scheduled']);
});

test('an end is kept for 7 days, or for keepEndedMs', async (t) => {
  const DAY = 86_400_000;
  for (const [keepEndedMs, days] of [
    [undefined, 7],
    [DAY, 1],
  ] as const) {
    const path = join(folderOf(t), 'prepared.json');
    const { handle, clock } = fixture({
      state: fileState(path),
      staleAfterMs: Number.POSITIVE_INFINITY,
      ...(keepEndedMs && { keepEndedMs }),
    });
    await handle(life.ended());
    clock.jumpWall(days * DAY - 1);
    assert.deepEqual(await handle(life.scheduled), []);
    clock.jumpWall(1);
    assert.deepEqual(await handle(lifeOf({ eventId: 'other' }).ended()), []);
    assert.deepEqual(
      Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length,
      1,
      'ends that are not kept leave the file',
    );
    assert.deepEqual(await handle({ ...life.scheduled, id: 'copy' }), ['prepare Scheduled']);
  }
  const { handle } = fixture({ keepEndedMs: 0 });
  assert.deepEqual(await handle(life.ended(), life.scheduled), ['prepare Scheduled']);
});

test('an end that is not kept any more does not hide the end of what is prepared', async () => {
  const { handle, clock } = fixture({ keepEndedMs: 1000 });
  assert.deepEqual(await handle(life.ended(), COMES_AGAIN), ['prepare Scheduled']);
  clock.jumpWall(1000);
  assert.deepEqual(await handle({ ...life.ended(), id: 'again' }), ['recover completed']);
});

test('a NotBefore of more than 10 min ago is not prepared for; what follows decides', async () => {
  const { handle, clock } = fixture();
  clock.jumpWall(Date.parse('2022-04-11T22:36:58Z') - START_MS);
  assert.deepEqual(await handle(life.scheduled, life.ended('canceled')), ['prepare Scheduled', 'recover canceled']);
  clock.jumpWall(1);
  assert.deepEqual(await handle(COMES_AGAIN, life.updated({})), []);
  assert.deepEqual(await handle(life.updated({ notBefore: '2022-04-11T22:50:00Z' }, 2)), ['prepare Scheduled']);
  const again = lifeOf({ eventId: 'other' });
  assert.deepEqual(
    await handle(again.scheduled, again.started),
    ['prepare Started unnoticed'],
    'a started is never too old',
  );
  assert.deepEqual(await handle(again.ended()), ['recover completed']);
  assert.deepEqual(await fixture({ staleAfterMs: Number.POSITIVE_INFINITY }).handle(life.scheduled), [
    'prepare Scheduled',
  ]);
});

for (const times of [{ staleAfterMs: -1 }, { keepEndedMs: Number.NaN }]) {
  test(`${Object.keys(times)} must be a time`, () => {
    assert.throws(
      () => fixture(times),
      (error) => error instanceof ConsumerError && error.code === 'usage',
    );
  });
}

test('a file of the version before is read', async (t) => {
  const path = join(folderOf(t), 'prepared.json');
  const { eventId, eventType, durationInSeconds, resources, notBefore } = life.scheduled.event;
  const entry = { eventId, eventType, durationInSeconds, resources, notBefore, isAgain: false, isReady: true };
  writeFileSync(path, JSON.stringify({ [`${context.source} ${eventId.toLowerCase()}`]: entry }));
  assert.deepEqual(await fileState(path).all(), [entry]);
  const { handle } = fixture({ state: fileState(path) });
  assert.deepEqual(await handle(life.scheduled, life.ended(), life.started), ['recover completed']);
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
  assert.deepEqual(await handle(ENDS_AGAIN), ['recover completed']);
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
  assert.deepEqual(await fileState(path).all(), [], 'an end is kept, and not listed');

  const crash = () => Promise.reject(new Error('crash'));
  await assert.rejects(fixture({ ...state(), prepare: crash }).handle(COMES_AGAIN));
  assert.deepEqual(await fixture(state()).handle(ENDS_AGAIN), ['recover completed']);
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
    const namesFile = (error: unknown) =>
      error instanceof ConsumerError && error.code === 'state' && error.message.includes(path);
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
