// Lease files and registry output as machines write them → the metadata service's base address.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { addressInLease, addressInRegistry, declaredNames, decodeAddress } from '../../../src/metadata/dhcp-option.ts';
import {
  discoverEndpoint,
  type LocalMachine,
  probeBy,
  readOptionAddress,
  thisMachine,
} from '../../../src/metadata/discovery.ts';
import { createHttpTransport } from '../../../src/metadata/http-transport.ts';
import { FakeMetadata } from '../../far-sides/metadata-service.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const never = new AbortController().signal;

const FIXTURES = join(import.meta.dirname, '../../fixtures/leases');

/** What a client wrote down; each holds 168.63.129.16 (test/fixtures/leases/README.md). */
function fixture(name: string): string {
  return readFileSync(join(FIXTURES, name), 'latin1');
}

const DHCLIENT = fixture('dhclient-hex.leases');
const NETWORKD = fixture('systemd-networkd');

/** Records of DhcpInterfaceOptions (protocol 1.5). */
function registryRecords(...records: readonly (readonly [code: number, data: readonly number[]])[]): string {
  return records
    .map(([code, data]) => {
      const record = Buffer.alloc(20 + Math.ceil(data.length / 4) * 4);
      record.writeUInt32LE(code, 0);
      record.writeUInt32LE(data.length, 8);
      record.writeUInt32LE(0x62c2a214, 16);
      record.set(data, 20);
      return record.toString('hex').toUpperCase();
    })
    .join('');
}

function registryOutput(...interfaces: readonly string[]): string {
  const blocks = interfaces.map(
    (hex) =>
      `HKEY_LOCAL_MACHINE\\SYSTEM\\Interfaces\\{b5a7}\r\n    DhcpInterfaceOptions    REG_BINARY    ${hex}\r\n\r\n`,
  );
  return `\r\n${blocks.join('')}End of search: ${interfaces.length} match(es) found.\r\n`;
}

describe('the value of option 245', () => {
  for (const [value, address] of [
    ['a8:3f:81:10', '168.63.129.16'],
    ['A8:3F:81:1', '168.63.129.1'],
    ['a8-3f-81-10', '168.63.129.16'],
    ['a83f8110', '168.63.129.16'],
    ['0xA83F8110', '168.63.129.16'],
    ['168.63.129.16', '168.63.129.16'],
    ['168,63,129,16', '168.63.129.16'],
    ['168 63 129 16', '168.63.129.16'],
    ['2822734096', '168.63.129.16'],
    ['"\\250?\\201\\020"', '168.63.129.16'],
    ['"d@@d"', '100.64.64.100'],
    ['"d\\"\\\\d"', '100.34.92.100'],
    [' a8:3f:81:10 ', '168.63.129.16'],
  ] as const) {
    test(`${value} is ${address}`, () => assert.equal(decodeAddress(value), address));
  }

  for (const value of [
    '',
    'a8:3f:81',
    'a8:3f:81:10:00',
    '168.63.129.256',
    '168.63.129',
    '4294967296',
    '99999999999',
    '"abc"',
    '"abcde"',
    'xx:yy:zz:qq',
    '00000000',
    'ffffffff',
    '0.0.0.1',
    'a83f81',
    '"d@\\777d"',
  ]) {
    test(`${value === '' ? 'nothing' : value} is not an address`, () => assert.equal(decodeAddress(value), null));
  }
});

describe('a lease', () => {
  test('of dhclient: the last block counts', () => assert.equal(addressInLease(DHCLIENT), '168.63.129.16'));
  test('of dhclient with Windows line ends', () =>
    assert.equal(addressInLease(DHCLIENT.replaceAll('\n', '\r\n')), '168.63.129.16'));
  test('of dhclient, quoted', () =>
    assert.equal(addressInLease('  option unknown-245 "\\250?\\201\\020";\n'), '168.63.129.16'));
  test('of NetworkManager, with spaces or without its section', () => {
    assert.equal(addressInLease('unknown_245 = a8:3f:81:10\n'), '168.63.129.16');
    assert.equal(addressInLease('OPTION_245=a83f8110'), '168.63.129.16');
  });
  test('with an unreadable newest value, it uses the one before', () => {
    assert.equal(addressInLease(DHCLIENT.replace('a8:3f:81:10', 'broken')), '100.64.64.100');
  });
  test('with a declared name is read only by that name', () => {
    const lease = fixture('dhclient-named.leases');
    assert.deepEqual(declaredNames(fixture('dhclient-named.conf')), ['azure-host']);
    assert.deepEqual(
      declaredNames('# option a code 245 = text;\noption b code 2450 = text;\nsend option c code 245 = text;\n'),
      [],
    );
    assert.equal(addressInLease(lease, ['azure-host']), '168.63.129.16');
    assert.equal(
      addressInLease(lease.replace('option azure-host', 'option Azure-Host'), ['azure-host']),
      '168.63.129.16',
    );
    assert.equal(addressInLease(lease), null);
  });
  test('without the option, or only with options of similar numbers, gives nothing', () => {
    assert.equal(addressInLease(''), null);
    assert.equal(
      addressInLease(
        'option unknown-2455 a8:3f:81:10;\nOPTION_24=a83f8110\nX_OPTION_245=a83f8110\n# OPTION_245=a83f8110\n',
      ),
      null,
    );
  });
});

