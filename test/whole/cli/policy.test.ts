// `policy test` → which rule decides about events of a file or scenario; what it refuses.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { type Ended, run, start } from '../../support/program.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

const APPROVALS = `
  approvers:
    orders: { token: { env: ORDERS_TOKEN } }
    billing: { token: { env: BILLING_TOKEN }, scope: { impacts: [Freeze, Reboot] } }
  policy:
    - { when: { initiators: [User] }, then: approve }
    - { when: { impacts: [Redeploy], resources: ["web_*"] }, then: wait, required: all, deadline: { before: 2m, then: approve } }
    - { when: { impacts: [Terminate] }, then: never }
    - { when: { impacts: [Reboot] }, then: wait, required: 2 }
`;
const ENV = { ORDERS_TOKEN: 'correct-horse-battery-staple', BILLING_TOKEN: 'another-horse-another-staple' };

/** In the distance, so that no deadline lies behind. */
const EVENT = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventType: 'Redeploy',
  Resources: ['web_0'],
  EventSource: 'Platform',
  NotBefore: 'Fri, 01 Jan 2100 00:00:00 GMT',
};

/** The arguments that ask a bridge with these approvals, without a metadata service that could be asked. */
function configured(t: TestContext, approvals = APPROVALS): string[] {
  const config = join(folderOf(t), 'bridge.yaml');
  writeFileSync(
    config,
    `version: 1\nmetadata: { endpoint: "http://127.0.0.1:1", apiVersion: newest }\napprovals:${approvals}`,
  );
  return ['policy', 'test', '--config', config];
}

function judge(t: TestContext, event: unknown, approvals?: string): Promise<Ended> {
  const input = typeof event === 'string' ? event : JSON.stringify(event);
  return run(t, [...configured(t, approvals), '--event', '-'], { env: ENV, input });
}

function decisionsOf({ code, stdout, stderr }: Ended): Record<string, unknown>[] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("an event in the metadata service's form is decided with rule, time and reasons, from a file too", async (t) => {
  const file = join(folderOf(t), 'event.json');
  writeFileSync(file, JSON.stringify(EVENT));
  const [decision, ...more] = decisionsOf(await run(t, [...configured(t), '--event', file], { env: ENV }));
  assert.deepEqual(more, []);
  const { at, ...rest } = decision ?? {};
  assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    eventId: EVENT.EventId,
    eventType: 'Redeploy',
    eventStatus: 'Scheduled',
    eventSource: 'Platform',
    resources: ['web_0'],
    notBefore: '2100-01-01T00:00:00Z',
    durationInSeconds: -1,
    policy: 'policy[1]',
    then: 'wait',
    required: 'all',
    waitingFor: ['orders'],
    canBeApproved: true,
    deadline: { at: '2099-12-31T23:58:00Z', then: 'approve', because: null },
    window: null,
    nextStep: { action: 'approve', at: '2099-12-31T23:58:00.000Z', by: 'policy[1]' },
    heldBackBy: [],
    passedOver: [
      {
        rule: 'policy[0]',
        index: 0,
        unmet: [{ condition: 'initiators', because: 'asks for User, and it is from Platform' }],
      },
    ],
  });
});

test('a document is decided event by event', async (t) => {
  const events = [
    { ...EVENT, EventSource: 'User' },
    { ...EVENT, EventType: 'Terminate' },
    { ...EVENT, EventStatus: 'Started' },
    EVENT,
  ];
  const decisions = decisionsOf(await judge(t, { DocumentIncarnation: 3, Events: events }));
  assert.deepEqual(
    decisions.map(({ policy, then }) => [policy, then]),
    [
      ['policy[0]', 'approve'],
      ['policy[2]', 'never'],
      [null, null],
      ['policy[1]', 'wait'],
    ],
  );
  assert.deepEqual(decisionsOf(await judge(t, { DocumentIncarnation: 3, Events: [] })), []);
});

