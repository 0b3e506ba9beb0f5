// The simulator on a real socket → the answers of handle(), with faults applied; closing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import type { Logger } from 'pino';
import { BridgeError } from '../../../src/errors.ts';
import { type SimulatorServer, startSimulator } from '../../../src/simulator/server.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { startServer } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { EVENTS } from '../../virtual/simulation.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const METADATA = { Metadata: 'true' };

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

function ask(url: string, options: RequestOptions & { body?: string } = {}): ClientRequest {
  const asked = request(url, { headers: METADATA, ...options });
  // Node gives the body of a DELETE no length by itself: it would be another request.
  if (options.body !== undefined) asked.setHeader('Content-Length', Buffer.byteLength(options.body));
  return asked.end(options.body);
}

/** Returns the answer; rejects if the connection breaks before its end. */
async function receive(asked: ClientRequest): Promise<Received> {
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, text };
}

const control = (server: SimulatorServer, method: string, path: string, body: object = {}) =>
  receive(ask(`${server.url}/simulator${path}`, { method, headers: {}, body: JSON.stringify(body) }));

test('the metadata and the control routes answer over HTTP', async (t) => {
  const server = await startServer(t, { vms: ['web_1'] });
  const scheduled = await control(server, 'POST', '/events', { EventType: 'Reboot' });
  assert.equal(scheduled.status, 201);
  const { EventId } = JSON.parse(scheduled.text) as { EventId: string };
  const document = await receive(ask(server.url + EVENTS));
  assert.deepEqual(
    [document.status, document.headers['etag'], document.headers['content-length']],
    [200, '"2"', String(document.text.length)],
  );
  assert.deepEqual(JSON.parse(document.text).Events[0].Resources, ['web_1']);
  const approved = await receive(
    ask(server.url + EVENTS, { method: 'POST', body: JSON.stringify({ StartRequests: [{ EventId }] }) }),
  );
  assert.deepEqual([approved.status, approved.text], [200, '']);
  const unchanged = await receive(ask(server.url + EVENTS, { headers: { ...METADATA, 'If-None-Match': '"3"' } }));
  assert.deepEqual([unchanged.status, unchanged.text], [304, '']);
});

