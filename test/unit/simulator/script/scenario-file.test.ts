// The text of a scenario → a script, or every fault with its path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatFault } from '../../../../src/schema/faults.ts';
import { readScenario } from '../../../../src/simulator/script/scenario-file.ts';
import type { Script } from '../../../../src/simulator/script/script.ts';

function scriptOf(text: string): Script {
  const read = readScenario(text, 'mine');
  assert.ok('script' in read, 'faults' in read ? read.faults.map(formatFault).join('\n') : '');
  return read.script;
}

function faultsOf(text: string): readonly string[] {
  const read = readScenario(text, 'mine');
  return 'faults' in read ? read.faults.map(formatFault) : [];
}

/** A scenario with these steps, valid otherwise. */
function withSteps(...steps: readonly string[]): string {
  return ['purpose: p', 'steps:', ...steps.map((step) => `  - ${step}`)].join('\n');
}

test('the shortest scenario schedules one event at its start', () => {
  assert.deepEqual(scriptOf('{ purpose: p, steps: [{ schedule: {} }] }'), {
    name: 'mine',
    purpose: 'p',
    steps: [{ afterMs: 0, action: { kind: 'schedule', fields: {} } }],
  });
});

test("every key arrives in the program's units", () => {
  const script = scriptOf(`
purpose: " what it is for "
group: { name: WestNO, vms: 2, gpu: true, apiVersions: [2020-07-01], unknownApiVersion: 404 }
every: 6h
steps:
  - after: 0s
    schedule:
      as: freeze
      EventType: Freeze
      ResourceType: VirtualMachine
      Resources: [vm:0, "fd:4", other_7]
      EventStatus: Scheduled
      Description: words
      EventSource: Platform
      DurationInSeconds: 5
      seen: [vm:1]
      notice: 15m
      startedFor: 10m
      otherTenants: 5m
      count: 2
  - { after: 5m, change: { event: freeze, notice: 20m, DurationInSeconds: -1 } }
  - { after: 6m, start: freeze }
  - { after: 7m, end: freeze }
  - { after: 8m, cancel: freeze }
  - { after: 9m, fault: { status: 503, body: { error: x }, headers: { Retry-After: 5 }, delay: 1s, truncate: 3, times: 2, for: 30s, vm: vm:1, method: get, path: /metadata/Instance/, apiVersion: 2024-07-09 } }
  - { after: 9m, fault: { stale: true } }
  - { after: 9m, fault: { reset: true } }
  - { after: 9m, fault: {} }
  - { after: 9m, faults: [{ status: 500 }, { times: 2 }] }
  - { after: 10m, incarnation: restart }
  - { after: 10m, incarnation: { skip: 3 } }
  - { after: 11m, switchOff: true }
`);
  const { steps, ...head } = script;
  assert.deepEqual(head, {
    name: 'mine',
    purpose: 'what it is for',
    group: { name: 'WestNO', vms: 2, gpu: true, apiVersions: ['2020-07-01'], unknownApiVersion: 404 },
    everyMs: 21_600_000,
  });
  assert.deepEqual(
    steps.map(({ afterMs }) => afterMs / 60_000),
    [0, 5, 6, 7, 8, 9, 9, 9, 9, 9, 10, 10, 11],
  );
  assert.deepEqual(
    steps.map(({ action }) => action),
    [
      {
        kind: 'schedule',
        as: 'freeze',
        count: 2,
        fields: {
          EventType: 'Freeze',
          ResourceType: 'VirtualMachine',
          Resources: ['vm:0', 'fd:4', 'other_7'],
          EventStatus: 'Scheduled',
          Description: 'words',
          EventSource: 'Platform',
          DurationInSeconds: 5,
          seen: ['vm:1'],
          noticeMs: 900_000,
          startedForMs: 600_000,
          otherTenantsMs: 300_000,
        },
      },
      { kind: 'change', event: 'freeze', fields: { DurationInSeconds: -1, noticeMs: 1_200_000 } },
      { kind: 'start', event: 'freeze' },
      { kind: 'end', event: 'freeze' },
      { kind: 'cancel', event: 'freeze' },
      {
        kind: 'fault',
        orders: [
          {
            status: 503,
            body: '{"error":"x"}',
            headers: { 'retry-after': '5' },
            delayMs: 1000,
            truncate: 3,
            times: 2,
            forMs: 30_000,
            vm: 'vm:1',
            method: 'GET',
            path: '/metadata/instance',
            apiVersion: ['2024-07-09'],
          },
        ],
      },
      { kind: 'fault', orders: [{ stale: true }] },
      { kind: 'fault', orders: [{ reset: true }] },
      { kind: 'fault', orders: [] },
      { kind: 'fault', orders: [{ status: 500 }, { times: 2 }] },
      { kind: 'incarnation', skip: 'restart' },
      { kind: 'incarnation', skip: 3 },
      { kind: 'switchOff' },
    ],
  );
});