/** A `scheduled` CloudEvent of ours, as far as it counts here. */
function cloudEvent(data: object = {}) {
  const common = { eventId: EVENT.EventId, eventType: 'Redeploy', eventStatus: 'Scheduled', eventSource: 'Platform' };
  const event = {
    ...common,
    resources: ['web_0'],
    notBefore: '2026-11-21T10:10:00Z',
    durationInSeconds: -1,
    observer: {},
    ...data,
  };
  return {
    specversion: '1.0',
    type: 'io.github.scheduled-events-bridge.scheduled.v1',
    time: '2026-11-21T10:00:00.123Z',
    data: event,
  };
}

test('a CloudEvent of ours is decided at its time', async (t) => {
  const [decision] = decisionsOf(await judge(t, cloudEvent()));
  assert.deepEqual([decision?.['at'], decision?.['policy']], ['2026-11-21T10:00:00Z', 'policy[1]']);
  assert.deepEqual(decision?.['deadline'], { at: '2026-11-21T10:08:00Z', then: 'approve', because: null });
});

test('a deadline in the past, and one whose rule does not cover every machine, leave the event to Azure', async (t) => {
  const deadlines = [{ notBefore: '2026-11-21T10:01:00Z' }, { resources: ['web_0', 'db_0'] }];
  const decisions = await Promise.all(
    deadlines.map(async (data) => decisionsOf(await judge(t, cloudEvent(data)))[0]?.['deadline']),
  );
  assert.deepEqual(decisions, [
    { at: '2026-11-21T09:59:00Z', then: 'leave', because: 'past' },
    { at: '2026-11-21T10:08:00Z', then: 'leave', because: 'resources' },
  ]);
});

test('a wait that no approver can end says so', async (t) => {
  const approvers = '\n  approvers: { billing: { token: { env: BILLING_TOKEN }, scope: { impacts: [Freeze] } } }';
  const [decision] = decisionsOf(await judge(t, EVENT, approvers));
  assert.deepEqual(
    [decision?.['policy'], decision?.['then'], decision?.['waitingFor'], decision?.['canBeApproved']],
    [null, 'wait', [], false],
  );
});

const NO_EVENT: readonly (readonly [event: unknown, says: RegExp])[] = [
  ['{', /standard input has no event: it is not valid JSON in UTF-8/],
  ['[]', /its JSON is not an object/],
  [{ ...EVENT, EventId: '' }, /the event needs an EventId/],
  [{ ...EVENT, EventStatus: 'Completed' }, /the event has an EventStatus other than Scheduled or Started/],
  [
    { Events: [EVENT, { ...EVENT, Resources: 'web_0', NotBefore: 'soon' }] },
    /Events\[1\] has a Resources and a NotBefore of the wrong type/,
  ],
  [{ Events: {} }, /its Events is not a list/],
  [cloudEvent({ eventStatus: 'Ended' }), /the event has ended/],
  [{ specversion: '1.0', data: { since: null } }, /the CloudEvent does not describe a change of an event/],
];
for (const [event, says] of NO_EVENT) {
  test(`what holds no event is refused with exit code 2: ${says.source}`, async (t) => {
    const { code, stdout, stderr } = await judge(t, event);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr);
    assert.match(stderr, says);
  });
}

test('a file that is not there is refused with exit code 2, a bad configuration with 78', async (t) => {
  const missing = await run(t, [...configured(t), '--event', '/nowhere/event.json'], { env: ENV });
  assert.deepEqual([missing.code, missing.stdout], [2, '']);
  assert.match(missing.stderr, /--event: \/nowhere\/event\.json cannot be read: ENOENT/);
  const bad = await run(t, configured(t, '\n  policy: [{ when: {}, then: perhaps }]'), { env: ENV });
  assert.deepEqual([bad.code, bad.stdout], [78, '']);
  assert.match(bad.stderr, /approvals\.policy\[0\]\.then: is not an allowed value/);
});

