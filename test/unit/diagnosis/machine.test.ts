// This machine → the way to an address, its files and its ports, as a diagnosis asks for them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import test from 'node:test';
import { MACHINE_PROBE } from '../../../src/diagnosis/machine.ts';

test('traffic to loopback has a loopback source address', async () => {
  assert.deepEqual(await MACHINE_PROBE.sourceOf('127.0.0.2'), { address: '127.0.0.1' });
});

test('a port is in use while a program listens, and the check of a free one leaves it free', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.equal(await MACHINE_PROBE.listenFault('127.0.0.1', port), 'EADDRINUSE');
  await once(server.close(), 'close');
  assert.equal(await MACHINE_PROBE.listenFault('127.0.0.1', port), null);
  assert.equal(await MACHINE_PROBE.listenFault('127.0.0.1', port), null);
  assert.equal(await MACHINE_PROBE.listenFault('192.0.2.1', port), 'EADDRNOTAVAIL');
});

test('a missing file is null', () => {
  assert.equal(MACHINE_PROBE.text('/nowhere/at/all'), null);
});
