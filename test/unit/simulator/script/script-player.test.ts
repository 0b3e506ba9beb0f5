// Scripts, played step by step on a group → the effect of each action, its machines and its time.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { EventFields, WireEvent } from '../../../../src/simulator/events/event.ts';
import type { OrderedFault } from '../../../../src/simulator/events/faults.ts';
import type { Action, Script, ScriptStep } from '../../../../src/simulator/script/script.ts';
import { EXAMPLE_EVENT } from '../../../far-sides/metadata-service.ts';
import { type SimulatedGroup, scriptOf, simulatedGroup } from '../../../virtual/simulated-group.ts';
import { EVENTS } from '../../../virtual/simulation.ts';

const START_MS = Date.UTC(2026, 3, 1);
const MINUTE_MS = 60_000;

/** A step this many minutes after the script's start. */
const after = (minutes: number, action: Action): ScriptStep => ({ afterMs: minutes * MINUTE_MS, action });
const schedule = (fields: EventFields = {}, rest: { as?: string; count?: number } = {}): Action => ({
  kind: 'schedule',
  fields,
  ...rest,
});
const fault = (order: OrderedFault | null): Action => ({ kind: 'fault', orders: order ? [order] : [] });
const called = (name: string, ...steps: readonly ScriptStep[]): Script => ({ ...scriptOf(...steps), name });

function start(script: Script, options: Parameters<typeof simulatedGroup>[0] = {}): SimulatedGroup {
  const simulated = simulatedGroup({ startMs: START_MS, ...options });
  play(simulated, script);
  return simulated;
}

function play({ group }: SimulatedGroup, script: Script): void {
  group.play(script);
}

const listed = ({ first }: SimulatedGroup): readonly WireEvent[] => first.document().Events;
const resources = (simulated: SimulatedGroup) => listed(simulated).map(({ Resources }) => Resources);
const incarnation = ({ first }: SimulatedGroup) => first.document().DocumentIncarnation;

test('schedule lists one event, or `count` equal ones, each with its own id', () => {
  const simulated = start(scriptOf(after(0, schedule({ EventType: 'Reboot' }, { count: 3 })), after(1, schedule())));
  assert.deepEqual([...new Set(listed(simulated).map(({ EventType }) => EventType))], ['Reboot']);
  assert.equal(new Set(listed(simulated).map(({ EventId }) => EventId)).size, 3);
  simulated.first.advance('1m');
  assert.equal(listed(simulated).length, 4);
});

test('change, start, end and cancel apply to each event of that name, at their times', () => {
  const simulated = start(
    scriptOf(
      after(0, schedule({}, { as: 'pair', count: 2 })),
      after(0, schedule({}, { as: 'other' })),
      after(1, { kind: 'change', event: 'pair', fields: { DurationInSeconds: 9, noticeMs: 20 * MINUTE_MS } }),
      after(2, { kind: 'start', event: 'pair' }),
      after(3, { kind: 'cancel', event: 'other' }),
      after(4, { kind: 'end', event: 'pair' }),
    ),
  );
  const looks = [0, 1, 2, 3, 4].map((minute) => {
    if (minute > 0) simulated.first.advance('1m');
    return listed(simulated).map(({ EventStatus, DurationInSeconds }) => `${EventStatus} ${DurationInSeconds}`);
  });
  assert.deepEqual(looks, [
    ['Scheduled -1', 'Scheduled -1', 'Scheduled -1'],
    ['Scheduled 9', 'Scheduled 9', 'Scheduled -1'],
    ['Started 9', 'Started 9', 'Scheduled -1'],
    ['Started 9', 'Started 9'],
    [],
  ]);
  assert.deepEqual(
    simulated.group.events.past().map(({ end }) => end),
    ['canceled', 'completed', 'completed'],
  );
});

test('the notice of a change counts from its step, whenever a client looks', () => {
  const simulated = start(
    scriptOf(
      after(0, schedule({}, { as: 'a' })),
      after(5, { kind: 'change', event: 'a', fields: { noticeMs: 30 * MINUTE_MS } }),
    ),
  );
  simulated.first.advance('20m');
  assert.equal(listed(simulated)[0]?.NotBefore, new Date(START_MS + 35 * MINUTE_MS).toUTCString());
});

