// A machine without 169.254.169.254, with a DHCP lease → the metadata service found elsewhere.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folderOf } from '../support/folder.ts';
import { NetworkNamespace, noNetworkNamespace } from '../support/network-namespace.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const FIXTURES = join(import.meta.dirname, '../fixtures/leases');

describe('metadata.endpoint: discover', { skip: noNetworkNamespace() }, () => {
  for (const [fixture, path, port] of [
    ['systemd-networkd', '/run/systemd/netif/leases/2', 8080],
    ['dhclient-hex.leases', '/var/lib/dhcp/dhclient.eth0.leases', 8080],
    ['network-manager-device', '/run/NetworkManager/devices/2', 80],
  ] as const) {
    test(`finds the service that ${path} names, on port ${port}`, async (t) => {
      const namespace = NetworkNamespace.create(t, '168.63.129.16');
      const simulator = namespace.startBridge([
        'simulate',
        '--listen',
        '127.0.0.1:9000',
        '--also',
        `168.63.129.16:${port}`,
      ]);
      await simulator.lines(1);
      const folder = folderOf(t);
      const config = join(folder, 'bridge.yaml');
      writeFileSync(
        config,
        'version: 1\nmetadata: { endpoint: discover }\nstore: { path: store }\nhttp: { listen: 127.0.0.1:0 }\n',
      );

      // The leases of this machine are covered, for this process alone.
      const bridge = namespace.startLine(
        `unshare --mount sh -ec 'mount -t tmpfs none /run; mount -t tmpfs none /var/lib
          mkdir -p ${join(path, '..')}; cp ${join(FIXTURES, fixture)} ${path}
          exec ${process.execPath} ${MAIN} run --config ${config}'`,
        { folder },
      );
      await bridge.logs('found the metadata service');
      const { code } = await namespace.run(
        `curl -sS -f -d '{"EventType":"Reboot"}' http://127.0.0.1:9000/simulator/events`,
      );
      assert.equal(code, 0);
      const [line = ''] = await bridge.lines(1);
      assert.match(JSON.parse(line).type, /\.scheduled\.v1$/);
      const found = port === 80 ? 'http://168.63.129.16' : `http://168.63.129.16:${port}`;
      assert.match(bridge.stderr, new RegExp(`"endpoint":"${found}"`));
    });
  }
});
