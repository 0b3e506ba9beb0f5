// Shipped scenarios and users' files → valid scripts whose events end legally.
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Script } from '../../../src/simulator/script/script.ts';
import { findScenario, shippedScenarios } from '../../../src/simulator/shipped-scenarios.ts';
import { type Life, ScenarioPlay } from '../../docs/scenario-play.ts';
import { folderOf } from '../../support/folder.ts';
import { jsonOf } from '../../virtual/simulation.ts';

const FOLDER = join(import.meta.dirname, '../../../src/simulator/scenarios');
const SCRIPTS = await shippedScenarios();
const MINUTE = 60_000;

function shipped(name: string): Script {
  return SCRIPTS.find((script) => script.name === name) ?? assert.fail(`no scenario ${name}`);
}

function play(name: string, options: ConstructorParameters<typeof ScenarioPlay>[1] = {}): ScenarioPlay {
  return new ScenarioPlay(shipped(name), options).run();
}

function onlyLife(played: ScenarioPlay): Life {
  const [life, ...others] = [...played.lives.values()];
  assert.equal(others.length, 0);
  return life ?? assert.fail('nothing was scheduled');
}

test("every shipped file is a scenario with the file's name, and the demo is first", () => {
  const files = globSync('*', { cwd: FOLDER });
  assert.deepEqual(SCRIPTS.map(({ name }) => `${name}.yaml`).sort(), files.sort());
  assert.equal(SCRIPTS[0]?.name, 'demo');
  for (const { name } of SCRIPTS) assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
});