test('an action that a client has made impossible is skipped, and later steps are played', () => {
  const simulated = start(
    scriptOf(
      after(0, schedule({}, { as: 'approved' })),
      after(1, { kind: 'cancel', event: 'approved' }),
      after(1, { kind: 'start', event: 'approved' }),
      after(1, { kind: 'change', event: 'approved', fields: { EventStatus: 'Scheduled' } }),
      after(2, schedule({ EventType: 'Preempt' }, { as: 'waiting' })),
      after(2, { kind: 'end', event: 'waiting' }),
      after(2, { kind: 'cancel', event: 'nobody' }),
    ),
  );
  simulated.first.approve(listed(simulated)[0]?.EventId ?? '');
  const before = simulated.first.document();
  simulated.first.advance('1m');
  assert.deepEqual(simulated.first.document(), before);
  simulated.first.advance('1m');
  assert.deepEqual(
    listed(simulated).map(({ EventType, EventStatus }) => [EventType, EventStatus]),
    [
      ['Freeze', 'Started'],
      ['Preempt', 'Scheduled'],
    ],
  );
});

test('a used EventId is not scheduled again, and the script continues', () => {
  const simulated = start(
    scriptOf(after(0, schedule({ EventId: 'A' })), after(1, schedule({ EventId: 'a' })), after(1, schedule())),
  );
  simulated.first.advance('1m');
  assert.equal(listed(simulated).length, 2);
});

for (const [names, expected] of [
  [['vm:0'], ['web_0']],
  [
    ['vm:8', 'VM_x', 'vm:1'],
    ['web_1', 'VM_x'],
  ],
  [['fd:1'], ['web_1', 'web_6']],
  [
    ['fd:0', 'vm:5'],
    ['web_0', 'web_5'],
  ],
  [['elsewhere'], ['elsewhere']],
  [[], []],
] as const) {
  test(`in a group of 7, Resources [${names.join(', ')}] are [${expected.join(', ')}]`, () => {
    const vms = Array.from({ length: 7 }, (_, index) => `web_${index}`);
    assert.deepEqual(resources(start(scriptOf(after(0, schedule({ Resources: names }))), { vms })), [expected]);
  });
}

test('without Resources an event names all machines of the group', () => {
  assert.deepEqual(resources(start(scriptOf(after(0, schedule())), { vms: ['a', 'b'] })), [['a', 'b']]);
});

test('a schedule for an empty fault domain is skipped, unless it names another machine too', () => {
  const steps = [['fd:3'], ['fd:3', 'vm:0']].map((Resources) => after(0, schedule({ Resources })));
  assert.deepEqual(resources(start(scriptOf(...steps), { vms: ['a', 'b'] })), [['a']]);
});

test('seen selects the machines that see an event, by number too, also in a change', () => {
  const { first, machines } = start(
    scriptOf(
      after(0, schedule({ seen: ['vm:1'] }, { as: 'hidden' })),
      after(1, { kind: 'change', event: 'hidden', fields: { seen: ['fd:0'], Resources: ['vm:1'] } }),
    ),
    { vms: ['a', 'b'] },
  );
  const seen = () => machines.map((machine) => machine.document().Events.map(({ Resources }) => Resources.join()));
  assert.deepEqual(seen(), [[], ['a,b']]);
  first.advance('1m');
  assert.deepEqual(seen(), [['b'], []]);
});

test('a fault applies to its machine, by number too, for its time, and null clears it', () => {
  const { first, machines } = start(
    scriptOf(
      after(0, fault({ status: 503, vm: 'vm:3', forMs: MINUTE_MS })),
      after(2, fault({ status: 500, times: 9 })),
      after(3, fault(null)),
    ),
    { vms: ['a', 'b'] },
  );
  const statuses = () => machines.map((machine) => machine.get(EVENTS).status);
  const looks = [statuses()];
  for (let minute = 1; minute <= 3; minute++) {
    first.advance('1m');
    looks.push(statuses());
  }
  assert.deepEqual(looks, [
    [200, 503],
    [200, 200],
    [500, 500],
    [200, 200],
  ]);
});

