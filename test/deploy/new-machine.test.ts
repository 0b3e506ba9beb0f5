// A clean Debian as cloud-init leaves it → the package, with the configuration of the template.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { poll } from '../support/poll.ts';
import { BootedMachine, noMachine } from './booted-machine.ts';
import { builtPackages } from './built-packages.ts';
import { newMachine } from './cloud-init.ts';
import { debIn, journal } from './installed-service.ts';

const options = { skip: noMachine, timeout: 300_000 };

let machine: BootedMachine;
let deb = '';
before(async () => {
  if (noMachine) return;
  deb = debIn(builtPackages());
  machine = await BootedMachine.boot();
});
after(async () => {
  if (!noMachine) await machine[Symbol.asyncDispose]();
});

/** As cloud-init writes it. */
function write(path: string, text: string, permissions = '0755'): void {
  mkdirSync(join(machine.root, dirname(path)), { recursive: true });
  machine.write(path, text);
  chmodSync(join(machine.root, path), Number.parseInt(permissions, 8));
}

test(
  'the installer refuses another package, installs the right one over the configuration that is there, and it runs',
  options,
  async () => {
    const sha256 = createHash('sha256').update(readFileSync(deb)).digest('hex');
    const { config, installer, command } = newMachine('https://packages.example/bridge.deb', sha256);
    for (const { path, content, permissions } of [config, installer]) write(path, content, permissions);
    // The machine has no network.
    write('/usr/local/bin/curl', `#!/bin/sh\ncp ${machine.take(deb)} bridge.deb\n`);

    const refused = machine.try(command[0] ?? '', 'https://packages.example/bridge.deb', '0'.repeat(64));
    assert.notEqual(refused.status, 0);
    assert.notEqual(machine.try('scheduled-events-bridge', '--version').status, 0);

    machine.run(...command);
    assert.equal(machine.read(config.path), config.content);
    await poll(
      () => machine.property('ActiveState') === 'active',
      () => journal(machine),
      60_000,
    );
    assert.match(machine.property('StatusText'), /^waiting/);
    assert.doesNotMatch(journal(machine), /BRIDGE_CONFIG/);
  },
);
