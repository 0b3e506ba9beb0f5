// Host headers on loopback → accepted or 421, by simulator and recorder.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { startRecordingProxy } from '../../../src/simulator/recording/recording-proxy.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { startServer } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { EVENTS } from '../../virtual/simulation.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };

/** Sends a request as a page does whose own name resolves to loopback. */
async function askAs(
  host: string,
  url: string,
  method = 'GET',
  body?: string,
): Promise<{ status: number; type: string | undefined }> {
  const asked = request(url, {
    method,
    agent: false,
    headers: { Host: host, Origin: `http://${host}`, Metadata: 'true' },
  }).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return { status: answer.statusCode ?? 0, type: answer.headers['content-type'] };
}

async function record(t: TestContext, upstream: string, allowHosts: readonly string[] = []): Promise<string> {
  const path = join(folderOf(t), 'night.ndjson');
  const proxy = await startRecordingProxy({
    listen: LOOPBACK,
    upstream,
    path,
    anonymise: false,
    deps: systemDeps(),
    allowHosts,
  });
  t.after(() => proxy[Symbol.asyncDispose]());
  return proxy.url;
}

const ROUTES: readonly (readonly [method: string, path: string, body?: string])[] = [
  ['GET', EVENTS],
  ['POST', EVENTS, '{"StartRequests":[{"EventId":"A"}]}'],
  ['GET', '/metadata/instance?api-version=2021-02-01'],
  ['POST', '/simulator/events', '{"EventType":"Reboot"}'],
  ['GET', '/simulator'],
  ['GET', '/simulator/requests'],
  ['DELETE', '/simulator'],
  ['GET', '/'],
  ['GET', '/page.js'],
  ['GET', '/nothing'],
];

test('a page whose own name resolves to the simulator gets 421 on every route, and changes nothing', async (t) => {
  const server = await startServer(t);
  server.group.events.schedule({ EventId: 'A' }, server.group.clock.nowMs());
  for (const [method, path, body] of ROUTES) {
    const answer = await askAs('evil.example:18090', server.url + path, method, body);
    assert.deepEqual(answer, { status: 421, type: 'application/problem+json' }, `${method} ${path}`);
  }
  assert.deepEqual(
    server.group.events.entries().map(({ event }) => [event.EventId, event.EventStatus]),
    [['A', 'Scheduled']],
  );
  assert.deepEqual(server.group.journal.requests(), []);
});

test('a page whose own name resolves to the recorder gets 421, and upstream gets no request', async (t) => {
  const upstream = await startServer(t);
  const url = await record(t, upstream.url);
  for (const [method, path, body] of ROUTES)
    assert.equal((await askAs('evil.example', url + path, method, body)).status, 421, path);
  assert.deepEqual(upstream.group.journal.requests(), []);
  assert.equal((await askAs('localhost', url + EVENTS)).status, 200);
});

test('loopback names and addresses are accepted, and the address that unmodified clients use behind a forwarder', async (t) => {
  const { url } = await startServer(t);
  for (const host of ['127.0.0.1', 'localhost:9', 'LOCALHOST', '127.8.8.8:80', '[::1]:8080', '169.254.169.254'])
    assert.equal((await askAs(host, url + EVENTS)).status, 200, host);
  for (const host of [
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:127.0.0.1',
    '10.0.0.1',
    '[::2]',
  ])
    assert.equal((await askAs(host, url + EVENTS)).status, 421, host);
});

test('an HTTP/1.0 client without Host is accepted: it is not a browser', async (t) => {
  const { port } = new URL((await startServer(t)).url);
  const socket = connect(Number(port), '127.0.0.1').end(`GET ${EVENTS} HTTP/1.0\r\nMetadata: true\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 200 /);
});

test('another name can be allowed explicitly', async (t) => {
  const allowHosts = ['host.docker.internal'];
  const server = await startServer(t, { allowHosts });
  const recorder = await record(t, server.url, allowHosts);
  for (const url of [server.url, recorder]) {
    assert.equal((await askAs('Host.Docker.Internal:8080', url + EVENTS)).status, 200);
    assert.equal((await askAs('evil.example', url + EVENTS)).status, 421);
  }
});

test('beyond loopback every Host is accepted, since containers, port mappings and forwarders have their own names', async (t) => {
  const server = await startServer(t, { listen: { host: '0.0.0.0', port: 0 } });
  assert.equal((await askAs('imds.test', server.url + EVENTS)).status, 200);
});