describe('the registry', () => {
  test('as reg query prints it names the address, and shows the bytes of the value', () => {
    const output = fixture('windows-reg-query.txt');
    assert.equal(addressInRegistry(output), '168.63.129.16');
    const bytes = readFileSync(join(FIXTURES, 'windows-dhcp-interface-options.bin')).toString('hex').toUpperCase();
    assert.ok(output.includes(`REG_BINARY    ${bytes}\r\n`));
  });
  const name = [0x6e, 0x65, 0x74, 0, 0];
  test('gives the address in the record of 245, after padded ones', () => {
    assert.equal(
      addressInRegistry(registryOutput(registryRecords([15, name], [252, []], [245, [168, 63, 129, 16]]))),
      '168.63.129.16',
    );
  });
  test('is read interface by interface', () => {
    assert.equal(
      addressInRegistry(registryOutput(registryRecords([15, name]), registryRecords([245, [168, 63, 129, 16]]))),
      '168.63.129.16',
    );
  });
  test('that is truncated, has another length or is empty gives nothing', () => {
    assert.equal(addressInRegistry(registryOutput(registryRecords([245, [168, 63, 129, 16]]).slice(0, -2))), null);
    assert.equal(addressInRegistry(registryOutput(registryRecords([245, [168, 63, 129, 16, 0]]))), null);
    assert.equal(addressInRegistry(registryOutput(`F5000000${'F'.repeat(32)}`)), null);
    assert.equal(addressInRegistry('ERROR: The system was unable to find the specified registry key or value.'), null);
  });
});

test('test/fixtures/leases/README.md describes every file of its folder, and no other', () => {
  const told = [...fixture('README.md').matchAll(/^\| (`.+?`) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[\w.-]+/g) ?? [],
  );
  assert.deepEqual(
    told.toSorted(),
    readdirSync(FIXTURES)
      .filter((name) => name !== 'README.md')
      .toSorted(),
  );
});