test('the first lines of every shipped file describe it and cite existing rows of docs/simulate/fidelity.md', () => {
  const rows = readFileSync(join(import.meta.dirname, '../../../docs/simulate/fidelity.md'), 'utf8');
  for (const file of globSync('*.yaml', { cwd: FOLDER })) {
    const comment = /^(?:#.*\n)+/.exec(readFileSync(join(FOLDER, file), 'utf8'))?.[0] ?? '';
    const named = comment.match(/\bF-\d+\b/g) ?? [];
    assert.ok(named.length > 0, file);
    for (const row of named) assert.ok(rows.includes(`\n| ${row} | `), `${file}: ${row}`);
  }
});

test('each shipped scenario has its own purpose, which fits a terminal line', () => {
  const purposes = SCRIPTS.map(({ purpose }) => purpose);
  assert.equal(new Set(purposes).size, purposes.length);
  for (const purpose of purposes) assert.ok(purpose.length <= 120, purpose);
});

const LEGAL = ['Scheduled,Started', 'Scheduled', 'Started'];
const RFC_1123 =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;

for (const script of SCRIPTS) {
  test(`${script.name}: every event ends legally, in groups of 1, 2 and 5, approved or not`, () => {
    for (const vms of [1, 2, 5]) {
      for (const approves of [false, true]) {
        const played = new ScenarioPlay(script, { vms, approves }).run();
        const where = `${vms} machines, ${approves ? 'approved' : 'not approved'}`;
        assert.ok(played.lives.size > 0, `${where}: nothing happened`);
        assert.deepEqual(played.group.events.entries(), [], where);
        for (const { statuses, notBefores, goneAtMs } of played.lives.values()) {
          assert.ok(LEGAL.includes(statuses.join()), `${where}: ${statuses.join(', ')}`);
          assert.notEqual(goneAtMs, null, where);
          for (const notBefore of notBefores)
            assert.ok(notBefore === '' || RFC_1123.test(notBefore), `${where}: ${notBefore}`);
        }
        for (const { name } of played.group.machines)
          assert.deepEqual(played.ask(name, '2024-07-09').Events, [], where);
      }
    }
  });
}

for (const approves of [true, false]) {
  test(`documentation-example gives the documents of the documentation in their order, ${approves ? 'approved' : 'not approved'}`, () => {
    const played = play('documentation-example', { approves, apiVersion: '2020-07-01' });
    const eventId = onlyLife(played).eventId;
    const event = {
      EventId: eventId,
      EventType: 'Freeze',
      ResourceType: 'VirtualMachine',
      Resources: ['WestNO_0', 'WestNO_1'],
      EventStatus: 'Scheduled',
      NotBefore: new Date(Date.UTC(2026, 0, 1, 0, 16)).toUTCString(),
      Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
      EventSource: 'Platform',
      DurationInSeconds: 5,
    };
    for (const vm of ['WestNO_0', 'WestNO_1']) {
      assert.deepEqual(played.documents(vm), [
        { DocumentIncarnation: 1, Events: [] },
        { DocumentIncarnation: 2, Events: [event] },
        { DocumentIncarnation: 3, Events: [{ ...event, EventStatus: 'Started', NotBefore: '' }] },
        { DocumentIncarnation: 4, Events: [] },
      ]);
    }
  });
}

test('live-migration keeps the typical times: 15 min Scheduled without approval, 10 min Started', () => {
  const { seenAtMs, startedAtMs, goneAtMs } = onlyLife(play('live-migration'));
  assert.deepEqual([seenAtMs, startedAtMs, goneAtMs], [0, 15 * MINUTE, 25 * MINUTE]);
});

test('shared-hardware stays Scheduled after its approval and past its NotBefore', () => {
  assert.equal(onlyLife(play('shared-hardware', { approves: true })).startedAtMs, 20 * MINUTE);
  assert.equal(onlyLife(play('shared-hardware')).startedAtMs, 35 * MINUTE);
});

test('cancelled-maintenance is cancelled after 8 min, unless it was approved', () => {
  const { statuses, goneAtMs } = onlyLife(play('cancelled-maintenance'));
  assert.deepEqual([statuses, goneAtMs], [['Scheduled'], 8 * MINUTE]);
  assert.deepEqual(onlyLife(play('cancelled-maintenance', { approves: true })).statuses, ['Scheduled', 'Started']);
});

test('cancelled-after-approval is cancelled after 8 min, approved or not', () => {
  for (const approves of [false, true]) {
    const { statuses, goneAtMs } = onlyLife(play('cancelled-after-approval', { approves }));
    assert.deepEqual([statuses, goneAtMs], [['Scheduled'], 8 * MINUTE]);
  }
});

test('failures without notice are Started from the beginning', () => {
  for (const name of ['host-failure', 'hardware-failure', 'hardware-failure-reboot', 'auto-approved-user-reboot'])
    assert.deepEqual(onlyLife(play(name)).statuses, ['Started'], name);
});

for (const [name, type] of [
  ['hardware-failure', 'Redeploy'],
  ['hardware-failure-reboot', 'Reboot'],
] as const) {
  test(`${name} is a ${type} by the Platform that machine 0 cannot read`, () => {
    const played = play(name);
    const [event] = played.documents('sim_1').flatMap(({ Events }) => Events);
    assert.deepEqual([event?.EventType, event?.EventSource, event?.Resources], [type, 'Platform', ['sim_0']]);
    const silent = played.polls.filter(({ answer }) => answer.reset);
    assert.ok(silent.length > 0 && silent.every(({ vm }) => vm === 'sim_0'));
  });
}

test('auto-approved-user-reboot is still found by its former name', async () => {
  const script = await findScenario('user-reboot-at-once');
  assert.equal(script.name, 'auto-approved-user-reboot');
  const [event] = play('auto-approved-user-reboot')
    .documents('sim_0')
    .flatMap(({ Events }) => Events);
  assert.deepEqual([event?.EventType, event?.EventSource, event?.EventStatus], ['Reboot', 'User', 'Started']);
});

test('all-instances-down starts before its NotBefore while no machine gets an answer, unless it was approved before', () => {
  const played = play('all-instances-down');
  const { statuses, notBefores, startedAtMs } = onlyLife(played);
  assert.deepEqual([statuses, startedAtMs], [['Scheduled', 'Started'], 4 * MINUTE]);
  assert.equal((Date.parse(notBefores[0] ?? '') - Date.UTC(2026, 0, 1)) / MINUTE, 11);
  const down = played.polls.filter(({ atMs }) => atMs >= 3 * MINUTE && atMs < 7 * MINUTE);
  assert.deepEqual(new Set(down.map(({ vm }) => vm)), new Set(['sim_0', 'sim_1']));
  assert.ok(down.every(({ answer }) => answer.reset));
  assert.equal(onlyLife(play('all-instances-down', { approves: true })).startedAtMs, MINUTE);
});

test('host-failure names all machines, and the siblings read it while machine 0 gets no answer', () => {
  const played = play('host-failure');
  const [first, second] = played.group.machines.map(({ name }) => name);
  const hit = played.polls.filter(({ vm, atMs }) => vm === first && atMs >= MINUTE && atMs < 4 * MINUTE);
  assert.ok(hit.length > 0 && hit.every(({ answer }) => answer.reset));
  const sibling = played.polls.find(({ vm, atMs }) => vm === second && atMs === MINUTE) ?? assert.fail('no poll');
  const [event] = jsonOf<{ Events: { Resources: string[] }[] }>(sibling.answer).Events;
  assert.deepEqual(event?.Resources, ['sim_0', 'sim_1', 'sim_2']);
});

test('in secondary-impact machine 0 gets no answers while the event is Started, approved or not', () => {
  for (const approves of [false, true]) {
    const played = play('secondary-impact', { approves });
    const { startedAtMs, goneAtMs } = onlyLife(played);
    const silent = played.polls.filter(({ answer }) => answer.reset);
    assert.deepEqual(
      silent.map(({ vm, atMs }) => [vm, atMs / MINUTE]),
      [16, 20, 25].map((minute) => ['sim_0', minute]),
    );
    for (const { atMs } of silent) assert.ok(atMs > (startedAtMs ?? Number.NaN) && atMs < (goneAtMs ?? Number.NaN));
  }
});

test('rescheduled moves NotBefore twice and keeps the EventId', () => {
  const { notBefores, startedAtMs } = onlyLife(play('rescheduled'));
  assert.deepEqual(
    notBefores.map((text) => (text === '' ? '' : (Date.parse(text) - Date.UTC(2026, 0, 1)) / MINUTE)),
    [15, 25, 40, ''],
  );
  assert.equal(startedAtMs, 40 * MINUTE);
});

test('flapping-service fails in many ways while the event stays listed', () => {
  const played = play('flapping-service', { vms: 1 });
  const ways = played.polls.map(({ answer: { status, reset, truncate, delayMs, body } }) =>
    reset
      ? 'reset'
      : truncate !== undefined
        ? 'half'
        : delayMs !== undefined
          ? 'late'
          : body.length === 0
            ? `${status} empty`
            : String(status),
  );
  assert.deepEqual([...new Set(ways)].sort(), [
    '200',
    '200 empty',
    '404',
    '410 empty',
    '429 empty',
    '503 empty',
    '504',
    'half',
    'late',
    'reset',
  ]);
  assert.equal(onlyLife(played).startedAtMs, 15 * MINUTE);
});

test('stale-documents goes back to an older document, and its incarnation skips and restarts', () => {
  const incarnations = play('stale-documents', { vms: 1 })
    .documents('sim_0')
    .map(({ DocumentIncarnation }) => DocumentIncarnation);
  assert.deepEqual(incarnations, [1, 2, 3, 2, 3, 193, 1, 2, 3, 4]);
});

test('silence-24h restarts the incarnation and lists no event for 5 min, then the event with its old EventId', () => {
  const played = play('silence-24h', { vms: 1 });
  const documents = played.documents('sim_0');
  assert.deepEqual(
    documents.map(({ DocumentIncarnation, Events }) => [DocumentIncarnation, Events.length]),
    [
      [1, 0],
      [2, 1],
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 0],
    ],
  );
  assert.equal(new Set(documents.flatMap(({ Events }) => Events.map(({ EventId }) => EventId))).size, 1);
});

