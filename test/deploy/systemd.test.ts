// The .deb on a clean Debian with its own systemd → one life of the service (behaviour 12).
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { poll } from '../support/poll.ts';
import { BootedMachine, noMachine } from './booted-machine.ts';
import { builtPackages } from './built-packages.ts';
import {
  CONFIG,
  configure,
  DATABASE,
  HOOK,
  install,
  installFarSides,
  journal,
  onStore,
  ready,
  received,
  schedule,
} from './installed-service.ts';

const options = { skip: noMachine, timeout: 300_000 };
const DROP_IN = '/etc/systemd/system/scheduled-events-bridge.service.d/test.conf';

let machine: BootedMachine;
let packages = '';
let newer = '';
before(async () => {
  if (noMachine) return;
  packages = builtPackages();
  newer = builtPackages('99.0.0');
  machine = await BootedMachine.boot();
});
after(async () => {
  if (!noMachine) await machine[Symbol.asyncDispose]();
});

const isActive = () => machine.property('ActiveState') === 'active';
const restarts = () => Number(machine.property('NRestarts'));
const active = () => poll(isActive, () => journal(machine), 60_000);

function dropIn(text: string): void {
  machine.run('mkdir', '-p', join(DROP_IN, '..'));
  machine.write(DROP_IN, text);
  machine.run('systemctl', 'daemon-reload');
  machine.run('systemctl', 'restart', 'scheduled-events-bridge');
}

test('after apt install, it runs and reads its metadata service without another command', options, async () => {
  install(machine, packages);
  assert.equal(isActive(), true, journal(machine));
  assert.equal(machine.run('systemctl', 'is-enabled', 'scheduled-events-bridge').trim(), 'enabled');
  installFarSides(machine);
  await ready(machine);
  await poll(
    () => /^watching: 0 events listed$/.test(machine.property('StatusText')),
    () => machine.property('StatusText'),
  );
  const eventId = schedule(machine);
  await poll(() => journal(machine).includes(`"id":"${eventId}:scheduled"`), 'the CloudEvent in the journal');
});

test('systemd finds nothing wrong with the unit, and rates its exposure at 2.0 or better', options, () => {
  // The machine has no `man`, which systemd would ask for the manual page.
  assert.equal(machine.run('systemd-analyze', 'verify', '--man=no', 'scheduled-events-bridge.service'), '');
  const rated = machine.run('systemd-analyze', 'security', '--no-pager', 'scheduled-events-bridge');
  const exposure = Number(/Overall exposure level.*: ([\d.]+)/.exec(rated)?.[1]);
  assert.ok(exposure <= 2, rated);
});