test('incarnation skips numbers or restarts, and the events do not change', () => {
  const simulated = start(
    scriptOf(
      after(0, schedule()),
      after(1, { kind: 'incarnation', skip: 40 }),
      after(2, { kind: 'incarnation', skip: 'restart' }),
    ),
  );
  const before = listed(simulated);
  const incarnations = [incarnation(simulated)];
  for (const _ of [1, 2]) {
    simulated.first.advance('1m');
    incarnations.push(incarnation(simulated));
  }
  assert.deepEqual([incarnations, listed(simulated)], [[2, 42, 1], before]);
});

test('switchOff hides all events until 5 minutes after the next request', () => {
  const simulated = start(scriptOf(after(0, schedule({ noticeMs: 60 * MINUTE_MS })), after(1, { kind: 'switchOff' })));
  simulated.first.advance('1m');
  assert.deepEqual([simulated.group.activation.state, listed(simulated).length], ['off', 0]);
  simulated.first.advance('5m');
  assert.deepEqual([simulated.group.activation.state, listed(simulated).length], ['on', 1]);
});

test('a document replaces all events, with its own incarnation, and only the recording changes it', () => {
  const recorded: WireEvent = { ...EXAMPLE_EVENT, EventStatus: 'Scheduled', NotBefore: '' };
  const simulated = start(
    scriptOf(
      after(0, schedule()),
      after(1, { kind: 'document', incarnation: 17, events: [recorded] }),
      after(2, { kind: 'document', incarnation: 18, events: [] }),
    ),
  );
  simulated.first.advance('1m');
  assert.deepEqual(simulated.first.document(), { DocumentIncarnation: 17, Events: [recorded] });
  simulated.first.advance('1m');
  assert.deepEqual(simulated.first.document(), { DocumentIncarnation: 18, Events: [] });
});

for (const [laterMs, movedS] of [
  [0, 0],
  [86_400_000, 86_400],
  [90_750, 90],
] as const) {
  test(`a recording played ${laterMs} ms later has its NotBefores ${movedS} s later`, () => {
    const recorded: WireEvent = {
      ...EXAMPLE_EVENT,
      EventStatus: 'Scheduled',
      NotBefore: new Date(START_MS + 900_000).toUTCString(),
    };
    const script = scriptOf(
      after(0, { kind: 'document', incarnation: 2, events: [recorded, { ...recorded, EventId: 'x', NotBefore: '' }] }),
    );
    const simulated = start({ ...script, recordedAtMs: START_MS }, { startMs: START_MS + laterMs });
    assert.deepEqual(
      listed(simulated).map(({ NotBefore }) => NotBefore),
      [new Date(START_MS + 900_000 + movedS * 1000).toUTCString(), ''],
    );
  });
}

test('invalid dates in a recording, and all dates of one without times, are not changed', () => {
  const soon = { ...EXAMPLE_EVENT, NotBefore: 'soon' };
  const script = scriptOf(
    after(0, { kind: 'document', incarnation: 2, events: [soon, { ...EXAMPLE_EVENT, EventId: 'x' }] }),
  );
  const notBefores = (played: Script) =>
    listed(start(played, { startMs: START_MS + MINUTE_MS })).map(({ NotBefore }) => NotBefore);
  assert.deepEqual(notBefores(script), ['soon', EXAMPLE_EVENT.NotBefore]);
  assert.equal(notBefores({ ...script, recordedAtMs: START_MS })[0], 'soon');
});

test('steps at the same time make one incarnation, at the start and later, with everything else due then', () => {
  const simulated = start(
    scriptOf(
      after(0, schedule({ noticeMs: 5 * MINUTE_MS }, { as: 'one' })),
      after(0, schedule({}, { as: 'other', count: 4 })),
      after(5, { kind: 'start', event: 'other' }),
      after(5, schedule()),
    ),
  );
  assert.equal(incarnation(simulated), 2);
  simulated.first.advance('5m');
  assert.deepEqual(
    [incarnation(simulated), listed(simulated).filter(({ EventStatus }) => EventStatus === 'Started').length],
    [3, 5],
  );
});