test('storm lists 1,000 events in one document', () => {
  const documents = play('storm', { vms: 1 }).documents('sim_0');
  assert.deepEqual(
    documents.map(({ Events }) => Events.length),
    [0, 1000, 1000, 0],
  );
});

test('spot-rebalance shows its recommendation only in api-version 2024-07-09', () => {
  const types = (apiVersion: string) =>
    new Set(
      play('spot-rebalance', { vms: 1, apiVersion })
        .documents('sim_0')
        .flatMap(({ Events }) => Events.map(({ EventType }) => EventType)),
    );
  assert.deepEqual([...types('2024-07-09')], ['SpotRebalanceRecommendation', 'Preempt']);
  assert.deepEqual([...types('2020-07-01')], ['Preempt']);
});

test('gpu-own-events shows each machine only its own event', () => {
  const played = play('gpu-own-events');
  const seen = (vm: string) =>
    new Set(played.documents(vm).flatMap(({ Events }) => Events.map(({ EventType }) => EventType)));
  assert.deepEqual([[...seen('gpu_0')], [...seen('gpu_1')]], [['Reboot'], ['Redeploy']]);
});

for (const name of ['rolling-maintenance', 'guest-os-upgrade']) {
  test(`${name} affects each machine of a set of 7 once, never two fault domains at a time`, () => {
    const played = play(name, { vms: 7 });
    const named = [...played.lives.values()].length;
    assert.equal(named, 5);
    const documents = played.documents('web_0');
    assert.ok(documents.every(({ Events }) => Events.length <= 1));
    const resources = documents.flatMap(({ Events }) =>
      Events.filter(({ EventStatus }) => EventStatus === 'Started').flatMap((event) => event.Resources),
    );
    assert.deepEqual(
      resources.toSorted(),
      played.group.machines.map((machine) => machine.name),
    );
  });
}

