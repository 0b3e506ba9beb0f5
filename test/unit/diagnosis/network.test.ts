// An endpoint and a machine's network → why the metadata service cannot be reached from it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { networkFindings } from '../../../src/diagnosis/network.ts';
import { type MachineSettings, quietMachine } from '../../virtual/quiet-machine.ts';

const AZURE = 'http://169.254.169.254';

async function found(settings: MachineSettings, endpoint = AZURE): Promise<string[]> {
  return (await networkFindings(endpoint, quietMachine(settings))).map(({ name, error }) => `${name}: ${error}`);
}

test('a machine with a working default route and network interface has no finding', async () => {
  assert.deepEqual(await found({}), []);
  assert.deepEqual(
    await found({ files: { '/sys/class/net/eth0/ifindex': '2\n', '/sys/class/net/eth0/iflink': '2\n' } }),
    [],
  );
});

test('a missing route is reported with its code and a remedy', async () => {
  const [only, ...rest] = await found({ source: { code: 'ENETUNREACH' } });
  assert.match(
    only ?? '',
    /^network: no route leads to 169\.254\.169\.254 \(ENETUNREACH\).*ip route get 169\.254\.169\.254/,
  );
  assert.deepEqual(rest, []);
});

test('a tunnel or bridge that takes the requests is reported', async () => {
  for (const name of ['tun0', 'wg0', 'docker0', 'br-1a2b', 'tailscale0']) {
    const [only] = await found({ interfaces: { [name]: '10.0.0.4' } });
    assert.match(
      only ?? '',
      new RegExp(`^network: requests to 169\\.254\\.169\\.254 leave by ${name} \\(10\\.0\\.0\\.4\\)`),
    );
  }
});

test('an interface other than that of the default route is reported, with the one to try', async () => {
  const [only] = await found({ source: { address: '10.1.0.5' }, interfaces: { eth0: '10.0.0.4', eth1: '10.1.0.5' } });
  assert.match(
    only ?? '',
    /leave by eth1 \(10\.1\.0\.5\), but the default route uses eth0.*ip route add 169\.254\.169\.254 dev eth0/,
  );
});

test('the default route with the lowest metric counts', async () => {
  const route = (name: string, metric: number) => `${name}\t00000000\t0101000A\t0003\t0\t0\t${metric}\t00000000\n`;
  const files = { '/proc/net/route': `Iface\n${route('eth1', 200)}${route('eth0', 100)}` };
  assert.deepEqual(await found({ files }), []);
});

test("a container with its own network gets the advice to use the host's", async () => {
  const files = { '/sys/class/net/eth0/ifindex': '2\n', '/sys/class/net/eth0/iflink': '37\n' };
  const [only] = await found({ files });
  assert.match(only ?? '', /^container: .*hostNetwork: true, --network host/);
  assert.deepEqual(
    await found({ files }, 'http://10.0.0.9:8080'),
    [],
    'a simulator elsewhere may well be reached from there',
  );
});

test('an endpoint with a host name is not checked', async () => {
  assert.deepEqual(await found({ source: { code: 'ENETUNREACH' } }, 'http://simulator:8080'), []);
});