test('one connection serves consecutive requests', async (t) => {
  const server = await startServer(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  await receive(ask(server.url + EVENTS, { agent }));
  const second = ask(server.url + EVENTS, { agent });
  await receive(second);
  assert.equal(second.reusedSocket, true);
});

test('a scenario can play from the start', async (t) => {
  const server = await startServer(t, { scenario: 'demo' });
  assert.equal(JSON.parse((await receive(ask(server.url + EVENTS))).text).Events.length, 1);
});

test("a user's scenario is listed and can be started again, even with the name of a shipped one", async (t) => {
  for (const name of ['mine', 'demo']) {
    const action = { kind: 'schedule', fields: { EventType: 'Preempt' } } as const;
    const server = await startServer(t, { script: { name, purpose: 'of the user', steps: [{ afterMs: 0, action }] } });
    const listed = async () => {
      const { text } = await receive(ask(`${server.url}/simulator/scenarios`));
      const all = JSON.parse(text) as { name: string; purpose: string; running: boolean }[];
      return all.filter((scenario) => scenario.running || scenario.name === name);
    };
    assert.deepEqual(await listed(), [{ name, purpose: 'of the user', running: true }]);
    await control(server, 'DELETE', '');
    assert.deepEqual(await listed(), [{ name, purpose: 'of the user', running: false }]);
    assert.equal((await control(server, 'POST', `/scenarios/${name}`)).status, 200);
    const { Events } = JSON.parse((await receive(ask(server.url + EVENTS))).text) as {
      Events: { EventType: string }[];
    };
    assert.deepEqual(
      Events.map(({ EventType }) => EventType),
      ['Preempt'],
    );
  }
});

test('an unknown scenario is a usage error that lists the known ones', async () => {
  await assert.rejects(
    startSimulator({ listen: { host: '127.0.0.1', port: 0 }, scenario: 'x', deps: systemDeps() }),
    (error) => {
      assert.ok(error instanceof BridgeError);
      assert.deepEqual([error.code, /demo/.test(error.message)], ['BRIDGE_USAGE', true]);
      return true;
    },
  );
});

test('a port in use is an error that names the address', async (t) => {
  const { url } = await startServer(t);
  const port = Number(new URL(url).port);
  await assert.rejects(startSimulator({ listen: { host: '127.0.0.1', port }, deps: systemDeps() }), (error) => {
    assert.ok(error instanceof BridgeError && error.cause instanceof Error);
    assert.deepEqual([error.code, error.message.includes(`127.0.0.1:${port}`)], ['BRIDGE_SIMULATOR_LISTEN', true]);
    return true;
  });
});

test('listening beyond loopback is logged, listening on loopback is not (F-01)', async (t) => {
  const warnings: unknown[] = [];
  const logger = { warn: (...said: unknown[]) => warnings.push(said) } as unknown as Logger;
  await startServer(t, { logger });
  assert.equal(warnings.length, 0);
  const server = await startServer(t, { listen: { host: '0.0.0.0', port: 0 }, logger });
  assert.equal(warnings.length, 1);
  assert.equal((await receive(ask(server.url + EVENTS))).status, 200);
});

test('a delayed answer is sent after its delay (F-78)', async (t) => {
  const time = new VirtualTime();
  const server = await startServer(t, { deps: time });
  await control(server, 'PUT', '/faults', { delay: '90s', status: 504 });
  const asked = ask(server.url + EVENTS);
  let answered = false;
  asked.on('response', () => {
    answered = true;
  });
  const answer = receive(asked);
  await poll(() => server.group.journal.requests().length === 1 && time.pending === 1, 'the delay');
  await time.advance(89_999);
  assert.deepEqual([time.pending, answered], [1, false]);
  await time.advance(1);
  assert.equal((await answer).status, 504);
});

test('a reset breaks the connection without an answer (F-79)', async (t) => {
  const server = await startServer(t);
  await control(server, 'PUT', '/faults', { reset: true });
  await assert.rejects(receive(ask(server.url + EVENTS, { agent: false })), { code: 'ECONNRESET' });
  assert.equal((await receive(ask(server.url + EVENTS, { agent: false }))).status, 200);
});

for (const truncate of [0, 7]) {
  test(`an answer cut off after ${truncate} bytes announces its whole length (F-79)`, async (t) => {
    const server = await startServer(t);
    await control(server, 'PUT', '/faults', { truncate });
    const asked = ask(server.url + EVENTS, { agent: false });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    await assert.rejects(
      (async () => {
        for await (const chunk of answer) text += chunk;
      })(),
      { code: 'ECONNRESET' },
    );
    assert.equal(text, '{"Documen'.slice(0, truncate));
    assert.ok(Number(answer.headers['content-length']) > 7);
  });
}

test('an answer that is shorter than its cut is sent whole', async (t) => {
  const server = await startServer(t);
  await control(server, 'PUT', '/faults', { truncate: 10_000 });
  assert.equal(JSON.parse((await receive(ask(server.url + EVENTS))).text).DocumentIncarnation, 1);
});

test('headers that HTTP does not allow break the connection, not the simulator', async (t) => {
  const server = await startServer(t);
  await control(server, 'PUT', '/faults', { headers: { Trailer: 'x' } });
  await assert.rejects(receive(ask(server.url + EVENTS, { agent: false })), { code: 'ECONNRESET' });
  assert.equal((await receive(ask(server.url + EVENTS))).status, 200);
});

test('a body over 1 MiB gets 413 and has no effect', async (t) => {
  const server = await startServer(t);
  const body = JSON.stringify({ Description: 'x'.repeat(1024 * 1024) });
  assert.equal(
    (await receive(ask(`${server.url}/simulator/events`, { method: 'POST', headers: {}, body }))).status,
    413,
  );
  assert.equal(server.group.events.view.incarnation, 1);
});

test('a client that disconnects in the middle of its request affects no other', async (t) => {
  const server = await startServer(t);
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`POST ${EVENTS} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
  socket.destroy();
  await once(socket, 'close');
  assert.equal((await receive(ask(server.url + EVENTS))).status, 200);
});

test('closing ends open connections and waiting answers, and is idempotent', async (t) => {
  const time = new VirtualTime();
  const server = await startServer(t, { deps: time });
  await control(server, 'PUT', '/faults', { delay: '1h' });
  const asked = receive(ask(server.url + EVENTS));
  const refused = assert.rejects(asked, { code: 'ECONNRESET' });
  await poll(() => server.group.journal.requests().length === 1 && time.pending === 1, 'the delay');
  await server[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await refused;
  assert.equal(time.pending, 0);
  await assert.rejects(receive(ask(server.url + EVENTS)), { code: 'ECONNREFUSED' });
});
