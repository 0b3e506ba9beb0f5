// A group's machines → their addresses and answers; a failed start releases all ports.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import test, { type TestContext } from 'node:test';
import { type SimulatorServerOptions, startSimulator } from '../../../src/simulator/server.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { freePorts, startServer } from '../../far-sides/simulator-server.ts';
import { scriptOf } from '../../virtual/simulated-group.ts';
import { EVENTS } from '../../virtual/simulation.ts';

const HOST = '127.0.0.1';
const METADATA = { headers: { Metadata: 'true' } };

/** Occupies the port until the test ends. */
async function occupy(t: TestContext, port: number): Promise<void> {
  const server = createServer().listen(port, HOST);
  await once(server, 'listening');
  t.after(() => once(server.close(), 'close'));
}

/** Returns the name of the machine that answers there. @param localAddress the client's own address */
async function nameAt(url: string, localAddress = '127.0.0.1'): Promise<string> {
  const path = '/metadata/instance/compute/name?api-version=2021-02-01&format=text';
  const asked = request(url + path, { ...METADATA, localAddress, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return (await answer.setEncoding('utf8').toArray()).join('');
}

const refused = (options: Partial<SimulatorServerOptions>, error: { code: string; message: RegExp }) =>
  assert.rejects(startSimulator({ listen: { host: HOST, port: 0 }, deps: systemDeps(), ...options }), error);

test('several machines listen on the given port and the following ones', async (t) => {
  const port = await freePorts(3);
  const server = await startServer(t, { listen: { host: HOST, port }, vms: 3, name: 'web' });
  assert.deepEqual(
    server.urls,
    [0, 1, 2].map((index) => ({ vm: `web_${index}`, url: `http://${HOST}:${port + index}` })),
  );
  assert.equal(server.url, server.urls[0]?.url);
  for (const { vm, url } of server.urls) assert.equal(await nameAt(url), vm);
});

test('several addresses give as many machines, each with its own address', async (t) => {
  const listen = ['127.0.0.2', '127.0.0.3'].map((host) => ({ host, port: 0 }));
  const server = await startServer(t, { listen, name: 'web' });
  assert.deepEqual(
    server.urls.map(({ vm, url }) => `${vm} ${new URL(url).hostname}`),
    ['web_0 127.0.0.2', 'web_1 127.0.0.3'],
  );
  for (const { vm, url } of server.urls) assert.equal(await nameAt(url), vm);
});

test('with clients, each client reaches its own machine at one address, and all others the first machine', async (t) => {
  const port = await freePorts();
  const also = [{ host: '127.0.0.1', port }];
  const server = await startServer(t, { clients: ['127.0.0.5', '127.0.0.6'], also });
  assert.deepEqual(
    server.urls,
    ['sim_0', 'sim_1'].map((vm) => ({ vm, url: server.url })),
  );
  for (const url of [server.url, `http://127.0.0.1:${port}`])
    for (const [from, vm] of [
      ['127.0.0.5', 'sim_0'],
      ['127.0.0.6', 'sim_1'],
      ['127.0.0.7', 'sim_0'],
    ] as const)
      assert.equal(await nameAt(url, from), vm, `${from} at ${url}`);
  assert.deepEqual(
    server.group.journal.requests(3).map(({ vm }) => vm),
    ['sim_0', 'sim_1', 'sim_0'],
  );
});

test('each machine needs one address or one client, not both, and clients must differ', async () => {
  const listen = [0, 0].map((port) => ({ host: HOST, port }));
  const clients = ['10.0.0.1', '10.0.0.2'];
  const code = 'BRIDGE_USAGE';
  await refused({ listen, vms: 3 }, { code, message: /addresses, 2, is not the number of machines, 3/ });
  await refused({ clients, vms: ['a'] }, { code, message: /addresses, 2, is not the number of machines, 1/ });
  await refused({ listen, clients }, { code, message: /do not go together/ });
  await refused({ clients: ['10.0.0.1', '10.0.0.1'] }, { code, message: /needs its own client/ });
});

test('if one of several ports is in use, the others are released', async (t) => {
  const port = await freePorts(3);
  await occupy(t, port + 2);
  const listen = { host: HOST, port };
  await refused({ listen, vms: 3 }, { code: 'BRIDGE_SIMULATOR_LISTEN', message: new RegExp(`${HOST}:${port + 2}`) });
  assert.equal((await startServer(t, { listen, vms: 2 })).urls.length, 2);
});

test('if a further address is in use, the first is released', async (t) => {
  const port = await freePorts(2);
  await occupy(t, port + 1);
  const listen = { host: HOST, port };
  await refused(
    { listen, also: [{ host: HOST, port: port + 1 }] },
    { code: 'BRIDGE_SIMULATOR_LISTEN', message: new RegExp(`:${port + 1}`) },
  );
  await startServer(t, { listen });
});

test('more machines than available ports are refused with the highest possible first port', async (t) => {
  const port = 65_534;
  await refused(
    { listen: { host: HOST, port }, vms: 3 },
    { code: 'BRIDGE_USAGE', message: /3 machines .* ports up to 65536: .* 65533 or lower/ },
  );
  assert.equal((await startServer(t, { vms: 3 })).urls.length, 3);
});

for (const [what, vms] of [
  ['no name', []],
  ['an empty name', ['a', '']],
  ['equal names', ['web_0', 'WEB_0']],
] as const) {
  test(`machines with ${what} are refused`, () =>
    refused({ vms }, { code: 'BRIDGE_USAGE', message: /each machine needs a unique name/ }));
}

test('a script sets the number of machines, their name and GPU mode, unless the start does', async (t) => {
  const script = { ...scriptOf(), group: { vms: 2, name: 'gpu', gpu: true } };
  const asWritten = await startServer(t, { script });
  assert.deepEqual([asWritten.urls.map(({ vm }) => vm), asWritten.group.gpu], [['gpu_0', 'gpu_1'], true]);
  const asAsked = await startServer(t, { script, vms: 3, name: 'db', gpu: false });
  assert.deepEqual([asAsked.urls.map(({ vm }) => vm), asAsked.group.gpu], [['db_0', 'db_1', 'db_2'], false]);
});

test('a script sets the api-versions of its host, unless the start does', async (t) => {
  const script = { ...scriptOf(), group: { apiVersions: ['2020-07-01'], unknownApiVersion: 404 } as const };
  const statusIn = async (options: Partial<SimulatorServerOptions>, version: string) => {
    const { url } = await startServer(t, { script, ...options });
    return (await fetch(`${url}/metadata/scheduledevents?api-version=${version}`, METADATA)).status;
  };
  assert.equal(await statusIn({}, '2020-07-01'), 200);
  assert.equal(await statusIn({}, '2024-07-09'), 404);
  assert.equal(await statusIn({ unknownApiVersion: 400 }, '2024-07-09'), 400);
  assert.equal(await statusIn({ apiVersions: ['2024-07-09'] }, '2024-07-09'), 200);
});

test('onAnswer is called with each answer of the metadata routes, its machine and its time, and with no other', async (t) => {
  const told: unknown[] = [];
  const server = await startServer(t, {
    vms: ['a', 'b'],
    speed: 0,
    onAnswer: (request, answer, atMs, vm) =>
      told.push([request.method, request.url, answer.status, answer.reset, atMs, vm]),
  });
  const [a, b] = server.urls.map(({ url }) => url);
  const nowMs = server.group.clock.nowMs();
  await fetch(`${a}${EVENTS}`, METADATA);
  await fetch(`${a}/simulator/clock`, { method: 'PUT', body: '{"advance":"1m"}' });
  await fetch(`${a}/simulator/faults`, { method: 'PUT', body: '{"reset":true,"vm":"b"}' });
  await assert.rejects(fetch(`${b}${EVENTS}`, METADATA));
  await fetch(`${a}/page.js`);
  await fetch(`${a}/nothing`);
  await fetch(`${b}/metadata/nothing`, METADATA);
  assert.deepEqual(told, [
    ['GET', EVENTS, 200, undefined, nowMs, 'a'],
    ['GET', EVENTS, 200, true, nowMs + 60_000, 'b'],
    ['GET', '/metadata/nothing', 400, undefined, nowMs + 60_000, 'b'],
  ]);
});

test('the page accepts only GET and HEAD', async (t) => {
  const { url } = await startServer(t);
  const answer = await fetch(url, { method: 'POST' });
  assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD']);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
});
