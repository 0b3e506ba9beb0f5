// A bridge's documents and stream, in any order → what it lists, never older than the stream.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { systemDeps } from '../../../../src/time/system.ts';
import { WatchedBridge } from '../../../../src/verbs/top/watched-bridge.ts';
import { poll } from '../../../support/poll.ts';

const EVENT = { eventId: 'A', eventType: 'Reboot', eventStatus: 'Scheduled', resources: ['web_0'] };
const READY = { ready: true, reasons: [], heldAll: { by: 'ops', at: '2026-01-01T00:00:00Z', reason: 'release day' } };
const SINKS = [
  { name: 'good', state: 'delivering', queued: 3, deadLetters: 0, lastError: { message: 'long ago' } },
  { name: 'bad', state: 'probing', queued: 1, deadLetters: 0, lastError: { message: 'sink bad: cannot be reached' } },
  { name: 'dead', state: 'delivering', queued: 0, deadLetters: 2, lastError: { message: 'long ago' } },
];

/** A bridge that is connected; its documents wait until the test answers them. */
async function connected(t: TestContext) {
  const events: ServerResponse[] = [];
  let stream: ServerResponse | null = null;
  const server = createServer(({ url }, response) => {
    if (url === '/v1/stream') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':\n\n');
    } else if (url === '/v1/events') events.push(response);
    else response.end(JSON.stringify(url === '/readyz' ? READY : SINKS));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const closing = new AbortController();
  const bridge = new WatchedBridge({ url, headers: {} }, { deps: systemDeps(), signal: closing.signal }, () => {});
  t.after(() => {
    closing.abort();
    bridge.close();
    server.closeAllConnections();
    server.close();
  });
  bridge.open(0);
  await poll(() => bridge.isConnected, 'the stream');
  const asked = async () => {
    await poll(() => events.length > 0, 'a request for the events');
    return events.shift() ?? assert.fail('none');
  };
  const publish = (change: string, data: object) =>
    stream?.write(`event: ${change}\ndata: ${JSON.stringify({ id: `a:${change}`, data })}\n\n`);
  return { bridge, asked, publish };
}

const listing = (...events: readonly object[]) => JSON.stringify({ vm: { name: 'web_0' }, state: 'watching', events });

test('an event that ends while a document is on its way does not come back with it', async (t) => {
  const { bridge, asked, publish } = await connected(t);
  const first = bridge.read('events');
  (await asked()).end(listing(EVENT));
  await first;
  assert.deepEqual([...bridge.events.keys()], ['a']);
  const second = bridge.read('events');
  const document = await asked();
  publish('ended', EVENT);
  await poll(() => bridge.events.size === 0, 'its end');
  document.end(listing(EVENT));
  await second;
  assert.equal(bridge.events.size, 0);
});

test('a change is shown at once, names its CloudEvent, and makes the bridge due to be read again', async (t) => {
  const { bridge, asked, publish } = await connected(t);
  const reading = bridge.read('events');
  (await asked()).end(listing({ ...EVENT, cloudEventId: 'a:scheduled' }));
  await reading;
  assert.equal(bridge.staleness, 'fresh');
  publish('updated', { ...EVENT, eventType: 'Redeploy' });
  await poll(() => bridge.events.get('a')?.eventType === 'Redeploy', 'the change');
  assert.deepEqual([bridge.events.get('a')?.cloudEventId, bridge.staleness], ['a:updated', 'changed']);
});

test('sinks that deliver are no trouble, unless they have dead letters; the hold of everything is named', async (t) => {
  const { bridge, asked } = await connected(t);
  const reading = bridge.read('all');
  (await asked()).end(listing());
  await reading;
  assert.deepEqual(
    bridge.sinks.map(({ name, error }) => [name, error]),
    [
      ['bad', 'cannot be reached'],
      ['dead', null],
    ],
  );
  assert.deepEqual(
    [bridge.heldAll, bridge.name, bridge.fault],
    ['everything is held by ops: release day', 'web_0', null],
  );
});

test('an answer that is not of a bridge is a fault, and what was listed stays', async (t) => {
  const { bridge, asked } = await connected(t);
  const first = bridge.read('events');
  (await asked()).end(listing(EVENT));
  await first;
  const second = bridge.read('events');
  (await asked()).writeHead(502).end('<html>');
  await second;
  assert.deepEqual([bridge.fault, bridge.events.size], ['/v1/events answered 502', 1]);
});