test('an EventId and a NotBefore can be given; a date becomes RFC 1123, an empty one waits for approval', () => {
  const [first, second] = scriptOf(
    withSteps(
      'schedule: { EventId: c7061bac-afdc-4513-b24b-aa5f13a16123, NotBefore: 2030-01-01T00:00:00Z }',
      'schedule: { NotBefore: "" }',
    ),
  ).steps;
  assert.deepEqual(
    [first?.action, second?.action],
    [
      {
        kind: 'schedule',
        fields: { EventId: 'c7061bac-afdc-4513-b24b-aa5f13a16123', NotBefore: 'Tue, 01 Jan 2030 00:00:00 GMT' },
      },
      { kind: 'schedule', fields: { NotBefore: '' } },
    ],
  );
});

const ACTIONS = 'schedule, change, start, end, cancel, fault, faults, incarnation, switchOff';
const FIELDS =
  'EventId, EventType, ResourceType, Resources, EventStatus, NotBefore, Description, EventSource, DurationInSeconds, seen, notice, startedFor, otherTenants';
const CHANGEABLE = FIELDS.replace('EventId, ', '');
const MACHINE = 'must be a name, vm:N for machine N of the group, or fd:0 to fd:4 for all machines of a fault domain';
const DURATION = 'must be a duration such as 500ms, 10s, 15m or 30d';