describe('a machine', () => {
  async function machine(t: TestContext, files: Record<string, string>): Promise<LocalMachine> {
    const root = await mkdtemp(join(tmpdir(), 'leases-'));
    t.after(() => rm(root, { recursive: true }));
    let minute = 0;
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
      await utimes(join(root, path), 0, 1_700_000_000 + 60 * minute++);
    }
    return { platform: 'linux', root, queryRegistry: () => assert.fail('a Linux machine has no registry') };
  }

  for (const [path, name] of [
    ['var/lib/dhcp/dhclient.eth0.leases', 'dhclient-hex.leases'],
    ['var/lib/dhcp3/dhclient.eth0.leases', 'dhclient-hex.leases'],
    ['var/lib/dhclient/dhclient-eth0.leases', 'dhclient-hex.leases'],
    ['var/lib/dhcp/dhclient.leases', 'dhclient-decimal.leases'],
    ['var/lib/dhcp/dhclient.leases', 'dhclient-number.leases'],
    ['var/lib/dhcp/dhclient.leases', 'dhclient-octal.leases'],
    ['var/lib/NetworkManager/dhclient-5fb06bd0-eth0.lease', 'network-manager-dhclient.lease'],
    ['var/lib/NetworkManager/internal-5fb06bd0-eth0.lease', 'network-manager-internal.lease'],
    ['run/NetworkManager/devices/2', 'network-manager-device'],
    ['run/systemd/netif/leases/2', 'systemd-networkd'],
  ] as const) {
    test(`with ${name} at /${path} names the address`, async (t) => {
      assert.equal(await readOptionAddress(await machine(t, { [path]: fixture(name) })), '168.63.129.16');
    });
  }

  for (const conf of [
    'etc/dhcp/dhclient.conf',
    'etc/dhclient-eth0.conf',
    'var/lib/NetworkManager/dhclient-eth0.conf',
  ]) {
    test(`with a name for the option in /${conf} reads the lease by it`, async (t) => {
      const lease = { 'var/lib/dhclient/dhclient-eth0.leases': fixture('dhclient-named.leases') };
      assert.equal(await readOptionAddress(await machine(t, lease)), null);
      assert.equal(
        await readOptionAddress(await machine(t, { ...lease, [conf]: fixture('dhclient-named.conf') })),
        '168.63.129.16',
      );
    });
  }

  for (const conf of ['etc/other.conf', 'etc/my-dhclient.conf', 'etc/dhclient.conf.bak']) {
    test(`with a name for the option only in /${conf}, which dhclient does not read, has no address`, async (t) => {
      const files = {
        'var/lib/dhclient/dhclient-eth0.leases': fixture('dhclient-named.leases'),
        [conf]: fixture('dhclient-named.conf'),
      };
      assert.equal(await readOptionAddress(await machine(t, files)), null);
    });
  }

  test('with a configuration that cannot be read, reads the leases', async (t) => {
    // A folder of this name cannot be read as a file.
    const files = { 'etc/dhcp/dhclient.conf/notes': '', 'var/lib/dhcp/dhclient.leases': DHCLIENT };
    assert.equal(await readOptionAddress(await machine(t, files)), '168.63.129.16');
  });

  test('with a current NetworkManager: the lease file has only the address, the state of the device has the option', async (t) => {
    const lease = {
      'var/lib/NetworkManager/internal-5fb06bd0-eth0.lease': fixture('network-manager-internal-short.lease'),
    };
    assert.equal(await readOptionAddress(await machine(t, lease)), null);
    const device = { 'run/NetworkManager/devices/2': fixture('network-manager-device') };
    assert.equal(await readOptionAddress(await machine(t, { ...device, ...lease })), '168.63.129.16');
  });

  test('with several leases: the newest file with the option counts', async (t) => {
    const files = {
      'run/systemd/netif/leases/2': 'OPTION_245=0a000001\n',
      'var/lib/dhcp/dhclient.eth0.leases': DHCLIENT,
      'var/lib/NetworkManager/internal-x.lease': 'ADDRESS=10.0.0.5\n',
      'var/lib/dhcp/folder/lease': 'OPTION_245=0a000002\n',
    };
    assert.equal(await readOptionAddress(await machine(t, files)), '168.63.129.16');
  });

  test('with a lease that is gone when it is looked at reads the others', async (t) => {
    const part = await machine(t, { 'var/lib/dhcp/dhclient.leases': DHCLIENT });
    await symlink(join(part.root, 'nowhere'), join(part.root, 'var/lib/dhcp/dhclient.eth1.leases'));
    assert.equal(await readOptionAddress(part), '168.63.129.16');
  });

  test('without any lease gives nothing', async (t) =>
    assert.equal(await readOptionAddress(await machine(t, {})), null));

  test('with Windows is queried through the registry, and a failing query gives nothing', async (t) => {
    const windows = { ...(await machine(t, { 'run/systemd/netif/leases/2': NETWORKD })), platform: 'win32' } as const;
    const output = registryOutput(registryRecords([245, [10, 0, 0, 7]]));
    assert.equal(await readOptionAddress({ ...windows, queryRegistry: async () => output }), '10.0.0.7');
    assert.equal(
      await readOptionAddress({ ...windows, queryRegistry: () => Promise.reject(new Error('no reg')) }),
      null,
    );
  });

  test('with Windows asks the registry for the DHCP options of all interfaces', {
    skip: process.platform === 'win32' && 'its own reg would run',
  }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'reg-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'reg'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const { PATH } = process.env;
    t.after(() => {
      process.env['PATH'] = PATH;
    });
    process.env['PATH'] = `${folder}:${PATH}`;
    assert.equal(
      await thisMachine().queryRegistry(),
      [
        'query',
        'HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces',
        ...['/s', '/v', 'DhcpInterfaceOptions', ''],
      ].join('\n'),
    );
  });

  test('without a reg program gives a BridgeError', {
    skip: process.platform === 'win32' && 'Windows has it',
  }, async () => {
    await assert.rejects(thisMachine().queryRegistry(), (error) => {
      assert.ok(error instanceof BridgeError);
      assert.equal(error.code, 'BRIDGE_METADATA_UNDISCOVERED');
      assert.match(error.message, /^cannot read the registry: .*reg/);
      assert.equal((error.cause as { readonly code: string }).code, 'ENOENT');
      return true;
    });
  });
});

