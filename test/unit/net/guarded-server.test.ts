// Callers who do not read → one request of a connection at a time, within memory and time.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { RouteRequest } from '../../../src/http/route.ts';
import type { DropReason } from '../../../src/model/problems.ts';
import { poll } from '../../support/poll.ts';
import { rawConnection, rawConnections } from '../../support/raw-connection.ts';
import { APPROVER, HttpFixture } from '../../virtual/http-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const ASK = 'GET /answer HTTP/1.1\r\nHost: localhost\r\n\r\n';
const MEBIBYTE = 1024 * 1024;

/** A server with a route of its own, whose answers have so many bytes. */
async function serveAnswers(t: TestContext, bytes: number, work = async () => {}, { isInTurn = false } = {}) {
  const fixture = new HttpFixture();
  const time = new VirtualTime();
  const body = 'x'.repeat(bytes);
  const seen = { made: 0, atOnce: 0, mostAtOnce: 0, dropped: [] as DropReason[] };
  const handle = async ({ inTurn }: RouteRequest) => {
    seen.made++;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.atOnce);
    await (isInTurn ? inTurn(work) : work());
    seen.atOnce--;
    return { status: 200, headers: {}, body };
  };
  const parts = fixture.parts();
  const routes = [...parts.routes, { method: 'GET', path: '/answer', handle } as const];
  t.after(async () => {
    const closed = fixture.close();
    await time.advance(5000);
    await closed;
  });
  await fixture.start(t, {
    ...parts,
    routes,
    deps: { ...parts.deps, after: time.after },
    onDropped: (_, reason) => seen.dropped.push(reason),
  });
  return { fixture, time, seen };
}

/** Resolves when others have been answered so often that whatever went on meanwhile has come to rest. */
async function settled(fixture: HttpFixture, figure: () => number): Promise<void> {
  for (let before = -1; before !== figure(); ) {
    before = figure();
    for (let turn = 0; turn < 20; turn++) await fixture.send('GET', '/healthz');
  }
}

test('1,500 requests in one piece with unread answers cause as many answers as the operating system takes, and one', async (t) => {
  const { fixture, seen } = await serveAnswers(t, MEBIBYTE);
  const connection = await rawConnection(t, fixture.port);
  connection.send(ASK.repeat(1500));
  await settled(fixture, () => seen.made);
  assert.ok(seen.made >= 1 && seen.made < 50, `${seen.made} answers were made`);
});