/** Each with its text and the faults of the text. */
const CASES: readonly (readonly [title: string, text: string, faults: readonly string[]])[] = [
  ['an empty file', '', ['a scenario must be a mapping with purpose and steps']],
  ['a list', '- schedule', ['a scenario must be a mapping with purpose and steps']],
  ['nothing in it', '{}', ['purpose: is missing', 'steps: is missing']],
  [
    'broken YAML',
    'purpose: [',
    ['line 1, column 11: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ],
  [
    'two documents',
    'purpose: p\n---\npurpose: q',
    ['line 2, column 1: a second document begins here: a file holds one scenario'],
  ],
  [
    'a key twice',
    'purpose: p\npurpose: q\nsteps: [{ schedule: {} }]',
    ['purpose: is a duplicate key, repeated at line 2, column 1'],
  ],
  [
    'a misspelled key',
    'purpos: p\nsteps: [{ schedule: {} }]',
    [
      'purpos: is not a key of the scenario (allowed: purpose, group, every, steps); did you mean purpose?',
      'purpose: is missing',
    ],
  ],
  ['an empty purpose', '{ purpose: " ", steps: [{ schedule: {} }] }', ['purpose: must not be empty']],
  ['a purpose of two lines', 'purpose: |\n  a\n  b\nsteps: [{ schedule: {} }]', ['purpose: must be one line']],
  [
    'a purpose without end',
    `{ purpose: ${'x'.repeat(201)}, steps: [{ schedule: {} }] }`,
    ['purpose: must have at most 200 characters'],
  ],
  ['no steps', '{ purpose: p, steps: [] }', ['steps: must not be empty']],
  ['steps without content', 'purpose: p\nsteps:', ['steps: is empty: set a value or remove the key']],
  ['steps by name', '{ purpose: p, steps: { one: {} } }', ['steps: must be a list, not a mapping']],
  ['a step that is a word', withSteps('schedule'), ['steps[0]: must be a mapping, not a text']],
  [
    'a group without machines',
    '{ purpose: p, group: { vms: 0, name: "a b", gpu: 1, size: 2 }, steps: [{ schedule: {} }] }',
    [
      'group.size: is not a key of the scenario (allowed: name, vms, gpu, apiVersions, unknownApiVersion)',
      'group.name: must have 1 to 63 letters, digits, dots, _ or -',
      'group.vms: must be at least 1',
      'group.gpu: must be true or false, not a number',
    ],
  ],
  [
    'a repetition without pause',
    '{ purpose: p, every: 0s, steps: [{ schedule: {} }] }',
    ['every: must be at least 1s'],
  ],
  [
    'a period shorter than its steps',
    '{ purpose: p, every: 5m, steps: [{ schedule: {} }, { after: 6m, schedule: {} }] }',
    ['every: is shorter than the scenario: its last step is at 6m'],
  ],
  ['a step that does nothing', withSteps('after: 1m'), [`steps[0]: has no action (allowed: ${ACTIONS})`]],
  [
    'a step with two actions',
    withSteps('{ schedule: {}, switchOff: true }'),
    ['steps[0]: has several actions (schedule, switchOff): give each its own step'],
  ],
  [
    'a misspelled action',
    withSteps('shedule: {}'),
    [`steps[0].shedule: is not a key of the scenario (allowed: after, ${ACTIONS}); did you mean schedule?`],
  ],
  ['a time without unit', withSteps('{ after: 5, schedule: {} }'), [`steps[0].after: ${DURATION}`]],
  ['a time beyond a century', withSteps('{ after: 36501d, schedule: {} }'), ['steps[0].after: must be at most 36500d']],
  [
    'a step earlier than the one above it',
    withSteps('{ after: 5m, schedule: {} }', '{ after: 60s, schedule: {} }', 'schedule: {}'),
    [
      'steps[1].after: is earlier than the step above it (5m): list steps in the order of their times',
      'steps[2].after: is earlier than the step above it (5m): list steps in the order of their times',
    ],
  ],
  [
    'a misspelled field',
    withSteps('schedule: { EventTyp: Freeze }'),
    [
      `steps[0].schedule.EventTyp: is not a key of the scenario (allowed: as, ${FIELDS}, count); did you mean EventType?`,
    ],
  ],
  [
    'a schedule without content',
    withSteps('schedule:'),
    ['steps[0].schedule: is empty: set a value or remove the key'],
  ],
  ['a schedule that is a list', withSteps('schedule: []'), ['steps[0].schedule: must be a mapping, not a list']],
  [
    'an unknown status',
    withSteps('schedule: { EventStatus: Completed }'),
    ['steps[0].schedule.EventStatus: must be Scheduled or Started'],
  ],
  ['an empty type', withSteps('schedule: { EventType: "" }'), ['steps[0].schedule.EventType: must not be empty']],
  [
    'half a second',
    withSteps('schedule: { DurationInSeconds: 0.5 }'),
    ['steps[0].schedule.DurationInSeconds: must be a whole number'],
  ],
  [
    'a duration as text',
    withSteps('schedule: { DurationInSeconds: 9s }'),
    ['steps[0].schedule.DurationInSeconds: must be a number, not a text'],
  ],
  ['a notice without unit', withSteps('schedule: { notice: 15 }'), [`steps[0].schedule.notice: ${DURATION}`]],
  [
    'an invalid date',
    withSteps('schedule: { NotBefore: soon }'),
    [
      'steps[0].schedule.NotBefore: must be a date such as "Mon, 11 Apr 2022 22:26:58 GMT" or 2022-04-11T22:26:58Z, or ""',
    ],
  ],
  [
    'a notice and a date',
    withSteps('schedule: { notice: 15m, NotBefore: "" }'),
    ['steps[0].schedule: must have NotBefore or notice, not both'],
  ],
  [
    'machines that no group can have',
    withSteps('schedule: { Resources: [vm:0, vm:x, fd:5], seen: ["vm:"] }'),
    [
      `steps[0].schedule.Resources[1]: ${MACHINE}`,
      `steps[0].schedule.Resources[2]: ${MACHINE}`,
      `steps[0].schedule.seen[0]: ${MACHINE}`,
    ],
  ],
  [
    'one machine without a list',
    withSteps('schedule: { Resources: vm:0 }'),
    ['steps[0].schedule.Resources: must be a list, not a text'],
  ],
  [
    'too many equal events',
    withSteps('schedule: { count: 10001 }', 'schedule: { count: 0 }'),
    ['steps[0].schedule.count: must be at most 10000', 'steps[1].schedule.count: must be at least 1'],
  ],
  [
    'a name given twice',
    withSteps('schedule: { as: a }', 'schedule: { as: a }'),
    ['steps[1].schedule.as: is already the name (as) of an event in a step above'],
  ],
  [
    'an EventId given twice',
    withSteps('schedule: { EventId: A }', 'schedule: { EventId: a }'),
    ['steps[1].schedule.EventId: is used in a step above: an EventId can be used only once'],
  ],
  [
    'an EventId for several events',
    withSteps('schedule: { EventId: A, count: 2 }'),
    ['steps[0].schedule.EventId: cannot be set for several events (count): an EventId can be used only once'],
  ],
  [
    'an EventId in a repeating scenario',
    '{ purpose: p, every: 1h, steps: [{ schedule: { EventId: A } }] }',
    ['steps[0].schedule.EventId: cannot be set in a scenario that repeats (every): an EventId can be used only once'],
  ],
  [
    'a transition of an unknown event',
    withSteps('schedule: { as: freeze }', 'cancel: freze'),
    [
      'steps[1].cancel: is not the name (as) of an event that a step above schedules (allowed: freeze); did you mean freeze?',
    ],
  ],
  [
    'a transition of an event that is scheduled later',
    withSteps('start: a', 'end: a', 'change: { event: a, notice: 1m }', 'schedule: { as: a }'),
    [
      'steps[0].start: is not the name (as) of an event that a step above schedules',
      'steps[1].end: is not the name (as) of an event that a step above schedules',
      'steps[2].change.event: is not the name (as) of an event that a step above schedules',
    ],
  ],
  ['a move of nothing', withSteps('cancel: ""'), ['steps[0].cancel: must not be empty']],
  ['a change of nothing', withSteps('change: { notice: 1m }'), ['steps[0].change.event: is missing']],
  [
    'a change that changes nothing',
    withSteps('schedule: { as: a }', 'change: { event: a }'),
    ['steps[1].change: changes nothing: add a field to change'],
  ],
  [
    'a change of an EventId',
    withSteps('schedule: { as: a }', 'change: { event: a, EventId: B }'),
    [`steps[1].change.EventId: is not a key of the scenario (allowed: event, ${CHANGEABLE})`],
  ],
  [
    'faults of a fault',
    withSteps(
      'fault: { status: 99, truncate: -1, times: 0, for: 1, vm: vm:a, headers: { "a b": 1 }, body: 1, resett: true }',
    ),
    [
      'steps[0].fault.resett: is not a key of the scenario (allowed: status, body, headers, delay, reset, truncate, stale, times, for, vm, method, path, apiVersion); did you mean reset?',
      'steps[0].fault.status: must be at least 200',
      'steps[0].fault.body: must be a text, an object or a list',
      'steps[0].fault.headers.a b: is not a valid header name',
      'steps[0].fault.truncate: must be at least 0',
      'steps[0].fault.times: must be at least 1',
      `steps[0].fault.for: ${DURATION}`,
      `steps[0].fault.vm: ${MACHINE}`,
    ],
  ],
  [
    'a fault that changes no answer',
    withSteps('fault: { times: 3, for: 10s }'),
    [
      'steps[0].fault: changes no answer: give status, body, headers, delay, reset, truncate or stale, or {} to clear faults',
    ],
  ],
  [
    'an invalid incarnation',
    withSteps('incarnation: again', 'incarnation: { skip: 0 }'),
    [
      'steps[0].incarnation: must be restart, or { skip: N } with N from 1 to 1000000',
      'steps[1].incarnation.skip: must be at least 1',
    ],
  ],
  ['a switch that is not switched', withSteps('switchOff: false'), ['steps[0].switchOff: must be true']],
  [
    'more steps than are played',
    `purpose: p\nsteps: [${'{schedule: {}},'.repeat(10_001)}]`,
    ['steps: must have at most 10000 members'],
  ],
];

for (const [title, text, faults] of CASES) {
  test(`a scenario with ${title} is refused`, () => assert.deepEqual(faultsOf(text), faults));
}

test('a fault does not list the names of events if there are more than 20', () => {
  const named = (count: number) => Array.from({ length: count }, (_, index) => `schedule: { as: event-${index} }`);
  const [few, many] = [20, 21].map((count) => faultsOf(withSteps(...named(count), 'cancel: event-x')).join());
  assert.match(few ?? '', /\(allowed: event-0, .*, event-19\); did you mean event-/);
  assert.match(many ?? '', /a step above schedules; did you mean event-\d\?$/);
});

test('all faults of a file are reported at once, including those between steps', () => {
  const text = `
purpose: 1
every: 1m
bogus: 1
steps:
  - { after: 5m, schedule: { as: a, notice: 1 } }
  - { after: 4m, cancel: b }
  - { after: x, fault: { status: 1 }, switchOff: true }
`;
  assert.deepEqual(
    faultsOf(text).map((line) => line.split(': ')[0]),
    [
      'bogus',
      'purpose',
      'steps[0].schedule.notice',
      'steps[2].after',
      'steps[2].fault.status',
      'steps[1].after',
      'steps[1].cancel',
      'steps[2]',
      'every',
    ],
  );
});

test('any text gives a script or faults, never an exception', () => {
  const word = fc.constantFrom(
    'purpose',
    'steps',
    'after',
    'schedule',
    'cancel',
    'fault',
    '5m',
    'vm:0',
    '__proto__',
    'count',
    'change',
    'every',
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      word,
      fc.integer(),
      fc.constant(null),
      fc.boolean(),
      tie('list'),
      tie('mapping'),
    ),
    list: fc.array(tie('any'), { maxLength: 3 }),
    mapping: fc.dictionary(word, tie('any'), { maxKeys: 4 }),
  })).any;
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        value.map((data) => JSON.stringify(data)),
      ),
      (text) => {
        const read = readScenario(text, 'any');
        assert.ok('script' in read || read.faults.length > 0);
      },
    ),
    { numRuns: 500 },
  );
});