describe('discovery', () => {
  function ports(answering: readonly string[], address: string | null) {
    const probed: string[] = [];
    const probe = async (baseUrl: string) => {
      probed.push(baseUrl);
      return answering.includes(baseUrl);
    };
    return { probed, probe, optionAddress: async () => address };
  }

  test('tries 169.254.169.254 first, and nothing else if it answers', async () => {
    const optionAddress = () => assert.fail('no lease is to be read');
    const part = { ...ports(['http://169.254.169.254'], null), optionAddress };
    assert.equal(await discoverEndpoint(part, never), 'http://169.254.169.254');
  });

  test('then the address of option 245 on port 80, then on 8080', async () => {
    const onPort80 = ports(['http://168.63.129.16', 'http://168.63.129.16:8080'], '168.63.129.16');
    assert.equal(await discoverEndpoint(onPort80, never), 'http://168.63.129.16');
    const onPort8080 = ports(['http://168.63.129.16:8080'], '168.63.129.16');
    assert.equal(await discoverEndpoint(onPort8080, never), 'http://168.63.129.16:8080');
    assert.deepEqual(onPort8080.probed, [
      'http://169.254.169.254',
      'http://168.63.129.16',
      'http://168.63.129.16:8080',
    ]);
  });

  test('names the setting to change if nothing answers', async () => {
    for (const [address, says] of [
      [null, /no DHCP lease.*set metadata\.endpoint/],
      ['168.63.129.16', /168\.63\.129\.16.*does not answer.*set metadata\.endpoint/],
    ] as const) {
      const part = ports([], address);
      await assert.rejects(discoverEndpoint(part, never), (error) => {
        assert.ok(error instanceof BridgeError);
        assert.equal(error.code, 'BRIDGE_METADATA_UNDISCOVERED');
        assert.match(error.message, says);
        return true;
      });
      assert.equal(part.probed.length, address === null ? 1 : 3);
    }
  });

  test('a probe accepts any answer except a redirect, and no failure', async (t) => {
    const fake = await FakeMetadata.start(t);
    const transport = createHttpTransport(new VirtualTime());
    t.after(() => transport.close());
    const probe = probeBy(transport.send);
    const seen: boolean[] = [];
    for (const answer of [
      { status: 200 },
      { status: 404 },
      { status: 500 },
      { status: 302 },
      { raw: 'no http' },
    ] as const) {
      fake.next(answer);
      seen.push(await probe(fake.url, never));
    }
    assert.deepEqual(seen, [true, true, true, false, false]);
    assert.equal(fake.requests[0]?.path, '/metadata/versions');
    assert.equal(fake.requests[0]?.headers['metadata'], 'true');
    await fake.stop();
    assert.equal(await probe(fake.url, never), false);
  });

  test('a probe ends after 5 s, and passes an abort on', async (t) => {
    const fake = await FakeMetadata.start(t);
    const time = new VirtualTime();
    const transport = createHttpTransport(time);
    t.after(() => transport.close());
    fake.next('hold');
    const slow = probeBy(transport.send)(fake.url, never);
    await fake.requested();
    await time.advance(5000);
    assert.equal(await slow, false);
    const reason = new Error('enough');
    await assert.rejects(probeBy(transport.send)(fake.url, AbortSignal.abort(reason)), (error) => error === reason);
  });
});

test('a redirect is not an answer of the service; any other status is', async () => {
  const answers = async (status: number) =>
    probeBy(async () => ({ status, headers: {}, body: new Uint8Array() }))('http://192.0.2.1', never);
  for (const status of [200, 299, 400, 404, 500]) assert.equal(await answers(status), true, String(status));
  for (const status of [300, 301, 399]) assert.equal(await answers(status), false, String(status));
});

test('this machine is read from the root of its file system', () => {
  assert.deepEqual([thisMachine().root, thisMachine().platform], ['/', process.platform]);
});