test('a webhook added by the page: the receiver gets the next event, signed with a credential', options, async () => {
  machine.run('install', '-d', '-m', '700', '/etc/scheduled-events-bridge/credentials');
  machine.write('/etc/scheduled-events-bridge/credentials/hook', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLTSw\n');
  dropIn('[Service]\nLoadCredential=hook:/etc/scheduled-events-bridge/credentials/hook\n');
  configure(
    machine,
    HOOK.replace(' }\n', ', secrets: [ { file: /run/credentials/scheduled-events-bridge.service/hook } ] }\n'),
  );
  await ready(machine);
  assert.equal(await received(machine, schedule(machine)), 1, journal(machine));
});

test(
  'reload: a bad file is rejected with its path, a good one applies at once, and the process stays the same',
  options,
  async () => {
    const [good, pid] = [machine.read(CONFIG), machine.property('MainPID')];
    const reload = (text: string) => {
      machine.write(CONFIG, text);
      machine.run('systemctl', 'reload', 'scheduled-events-bridge');
    };
    reload(`${good}colour: blue\n`);
    await poll(
      () => journal(machine).includes('colour'),
      () => journal(machine),
    );
    reload(good + HOOK.replace('hook:', 'spare:').replace(':9000/', ':9000/spare'));
    await poll(
      () => machine.run('curl', '--silent', 'http://127.0.0.1:8700/readyz').includes('spare'),
      () => journal(machine),
    );
    const eventId = schedule(machine);
    await poll(
      () => new RegExp(`^/spare .*"id":"${eventId}:scheduled"`, 'm').test(machine.read('/root/received')),
      () => journal(machine),
    );
    reload(good);
    assert.equal(machine.property('MainPID'), pid);
  },
);

test('a program that is running at a stop may end normally, and is not run again', options, async () => {
  const good = machine.read(CONFIG);
  const program = 'echo begun > /var/lib/scheduled-events-bridge/begun; sleep 3; echo all is prepared';
  configure(
    machine,
    `  prepare: { type: command, run: [/bin/sh, -c, "${program}"], filter: { changes: [scheduled] } }\n`,
  );
  await ready(machine);
  schedule(machine);
  await poll(
    () => existsSync(join(machine.root, '/var/lib/private/scheduled-events-bridge/begun')),
    () => journal(machine),
  );
  machine.run('systemctl', 'stop', 'scheduled-events-bridge');
  assert.equal(machine.property('Result'), 'success');
  const rows = onStore(machine, 'SELECT sink, state, attempts FROM deliveries ORDER BY seq DESC LIMIT 3');
  assert.deepEqual(
    rows.filter((row) => row['sink'] === 'prepare'),
    [{ sink: 'prepare', state: 'delivered', attempts: 0 }],
  );
  machine.write(CONFIG, good);
  machine.run('systemctl', 'start', 'scheduled-events-bridge');
  await ready(machine);
});

test(
  'a stop gives programs time to clean up, kills one that ignores TERM, and leaves systemd nothing to kill',
  options,
  async () => {
    const good = machine.read(CONFIG);
    const folder = '/var/lib/scheduled-events-bridge';
    const tidy = `trap 'sleep 3; echo undone > ${folder}/undone; exit 1' TERM; echo tidy > ${folder}/tidy; while :; do sleep 0.2; done`;
    const stubborn = `trap '' TERM; echo stubborn > ${folder}/stubborn; while :; do sleep 0.2; done`;
    machine.write('/usr/local/bin/tidy', `#!/bin/sh\n${tidy}\n`);
    machine.write('/usr/local/bin/stubborn', `#!/bin/sh\n${stubborn}\n`);
    machine.run('chmod', '755', '/usr/local/bin/tidy', '/usr/local/bin/stubborn');
    const sink = (name: string) =>
      `  ${name}: { type: command, run: [/usr/local/bin/${name}], filter: { changes: [scheduled] } }\n`;
    configure(machine, sink('tidy') + sink('stubborn'));
    await ready(machine);
    schedule(machine);
    const has = (name: string) => existsSync(join(machine.root, '/var/lib/private/scheduled-events-bridge', name));
    await poll(
      () => has('tidy') && has('stubborn'),
      () => journal(machine),
    );
    machine.run('systemctl', 'stop', 'scheduled-events-bridge');
    assert.deepEqual([machine.property('Result'), has('undone')], ['success', true], journal(machine));
    assert.doesNotMatch(journal(machine), /Killing process|timed out/);
    machine.write(CONFIG, good);
    machine.run('systemctl', 'start', 'scheduled-events-bridge');
    await ready(machine);
  },
);

test('after a kill it restarts within a second, and delivers the rest', options, async () => {
  machine.run('systemctl', 'stop', 'receiver');
  const eventId = schedule(machine);
  await poll(() => journal(machine).includes(`"id":"${eventId}:scheduled"`), 'the CloudEvent in the journal');
  const before = restarts();
  machine.run('systemctl', 'kill', '--kill-who=main', '--signal=SIGKILL', 'scheduled-events-bridge');
  await poll(
    () => restarts() === before + 1 && isActive(),
    () => journal(machine),
    60_000,
  );
  machine.run('systemctl', 'start', 'receiver');
  assert.equal(await received(machine, eventId), 1);
});

test('the watchdog ends a hanging process, and systemd starts it again', options, async () => {
  dropIn(`${machine.read(DROP_IN)}WatchdogSec=3\n`);
  await ready(machine);
  await new Promise((resolve) => setTimeout(resolve, 6000));
  assert.equal(restarts(), 0, 'alive, it is left alone');
  machine.run('systemctl', 'kill', '--kill-who=main', '--signal=SIGSTOP', 'scheduled-events-bridge');
  await poll(
    () => restarts() === 1 && isActive(),
    () => journal(machine),
    60_000,
  );
  assert.match(journal(machine), /Watchdog timeout/);
  await ready(machine);
});

test('a metadata service that never answers does not trigger the watchdog', options, async () => {
  machine.run('systemctl', 'stop', 'azure');
  machine.run('systemctl', 'restart', 'scheduled-events-bridge');
  assert.equal(isActive(), true, 'ready without an answer');
  await new Promise((resolve) => setTimeout(resolve, 6000));
  assert.deepEqual([restarts(), isActive()], [0, true], journal(machine));
  machine.run('systemctl', 'start', 'azure');
  await ready(machine);
});

test('with a bad configuration it stays down with exit code 78 until the file is corrected', options, async () => {
  const good = machine.read(CONFIG);
  machine.write(CONFIG, `${good}colour: blue\n`);
  machine.try('systemctl', 'restart', 'scheduled-events-bridge');
  await poll(
    () => machine.property('ActiveState') === 'failed',
    () => machine.property('ActiveState'),
  );
  assert.deepEqual([machine.property('ExecMainStatus'), restarts()], ['78', 0]);
  assert.match(journal(machine), /colour/);
  machine.write(CONFIG, good);
  machine.run('systemctl', 'start', 'scheduled-events-bridge');
  await ready(machine);
});

test('with a taken port it logs the fault, and runs as soon as the port is free', options, async () => {
  machine.run('systemctl', 'stop', 'scheduled-events-bridge');
  const squat = `require('node:net').createServer().listen(8700, '127.0.0.1')`;
  machine.run(
    'systemd-run',
    '--quiet',
    '--unit=squatter',
    '/usr/lib/scheduled-events-bridge/bin/node',
    '--eval',
    squat,
  );
  machine.try('systemctl', 'start', '--no-block', 'scheduled-events-bridge');
  await poll(
    () => restarts() >= 6,
    () => journal(machine),
    60_000,
  );
  assert.match(journal(machine), /BRIDGE_HTTP_LISTEN/);
  machine.run('systemctl', 'stop', 'squatter');
  await active();
  await ready(machine);
});

test('if the network is late, it runs meanwhile, and reads events as soon as it can', options, async () => {
  machine.run('ip', 'address', 'delete', '169.254.169.254/32', 'dev', 'lo');
  machine.run('systemctl', 'restart', 'scheduled-events-bridge');
  assert.equal(isActive(), true);
  machine.run('ip', 'address', 'add', '169.254.169.254/32', 'dev', 'lo');
  await ready(machine);
});

for (const [what, happens] of [
  ['a reboot', () => machine.reboot()],
  ['a power cut', () => machine.cutPower().then(() => machine.start())],
] as const) {
  test(`undelivered CloudEvents from before ${what} are delivered after it`, options, async () => {
    machine.run('systemctl', 'disable', '--quiet', '--now', 'receiver');
    const eventId = schedule(machine);
    await poll(() => journal(machine).includes(`"id":"${eventId}:scheduled"`), 'the CloudEvent in the journal');
    await happens();
    await active();
    machine.run('systemctl', 'enable', '--quiet', '--now', 'receiver');
    assert.equal(await received(machine, eventId), 1);
  });
}

test('an event just before a reboot is delivered before the reboot', options, async () => {
  const eventId = schedule(machine);
  await poll(() => journal(machine).includes(`"id":"${eventId}:scheduled"`), 'the CloudEvent in the journal');
  await machine.reboot();
  assert.equal(machine.read('/root/received').split(`"id":"${eventId}:scheduled"`).length - 1, 1);
  await active();
});

test('an upgrade keeps configuration and state, and the new version delivers the rest', options, async () => {
  machine.run('systemctl', 'stop', 'receiver');
  const eventId = schedule(machine);
  await poll(() => journal(machine).includes(`"id":"${eventId}:scheduled"`), 'the CloudEvent in the journal');
  const [config, pid] = [machine.read(CONFIG), machine.property('MainPID')];
  install(machine, newer);
  await active();
  assert.notEqual(machine.property('MainPID'), pid, 'the new version runs');
  assert.equal(machine.read(CONFIG), config);
  machine.run('systemctl', 'start', 'receiver');
  assert.equal(await received(machine, eventId), 1);
  install(machine, packages);
  await ready(machine);
});

test('with a full disk at an upgrade, the new version logs it, and delivers once there is space', options, async () => {
  machine.try('dd', 'if=/dev/zero', 'of=/var/lib/private/ballast', 'bs=1M');
  const eventId = schedule(machine);
  const health = () => machine.try('scheduled-events-bridge', 'health', '--config', CONFIG);
  await poll(
    () => health().stderr.includes('nothing can be stored'),
    () => journal(machine),
    60_000,
  );
  install(machine, newer);
  assert.equal(health().status, 1);
  machine.run('rm', '/var/lib/private/ballast');
  await ready(machine);
  assert.equal(await received(machine, eventId), 1);
  install(machine, packages);
  await ready(machine);
});

test('a version older than its store rejects it, names the needed version, and stays down', options, async () => {
  machine.run('systemctl', 'stop', 'scheduled-events-bridge');
  const version = Number(onStore(machine, 'PRAGMA user_version')[0]?.['user_version']);
  onStore(machine, `PRAGMA user_version = ${version + 1}`);
  machine.try('systemctl', 'start', '--no-block', 'scheduled-events-bridge');
  await poll(
    () => machine.property('ActiveState') === 'failed',
    () => journal(machine),
  );
  assert.match(journal(machine), /BRIDGE_STORE_NEWER/);
  assert.deepEqual([machine.property('ExecMainStatus'), restarts()], ['74', 0]);
  assert.match(machine.property('StatusText'), /^not started: /);
  onStore(machine, `PRAGMA user_version = ${version}`);
  machine.run('systemctl', 'start', 'scheduled-events-bridge');
  await active();
  await ready(machine);
});

test('a removal keeps configuration and state; a purge deletes both', options, () => {
  machine.run('systemctl', 'disable', '--quiet', '--now', 'azure', 'receiver');
  machine.run('apt-get', 'remove', '--quiet', '--yes', 'scheduled-events-bridge');
  const kept = [CONFIG, DATABASE].map((path) => existsSync(join(machine.root, path)));
  assert.deepEqual(kept, [true, true]);
  assert.equal(machine.try('systemctl', 'is-active', 'scheduled-events-bridge').stdout.trim(), 'inactive');
  const purged = machine.try('apt-get', 'purge', '--quiet', '--yes', 'scheduled-events-bridge');
  assert.equal(purged.status, 0, purged.stderr);
  assert.match(
    `${purged.stdout}${purged.stderr}`,
    /scheduled-events-bridge\.service\.d stays: systemctl revert scheduled-events-bridge/,
  );
  const left = machine
    .try('find', '/etc', '/var', '/var/lib/private', '/usr', '-xdev', '-name', '*scheduled-events-bridge*')
    .stdout.split('\n');
  assert.deepEqual(
    left.filter((path) => path !== '' && !/\/(dpkg|apt|journal)\//.test(path) && !path.startsWith(join(DROP_IN, '..'))),
    [],
  );
});

test(
  'a drop-in that remains after a purge keeps the next installation from starting, and `systemctl revert` fixes it',
  options,
  async () => {
    const failed = install(machine, packages);
    assert.match(
      `${failed}${machine.try('systemctl', 'status', 'scheduled-events-bridge').stdout}`,
      /243\/CREDENTIALS/,
    );
    machine.run('apt-get', 'purge', '--quiet', '--yes', 'scheduled-events-bridge');
    machine.run('systemctl', 'revert', 'scheduled-events-bridge');
    assert.equal(existsSync(join(machine.root, DROP_IN, '..')), false);
    install(machine, packages);
    await active();
    machine.run('apt-get', 'purge', '--quiet', '--yes', 'scheduled-events-bridge');
  },
);