test('a scenario is decided at each change, as often as it is played, on the machines that are asked for', async (t) => {
  const args = [...configured(t), '--scenario', 'rescheduled', '--vms', '1', '--name', 'web'];
  const [first, again] = [await run(t, args, { env: ENV }), await run(t, args, { env: ENV })];
  assert.equal(again.stdout, first.stdout);
  const decisions = decisionsOf(first);
  assert.deepEqual(
    decisions.map(({ scenario, at, notBefore, resources }) => [scenario, at, notBefore, resources]),
    [
      ['rescheduled', '2026-01-01T00:00:00Z', '2026-01-01T00:15:00Z', ['web_0']],
      ['rescheduled', '2026-01-01T00:05:00Z', '2026-01-01T00:25:00Z', ['web_0']],
      ['rescheduled', '2026-01-01T00:10:00Z', '2026-01-01T00:40:00Z', ['web_0']],
    ],
  );
});

test('without an event or a scenario it decides about all scenarios that are shipped', async (t) => {
  const decisions = decisionsOf(await run(t, configured(t), { env: ENV }));
  const told = new Map(decisions.map(({ scenario, policy, then }) => [scenario, [policy, then]]));
  assert.ok(told.size > 30);
  assert.deepEqual(told.get('user-redeploy'), ['policy[0]', 'approve']);
  assert.deepEqual(told.get('host-failure'), [null, null]);
  const advice = decisions.find(({ eventType }) => eventType === 'SpotRebalanceRecommendation');
  assert.deepEqual([advice?.['policy'], advice?.['then'], advice?.['passedOver']], [null, 'never', []]);
});

const OWN_TERMS = `
  windows: { nights: { days: [Mon, Tue, Wed, Thu, Fri], from: "22:00", to: "05:00", timeZone: Europe/Berlin } }
  budgets: { databases: { resources: ["db_*"], atMost: 1 } }
  policy:
    - { when: { initiators: [Platform] }, then: approve, during: [nights], budgets: [databases] }
`;

/** What each line says of windows and budgets. */
function termsOf(ended: Ended): readonly unknown[] {
  return decisionsOf(ended).map(({ eventId, window, nextStep, heldBackBy }) => [eventId, window, nextStep, heldBackBy]);
}

test('the events of a file are decided together, by windows and budgets, as of --at', async (t) => {
  const events = ['b', 'a', 'c'].map((EventId) => ({ ...EVENT, EventId, Resources: [`db_${EventId}`] }));
  const judgedAt = (at: string) =>
    run(t, [...configured(t, OWN_TERMS), '--event', '-', '--at', at], {
      env: ENV,
      input: JSON.stringify({ DocumentIncarnation: 1, Events: events }),
    });
  const held = ['nights', { action: 'approve', at: null, by: 'policy[0]' }, ['databases']];
  const approved = (at: string) => ['nights', { action: 'approve', at, by: 'policy[0]' }, []];
  // A summer night: 22:30 in Berlin. The first of one NotBefore is the one with the first EventId.
  assert.deepEqual(termsOf(await judgedAt('2026-06-01T22:30:00+02:00')), [
    ['b', ...held],
    ['a', ...approved('2026-06-01T20:30:00.000Z')],
    ['c', ...held],
  ]);
  // The day before the change to summer time, a Saturday: the next night is that of Monday.
  const monday = approved('2026-03-30T20:00:00.000Z');
  assert.deepEqual(termsOf(await judgedAt('2026-03-28T12:00:00Z')), [
    ['b', ...monday],
    ['a', ...monday],
    ['c', ...monday],
  ]);
});

