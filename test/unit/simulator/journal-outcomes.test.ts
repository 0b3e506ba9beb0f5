// Clients that receive their answer, give up or are cut off → the outcome in the journal.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import type { SimulatorServer } from '../../../src/simulator/server.ts';
import { startSimulator } from '../../../src/simulator.ts';
import { startServer } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { EVENTS } from '../../virtual/simulation.ts';

/** Ignores errors of connections that the test or a fault breaks. */
function ask(server: SimulatorServer): ClientRequest {
  return request(server.url + EVENTS, { agent: false, headers: { Metadata: 'true' } })
    .on('error', () => {})
    .end();
}

/** With or without an error. */
const closed = (one: ClientRequest | IncomingMessage): Promise<void> =>
  new Promise((resolve) => one.once('close', () => resolve()));

const seen = ({ group }: SimulatorServer) => group.journal.requests().map(({ status, outcome }) => [status, outcome]);

async function order(server: SimulatorServer, body: object): Promise<void> {
  assert.equal(
    (await fetch(`${server.url}/simulator/faults`, { method: 'PUT', body: JSON.stringify(body) })).status,
    204,
  );
}

test('an answer that the client received whole has its status, whatever the status is', async (t) => {
  const server = await startServer(t);
  await order(server, { status: 503 });
  for (const status of [503, 200]) {
    const [answer] = (await once(ask(server), 'response')) as [IncomingMessage];
    assert.equal(answer.statusCode, status);
    await once(answer.resume(), 'end');
  }
  assert.deepEqual(seen(server), [
    [503, 'answered'],
    [200, 'answered'],
  ]);
});

test('an answer that a fault cuts off is truncated; one shorter than the cut is not', async (t) => {
  const server = await startServer(t);
  for (const truncate of [5, 10_000]) {
    await order(server, { truncate });
    const [answer] = (await once(ask(server), 'response')) as [IncomingMessage];
    await closed(answer.on('error', () => {}).resume());
  }
  await poll(() => seen(server).every(([, outcome]) => outcome !== 'waiting'), 'both ends');
  assert.deepEqual(seen(server), [
    [null, 'truncated'],
    [200, 'answered'],
  ]);
});

test('a connection that a fault resets has no status', async (t) => {
  const server = await startServer(t);
  await order(server, { reset: true });
  await closed(ask(server));
  await poll(() => seen(server)[0]?.[1] !== 'waiting', 'the end');
  assert.deepEqual(seen(server), [[null, 'reset']]);
});

test('a client that gives up waiting for a delayed answer is journalled as gave-up, and before that as waiting', async (t) => {
  const server = await startServer(t);
  await order(server, { delay: '10m' });
  const asked = ask(server);
  await poll(() => seen(server).length === 1, 'the request');
  assert.deepEqual(seen(server), [[null, 'waiting']]);
  asked.destroy();
  await poll(() => seen(server)[0]?.[1] !== 'waiting', 'the end');
  assert.deepEqual(seen(server), [[null, 'gave-up']]);
});

test('a client that gives up waiting for the first answer of a strict service is journalled as gave-up', async (t) => {
  const server = await startServer(t, { strict: true, speed: 0 });
  const asked = ask(server);
  await poll(() => seen(server).length === 1, 'the request');
  asked.destroy();
  await poll(() => seen(server)[0]?.[1] === 'gave-up', 'the end');
});

test('a client that disconnects in the middle of a large answer is journalled as gave-up', async (t) => {
  const server = await startServer(t);
  const Description = 'x'.repeat(500_000);
  for (let left = 40; left > 0; left--) server.group.events.schedule({ Description }, server.group.clock.nowMs());
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.pause().write(`GET ${EVENTS} HTTP/1.1\r\nHost: localhost\r\nMetadata: true\r\n\r\n`);
  await poll(() => seen(server).length === 1, 'the request');
  assert.deepEqual(seen(server), [[null, 'waiting']]);
  socket.destroy();
  await poll(() => seen(server)[0]?.[1] === 'gave-up', 'the end');
});

test('approvals are the StartRequests whose client received a 200', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const { EventId } = azure.schedule();
  const approve = () =>
    fetch(azure.url + EVENTS, {
      method: 'POST',
      headers: { Metadata: 'true' },
      body: JSON.stringify({ StartRequests: [{ EventId }] }),
    });
  azure.fault({ reset: true });
  await assert.rejects(approve());
  assert.deepEqual(azure.approvals(), []);
  const asked = approve();
  await azure.until(() => azure.approvals().includes(EventId));
  assert.equal((await asked).status, 200);
  assert.deepEqual(azure.approvals(), [EventId]);
});