test('busy-month begins again after 30 days, with new EventIds', () => {
  const played = play('busy-month');
  played.group.clock.advance(31 * 24 * 60 * MINUTE - played.nowMs);
  played.group.catchUp();
  const [again, ...others] = played.group.events.entries();
  assert.deepEqual([again?.event.EventType, others.length], ['Freeze', 0]);
  assert.equal(played.lives.has(again?.event.EventId ?? ''), false);
});

test('predicted-failure is announced a week ahead', () => {
  assert.equal(onlyLife(play('predicted-failure')).startedAtMs, 7 * 24 * 60 * MINUTE);
});

test('predicted-failure redeploys at once if it is approved, as recommended', () => {
  assert.equal(onlyLife(play('predicted-failure', { approves: true })).startedAtMs, 0);
});

function fileWith(t: TestContext, content: string | Uint8Array, name = 'my-own.yaml'): string {
  const path = join(folderOf(t), name);
  writeFileSync(path, content);
  return path;
}

test("a user's scenario has the name of its file", async (t) => {
  const script = await findScenario(fileWith(t, 'purpose: mine\nsteps: [{ schedule: {} }]\n'));
  assert.deepEqual([script.name, script.purpose], ['my-own', 'mine']);
});

test('an invalid file is refused with every fault on its own line', async (t) => {
  const path = fileWith(t, 'steps: [{ schedule: { notice: 5 } }, { cancel: x }]');
  await assert.rejects(findScenario(path), {
    code: 'BRIDGE_SIMULATOR_SCENARIO',
    message: [
      `the scenario ${path} has 3 faults:`,
      'purpose: is missing',
      'steps[0].schedule.notice: must be a duration such as 500ms, 10s, 15m or 30d',
      'steps[1].cancel: is not the name (as) of an event that a step above schedules',
    ].join('\n  '),
  });
  const single = fileWith(t, 'steps: [{ schedule: {} }]');
  await assert.rejects(findScenario(single), { message: `the scenario ${single} has a fault:\n  purpose: is missing` });
});

test('a file that is missing, a folder, too large or not text is refused with the reason', async (t) => {
  const path = fileWith(t, new Uint8Array([0xff, 0xfe, 0x00]));
  await assert.rejects(findScenario(path), {
    code: 'BRIDGE_SIMULATOR_SCENARIO',
    message: `the scenario ${path} is not UTF-8 text: save it in UTF-8`,
  });
  for (const [unreadable, reason] of [
    [`${path}.not`, 'ENOENT'],
    [join(path, '..'), 'EISDIR'],
  ] as const) {
    await assert.rejects(findScenario(unreadable), (error: Error & { code: string }) => {
      assert.equal(error.code, 'BRIDGE_SIMULATOR_SCENARIO');
      assert.ok(error.message.startsWith(`the scenario ${unreadable} cannot be read: ${reason}`), error.message);
      return true;
    });
  }
  const long = fileWith(t, `purpose: p\n${'#'.repeat(1024 * 1024)}`);
  await assert.rejects(findScenario(long), {
    message: `the scenario ${long} is larger than 1 MiB: split it into several scenarios`,
  });
  await assert.rejects(findScenario('/dev/zero'), {
    message: 'the scenario /dev/zero is larger than 1 MiB: split it into several scenarios',
  });
});

test('a file of exactly 1 MiB is read', async (t) => {
  const text = 'purpose: p\nsteps: [{ schedule: {} }]\n#';
  const path = fileWith(t, text + '#'.repeat(1024 * 1024 - text.length));
  assert.equal((await findScenario(path)).purpose, 'p');
});

test('a scenario is found by its name, or by its path', async (t) => {
  assert.equal((await findScenario('live-migration')).name, 'live-migration');
  const path = fileWith(t, 'purpose: mine\nsteps: [{ schedule: {} }]\n', 'live-migration.yml');
  assert.equal((await findScenario(path)).purpose, 'mine');
  assert.equal(basename(path, '.yml'), (await findScenario(path)).name);
});

test('an unknown name is refused with the most similar one, or with all names', async () => {
  await assert.rejects(findScenario('live-migraton'), {
    code: 'BRIDGE_USAGE',
    message: 'there is no scenario "live-migraton"; did you mean live-migration?',
  });
  await assert.rejects(
    findScenario('nothing-like-it'),
    /choose one of demo, .*, or give the path of a file, such as \.\/nothing-like-it\.yaml$/,
  );
});