test('steps are played at their own times even if no client asks', () => {
  const simulated = start(
    scriptOf(after(0, schedule({}, { as: 'a' })), after(1, { kind: 'start', event: 'a' }), after(2, schedule())),
  );
  simulated.first.advance('3m');
  const [one, other] = simulated.group.events.entries();
  assert.deepEqual([one?.startedAtMs, other?.scheduledAtMs], [START_MS + MINUTE_MS, START_MS + 2 * MINUTE_MS]);
  assert.equal(incarnation(simulated), 4);
});

test('a repeating script keeps its period, whenever clients ask, and keeps events that are still listed', () => {
  const script = {
    ...scriptOf(after(0, schedule({}, { as: 'a' })), after(10, { kind: 'start', event: 'a' })),
    everyMs: 15 * MINUTE_MS,
  };
  const simulated = start(script);
  simulated.first.advance('50m');
  assert.deepEqual(
    simulated.group.events
      .past()
      .map(({ scheduledAtMs, endedAtMs }) => [scheduledAtMs - START_MS, endedAtMs - START_MS]),
    [0, 15, 30].map((minute) => [minute * MINUTE_MS, (minute + 20) * MINUTE_MS]),
  );
  assert.equal(listed(simulated).length, 1);
  assert.equal(simulated.group.player.running()?.startedAtMs, START_MS + 45 * MINUTE_MS);
});

test('another script replaces the running one in one change: its steps are dropped, its events withdrawn, its fault cleared', () => {
  const old = called(
    'old',
    after(0, schedule({ EventType: 'Reboot' })),
    after(0, fault({ status: 503, times: 9 })),
    after(1, schedule()),
  );
  const simulated = start(old);
  const mine = simulated.first.schedule({ EventType: 'Redeploy' });
  play(simulated, called('new', after(0, schedule({ EventType: 'Preempt', noticeMs: 60 * MINUTE_MS }))));
  assert.deepEqual(
    [
      simulated.group.player.running()?.script.name,
      listed(simulated).map(({ EventType }) => EventType),
      incarnation(simulated),
    ],
    ['new', ['Redeploy', 'Preempt'], 4],
  );
  assert.equal(listed(simulated)[0]?.EventId, mine.EventId);
  assert.deepEqual(
    simulated.group.events.past().map(({ event, end }) => [event.EventType, end]),
    [['Reboot', 'withdrawn']],
  );
  simulated.first.advance('10m');
  assert.equal(listed(simulated).length, 2);
});

for (const [what, steps] of [
  ['ordered none', []],
  ['cleared its own', [after(0, fault({ status: 500 })), after(0, fault(null))]],
] as const) {
  test(`a user's own fault outlives a script that ${what}`, () => {
    const simulated = start(called('old', after(0, schedule()), ...steps));
    simulated.first.order('PUT', '/faults', { status: 503, times: 1 }, 204);
    play(simulated, called('new', after(0, schedule())));
    assert.equal(simulated.first.get(EVENTS).status, 503);
  });
}

test('a script runs until its last step was played and its last event is over', () => {
  const simulated = start(
    scriptOf(after(0, schedule({}, { as: 'a' })), after(20, schedule({ startedForMs: MINUTE_MS }))),
  );
  const isRunning = () => {
    simulated.group.catchUp();
    return simulated.group.player.running() !== null;
  };
  const looks = ['0s', '19m', '1m', '15m', '1m'].map((duration) => {
    simulated.first.advance(duration);
    return isRunning();
  });
  assert.deepEqual(looks, [true, true, true, true, false]);
});

test('a stopped script plays no more steps, and its events stay', () => {
  const simulated = start(scriptOf(after(0, schedule({ noticeMs: 60 * MINUTE_MS })), after(1, schedule())));
  simulated.group.player.stop();
  simulated.first.advance('30m');
  assert.deepEqual(
    [listed(simulated).length, simulated.group.player.running(), simulated.group.player.nextDueMs()],
    [1, null, null],
  );
});
