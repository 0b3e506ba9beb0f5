// docs/operate/recipes/systemd-unit.md in a booted Debian → the unit stops, and runs again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBlocksOf } from '../docs/markdown-page.ts';
import { poll } from '../support/poll.ts';
import { BootedMachine, noMachine } from './booted-machine.ts';
import { builtPackages } from './built-packages.ts';
import { CONFIG, install, installFarSides, journal, ready, schedule } from './installed-service.ts';

const PAGE = 'docs/operate/recipes/systemd-unit.md';
const RULE = '/etc/polkit-1/rules.d/50-scheduled-events-bridge.rules';
const PROGRAM = '/usr/local/bin/stop-unit';

function block(language: string, from = ''): string {
  const found = codeBlocksOf(PAGE).find(({ language: of, text }) => of === language && text.includes(from));
  assert.ok(found, `${PAGE} has no ${language} with ${from}`);
  return found.text;
}

test('under the unit of the packages, a program stops and starts the unit that a polkit rule names, approves, and can stop no other unit', {
  skip: noMachine,
  timeout: 400_000,
}, async () => {
  const packages = builtPackages();
  await using machine = await BootedMachine.boot();
  install(machine, packages);
  machine.run('systemctl', 'stop', 'scheduled-events-bridge');
  machine.run('mkdir', '-p', '/etc/sysusers.d', '/etc/polkit-1/rules.d');
  machine.write('/etc/sysusers.d/scheduled-events-bridge.conf', block('ini', 'sysusers.d'));
  machine.run('systemd-sysusers');
  machine.write(RULE, block('js'));
  // It tries another unit first.
  machine.write(
    PROGRAM,
    block('sh', 'stop-unit').replace('set -eu\n', 'set -eu\nsystemctl stop dbus 2>&1 || echo "no right to dbus"\n'),
  );
  machine.run('chmod', '755', PROGRAM);
  machine.write('/etc/systemd/system/worker.service', '[Service]\nExecStart=/bin/sleep 100000\n');
  machine.run('systemctl', 'daemon-reload');
  machine.run('systemctl', 'start', 'worker');
  installFarSides(machine);
  machine.write(CONFIG, block('yaml'));
  machine.run('systemctl', 'start', 'scheduled-events-bridge');
  await ready(machine);
  assert.equal(machine.property('OOMPolicy'), 'continue');

  schedule(machine);
  const says = (text: string) =>
    poll(
      () => journal(machine).includes(text),
      () => journal(machine),
      60_000,
    );
  const worker = () => machine.try('systemctl', 'is-active', 'worker').stdout.trim();
  await says('Reboot: worker.service has stopped (run 1)');
  assert.equal(worker(), 'inactive');
  assert.match(journal(machine), /no right to dbus/);
  await says('approval confirmed');
  machine.run(
    'curl',
    '--silent',
    '--fail',
    '--request',
    'PUT',
    '--data',
    '{"advance":"10m"}',
    'http://169.254.169.254/simulator/clock',
  );
  await says('completed: worker.service runs');
  assert.equal(worker(), 'active');
});
