// A simulator on sockets → its addresses, ports, held answers; rows of docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { SimulatorServerOptions } from '../../src/simulator/server.ts';
import { freePorts, startServer } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { type Document, EVENTS } from '../virtual/simulation.ts';

const start = (t: TestContext, options: Partial<SimulatorServerOptions> = {}) =>
  startServer(t, { speed: 0, ...options });

const get = (url: string): Promise<Response> => fetch(url + EVENTS, { headers: { Metadata: 'true' } });
const documentAt = async (url: string): Promise<Document> => (await (await get(url)).json()) as Document;
const order = (url: string, method: string, path: string, body: object) =>
  fetch(`${url}/simulator${path}`, { method, body: JSON.stringify(body) });

test('the first machine also answers on a second address and port, for clients that discover the service (F-88)', async (t) => {
  const port = await freePorts();
  const server = await start(t, { vms: ['a', 'b'], also: [{ host: '127.0.0.1', port }] });
  await order(server.url, 'POST', '/events', {});
  const also = `http://127.0.0.1:${port}`;
  assert.deepEqual(await documentAt(also), await documentAt(server.url));
  const instance = await fetch(`${also}/metadata/instance/compute?api-version=2021-02-01`, {
    headers: { Metadata: 'true' },
  });
  assert.equal(((await instance.json()) as { name: string }).name, 'a');
  assert.equal((await fetch(`${also}/metadata/versions`, { headers: { Metadata: 'true' } })).status, 200);
});

test('each machine has its own port, with its own name and the same document as the others (F-55)', async (t) => {
  const server = await start(t, { vms: ['a', 'b', 'c'] });
  await order(server.url, 'POST', '/events', {});
  assert.equal(new Set(server.urls.map(({ url }) => url)).size, 3);
  const documents = await Promise.all(server.urls.map(({ url }) => documentAt(url)));
  for (const document of documents) assert.deepEqual(document, documents[0]);
  for (const { vm, url } of server.urls) {
    const answer = await fetch(`${url}/metadata/instance/compute?api-version=2021-02-01`, {
      headers: { Metadata: 'true' },
    });
    assert.equal(((await answer.json()) as { name: string }).name, vm);
  }
});

test('with --strict the first answer waits for the simulated clock, not for the real one (F-60)', async (t) => {
  const server = await start(t, { strict: true });
  let answered = false;
  const first = get(server.url).then((answer) => {
    answered = true;
    return answer;
  });
  await poll(() => server.group.journal.requests().length === 1, 'the first request');
  await order(server.url, 'PUT', '/clock', { advance: '119s' });
  assert.equal(answered, false);
  await order(server.url, 'PUT', '/clock', { advance: '1s' });
  assert.equal((await first).status, 200);
});

test('an answer declares JSON in UTF-8, and does not claim to be another server (F-12)', async (t) => {
  const { headers } = await get((await start(t)).url);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual([headers.get('server'), headers.get('x-ms-request-id')], [null, null]);
});

test('every answer has one Date, the simulated time at which it is sent (F-101)', async (t) => {
  const server = await start(t, { strict: true, speed: 0 });
  const nowMs = () => Math.floor(server.group.clock.nowMs() / 1000) * 1000;
  const dateMs = ({ headers }: Response) => Date.parse(headers.get('date') ?? '');
  await order(server.url, 'PUT', '/clock', { advance: '1d' });
  const askedMs = nowMs();
  const first = get(server.url);
  await poll(() => server.group.journal.requests().length === 1, 'the first request');
  await order(server.url, 'PUT', '/clock', { advance: '2m' });
  assert.equal(dateMs(await first), askedMs + 120_000);
  const paths = [
    '/metadata/nothing',
    '/metadata/instance?api-version=2021-02-01',
    '/simulator/clock',
    '/simulator/nothing',
    '/nothing',
    '/',
  ];
  for (const path of paths) assert.equal(dateMs(await fetch(server.url + path)), nowMs(), path);
  await order(server.url, 'PUT', '/faults', { headers: { DATE: 'Mon, 11 Apr 2022 22:26:58 GMT' } });
  assert.equal(
    (await get(server.url)).headers.get('date'),
    'Mon, 11 Apr 2022 22:26:58 GMT',
    'a fault has the last word',
  );
});

test('a HEAD gets 405 with Allow, without a body (F-09)', async (t) => {
  const answer = await fetch((await start(t)).url + EVENTS, { method: 'HEAD', headers: { Metadata: 'true' } });
  assert.deepEqual([answer.status, answer.headers.get('allow'), await answer.text()], [405, 'GET, POST', '']);
});