test('a month is played from --at, and the same at each run', async (t) => {
  const args = [...configured(t, OWN_TERMS), '--scenario', 'busy-month', '--at', '2026-03-15T12:00:00Z'];
  const [first, again] = [await run(t, args, { env: ENV }), await run(t, args, { env: ENV })];
  assert.equal(again.stdout, first.stdout);
  const decisions = decisionsOf(first);
  assert.equal(decisions[0]?.['at'], '2026-03-16T12:00:00Z');
  // Announced on a Saturday, a week ahead: the first night is that of Monday.
  const predicted = decisions.find(({ notBefore }) => notBefore === '2026-03-28T12:00:00Z');
  assert.deepEqual(
    [predicted?.['at'], predicted?.['nextStep']],
    ['2026-03-21T12:00:00Z', { action: 'approve', at: '2026-03-23T21:00:00.000Z', by: 'policy[0]' }],
  );
});

for (const at of ['soon', '2026-03-15', '2026-02-30T00:00:00Z', '9999-12-31T23:59:59Z', '']) {
  test(`--at "${at}" is refused with exit code 2`, async (t) => {
    const { code, stdout, stderr } = await run(t, [...configured(t), '--at', at], { env: ENV });
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr);
    assert.match(stderr, /--at takes (RFC 3339 with seconds and a zone|a time from the years 1970 to 8999)/);
  });
}

test('on a terminal it prints sentences, and equal decisions once', { skip }, async (t) => {
  const onTerminal = async (...more: readonly string[]) => {
    const args = [process.execPath, MAIN, ...configured(t), ...more];
    const { code, stdout } = await start(t, args, { node: 'python3', main: ON_TERMINAL, env: ENV }).ended();
    assert.equal(code, 0, stdout);
    return stdout.replaceAll('\r', '');
  };
  const redeploy = await onTerminal('--scenario', 'redeploy', '--name', 'web_0');
  assert.match(redeploy, /^redeploy: a redeploy by the platform/);
  assert.match(redeploy, /Redeploy of web_0 from Platform, of unknown length, not before 2026-01-01T00:10:00Z\n/);
  assert.match(
    redeploy,
    /\n {4}policy\[1\]: wait for orders; approve at 2026-01-01T00:08:00Z if it is still waiting\n/,
  );
  assert.match(redeploy, /\n {4}not policy\[0\]: asks for User, and it is from Platform\n/);
  assert.match(
    await onTerminal('--scenario', 'storm'),
    /1000 events {2}Freeze of .*\n {4}no rule matches: wait for any of orders, billing\n/,
  );
  assert.match(await onTerminal('--scenario', 'platform-reboot'), /policy\[3\]: wait for 2 of orders, billing\n/);
});

test('the table on a terminal fits 80 columns and one line for each row, whatever the names', { skip }, async (t) => {
  const file = join(folderOf(t), 'document.json');
  const resources = ['db_\u001b[31m\n\u202ered', 'db_1'.padEnd(300, 'x')];
  const events = resources.map((name, index) => ({ ...EVENT, EventId: `${index}\u001b]0;x\u0007`, Resources: [name] }));
  writeFileSync(file, JSON.stringify({ DocumentIncarnation: 1, Events: events }));
  const words = [...configured(t, OWN_TERMS), '--event', file, '--at', '2026-06-01T22:30:00+02:00'];
  const args = [process.execPath, MAIN, ...words];
  const { code, stdout } = await start(t, args, { node: 'python3', main: ON_TERMINAL, env: ENV }).ended();
  assert.equal(code, 0, stdout);
  const lines = stdout.replaceAll('\r', '').trimEnd().split('\n');
  const table = lines.slice(lines.findIndex((line) => line.startsWith('  event ')));
  assert.equal(table.length, 3, stdout);
  assert.match(table[0] ?? '', /^ {2}event +window {2}moment +budget$/);
  assert.match(table[1] ?? '', / {2}nights {2}approve 2026-06-01T20:30:00Z {2}-$/);
  assert.match(table[2] ?? '', /… {2}nights {2}approve when it fits {10}databases$/);
  assert.ok(table.every((line) => line.length <= 80));
  assert.ok([...stdout].every((character) => !'\u001b\u0007\u202e'.includes(character)));
});