test('requests that come in one piece are answered in their order, one at a time, and all of them', async (t) => {
  const { fixture, seen } = await serveAnswers(t, 3, () => new Promise((resolve) => process.nextTick(resolve)));
  const connection = (await rawConnection(t, fixture.port)).read();
  connection.send(`${ASK.repeat(600)}GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n${ASK.repeat(3)}`);
  await connection.answers(604);
  const statuses = [...connection.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.equal(statuses.indexOf('404'), 600);
  assert.deepEqual([seen.made, seen.mostAtOnce], [603, 1]);
});

test('while one connection sends thousands of requests others are answered after few of them', async (t) => {
  const { fixture, seen } = await serveAnswers(t, 3);
  const connection = (await rawConnection(t, fixture.port)).read();
  const before = await fixture.send('GET', '/healthz');
  connection.send(ASK.repeat(1400));
  await connection.answers(1);
  await fixture.send('GET', '/healthz');
  assert.equal(before.status, 200);
  assert.ok(seen.made < 700, `${seen.made} came before`);
  await connection.answers(1400);
});

test('what follows a body in the same piece is the next request, and a piece may end anywhere', async (t) => {
  const { fixture } = await serveAnswers(t, 3);
  const head = `POST /v1/approvals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${APPROVER}\r\nContent-Type: application/json\r\n`;
  const body = JSON.stringify({ StartRequests: [], filler: '\r\n\r\n'.repeat(2000) });
  const all = `${ASK}${head}Content-Length: ${body.length}\r\n\r\n${body}${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${ASK}`;
  const whole = (await rawConnection(t, fixture.port)).read().send(all);
  const inPieces = (await rawConnection(t, fixture.port)).read();
  for (let at = 0; at < all.length; at += 997) inPieces.send(all.slice(at, at + 997));
  for (const connection of [whole, inPieces]) {
    await connection.answers(4);
    assert.deepEqual(
      [...connection.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '200', '200', '200'],
    );
  }
  const said = fixture.asked.map(({ body: value }) => Object.keys(value as object).length);
  assert.deepEqual(said.toSorted(), [0, 0, 2, 2]);
});

test('an answer that is not read within 30 s ends its connection, which is reported', async (t) => {
  const { fixture, time, seen } = await serveAnswers(t, 12 * MEBIBYTE);
  const connection = await rawConnection(t, fixture.port);
  connection.send(ASK);
  await settled(fixture, () => seen.made);
  await time.advance(29_999);
  assert.deepEqual(seen.dropped, []);
  await time.advance(1);
  assert.deepEqual(seen.dropped, ['unread']);
  connection.read();
  await connection.closed();
});

test('an answer that is read has no end to fear', async (t) => {
  const { fixture, time, seen } = await serveAnswers(t, 8 * MEBIBYTE);
  const connection = (await rawConnection(t, fixture.port)).read().send(ASK);
  await settled(fixture, () => connection.text.length);
  await time.advance(5000);
  connection.send(ASK);
  await settled(fixture, () => connection.text.length);
  assert.deepEqual([seen.made, seen.dropped, connection.isClosed], [2, [], false]);
});

test('a server that closes leaves clients 5 s for an answer that they still read', async (t) => {
  const { fixture, seen } = await serveAnswers(t, 12 * MEBIBYTE);
  const connection = (await rawConnection(t, fixture.port)).send(ASK);
  await settled(fixture, () => seen.made);
  const closed = fixture.close();
  connection.read();
  await connection.closed();
  await closed;
  assert.ok(connection.text.length > 12 * MEBIBYTE, `${connection.text.length} bytes`);
});

test('a head that does not arrive within 10 s, and a body within 30 s, get a 408', async (t) => {
  const { fixture, time } = await serveAnswers(t, 3);
  const head = (await rawConnection(t, fixture.port)).read().send('GET /healthz HTTP/1.1\r\nX-Slow: ');
  const second = (await rawConnection(t, fixture.port)).read().send(ASK);
  await second.answers(1);
  second.send('GET /healthz');
  await settled(fixture, () => 0);
  await time.advance(9_999);
  assert.deepEqual([head.isClosed, second.isClosed], [false, false]);
  await time.advance(1);
  for (const connection of [head, second]) {
    await connection.closed();
    assert.match(connection.text, /HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n\r\n$/);
  }
  const body = (await rawConnection(t, fixture.port)).read();
  body.send(`POST /v1/approvals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${APPROVER}\r\n`);
  body.send('Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{');
  await settled(fixture, () => 0);
  await time.advance(29_999);
  assert.equal(body.isClosed, false);
  await time.advance(1);
  await body.closed();
  assert.match(body.text, /^HTTP\/1\.1 408 /);
});

test('a connection without a request is kept for 6 s, 1 s longer than its client is told', async (t) => {
  const { fixture, time } = await serveAnswers(t, 3);
  const connection = (await rawConnection(t, fixture.port)).read().send(ASK);
  await connection.answers(1);
  await settled(fixture, () => 0);
  assert.match(connection.text, /\r\nKeep-Alive: timeout=5\r\n/);
  await time.advance(5_999);
  assert.equal(connection.isClosed, false);
  await time.advance(1);
  await connection.closed();
});

test('of answers that nobody reads 16 MiB are kept at most: beyond, the oldest goes', async (t) => {
  const { fixture, seen } = await serveAnswers(t, 7 * MEBIBYTE);
  const first = (await rawConnection(t, fixture.port)).send(ASK);
  await settled(fixture, () => seen.made);
  const others = await rawConnections(t, 2, fixture.port);
  for (const connection of others) {
    connection.send(ASK);
    await settled(fixture, () => seen.made);
  }
  assert.deepEqual([seen.made, seen.dropped], [3, ['unread']]);
  first.read();
  await first.closed();
  for (const connection of others) assert.equal(connection.isClosed, false);
});

test('of requests that come ahead of their answers 8 MiB are kept at most: beyond, the connection with the most goes', async (t) => {
  const answers = Promise.withResolvers<void>();
  const { fixture, seen } = await serveAnswers(t, 3, () => answers.promise, { isInTurn: true });
  const patient = (await rawConnection(t, fixture.port)).read();
  patient.send(ASK);
  const flood = Buffer.from(ASK.repeat(MEBIBYTE / ASK.length));
  // Each with more than the 64 KiB that are read at once.
  const crowd = await rawConnections(t, 200, fixture.port);
  for (const connection of crowd) connection.send(flood);
  await poll(() => seen.dropped.length >= 70, 'the closed connections');
  await settled(fixture, () => seen.dropped.length);
  assert.deepEqual([...new Set(seen.dropped)], ['crowded']);
  assert.equal((await fixture.send('GET', '/healthz')).status, 200);
  answers.resolve();
  await patient.answers(1);
});

test('a body that is not read yet stays with its sender', async (t) => {
  const fixture = new HttpFixture();
  const asked = Promise.withResolvers<void>();
  const parts = fixture.parts();
  const handle = async () => {
    asked.resolve();
    return new Promise<never>(() => {});
  };
  await fixture.start(t, { ...parts, routes: [...parts.routes, { method: 'POST', path: '/slow', handle }] });
  const connection = await rawConnection(t, fixture.port);
  const bytes = 32 * MEBIBYTE;
  connection
    .send(`POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n`)
    .send(Buffer.alloc(bytes));
  await asked.promise;
  const left = () => connection.socket.writableLength;
  await settled(fixture, left);
  assert.ok(left() > bytes / 2, `${left()} bytes are with the sender`);
  connection.socket.destroy();
});
