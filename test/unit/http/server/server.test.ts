// Addresses, ports and certificates → servers that listen and close, or an error with a cure.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import test, { type TestContext } from 'node:test';
import { healthRoutes } from '../../../../src/http/health-routes.ts';
import { openHttpServer } from '../../../../src/http/server/server.ts';
import { Secret } from '../../../../src/secrets/secret.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../../far-sides/certificate.ts';
import { APPROVER, HttpFixture, serve } from '../../../virtual/http-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

function pem(text: string): Secret {
  const secret = new Secret({ file: 'server.pem' });
  secret.open(text);
  return secret;
}

test('a port in use is reported with address and setting, and what to do', async (t) => {
  const fixture = await serve(t);
  const second = openHttpServer({ ...fixture.parts(), listen: { host: '127.0.0.1', port: fixture.port } });
  await assert.rejects(second, (error: Error & { code: string }) => {
    assert.equal(error.code, 'BRIDGE_HTTP_LISTEN');
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${fixture.port} \\(http\\.listen\\): another program`));
    return true;
  });
});

test('an address that this machine does not have is reported', async () => {
  const server = openHttpServer({ ...new HttpFixture().parts(), listen: { host: '192.0.2.1', port: 0 } });
  await assert.rejects(server, { code: 'BRIDGE_HTTP_LISTEN' });
});

test('with a certificate it speaks HTTPS', async (t) => {
  const fixture = new HttpFixture(true);
  await fixture.start(t, {
    ...fixture.parts(),
    tls: { cert: pem(CERTIFICATE), key: pem(PRIVATE_KEY), clientCa: null },
  });
  assert.equal((await fixture.send('GET', '/healthz')).status, 200);
});

test('an invalid certificate is reported without its text', async () => {
  const fixture = new HttpFixture(true);
  const server = openHttpServer({
    ...fixture.parts(),
    tls: { cert: pem('no certificate'), key: pem('a private word'), clientCa: null },
  });
  await assert.rejects(server, (error: Error & { code: string }) => {
    assert.equal(error.code, 'BRIDGE_HTTP_TLS');
    assert.match(error.message, /file server\.pem/);
    assert.doesNotMatch(error.message, /private word/);
    assert.equal(error.cause, undefined);
    return true;
  });
});

test('the second listener serves health alone', async (t) => {
  const fixture = new HttpFixture();
  const ports = {
    readiness: () => fixture.readiness(false),
    drain: () => null,
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
  };
  const routes = healthRoutes(ports, async () => false);
  await fixture.start(t, { ...fixture.parts(), routes });
  assert.equal((await fixture.send('GET', '/healthz')).status, 200);
  assert.equal((await fixture.send('GET', '/v1/events')).status, 404);
  assert.equal((await fixture.approve()).status, 404);
});

test('headers beyond 16 KiB are refused', async (t) => {
  const fixture = await serve(t);
  assert.equal((await fixture.send('GET', '/healthz', { headers: { 'x-long': 'x'.repeat(17_000) } })).status, 431);
});

test('a connection is kept for the next request, also after a body that was too large', async (t) => {
  const fixture = await serve(t);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const headers = { authorization: `Bearer ${APPROVER}`, 'content-type': 'application/json' };
  const refused = await fixture.send('POST', '/v1/approvals', { headers, body: 'x'.repeat(300_000), agent });
  assert.equal(refused.status, 413);
  assert.equal((await fixture.send('GET', '/healthz', { agent })).status, 200);
});

test('a caller who goes away in the middle of a body leaves no error behind, and others are served', async (t) => {
  const fixture = await serve(t);
  const socket = net.connect(fixture.port, '127.0.0.1');
  socket.on('error', () => {});
  const head = `POST /v1/approvals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${APPROVER}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: 100\r\n\r\n{"StartRequests"`);
  await fixture.send('GET', '/healthz');
  socket.destroy();
  await fixture.send('GET', '/healthz');
  assert.equal((await fixture.approve()).status, 200);
  assert.ok(fixture.log.every((line) => JSON.parse(line).level < 50));
});

/** A request whose answer waits; `isAsked` resolves once it is there. */
async function waiting(t: TestContext, fixture: HttpFixture, agent: http.Agent) {
  const isAsked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  fixture.answer = async () => {
    isAsked.resolve();
    await release.promise;
    return { kind: 'results', status: 200, results: [] };
  };
  t.after(() => agent.destroy());
  const headers = { authorization: `Bearer ${APPROVER}`, 'content-type': 'application/json' };
  const answer = fixture.send('POST', '/v1/approvals', { headers, body: '{}', agent });
  answer.catch(() => {});
  await isAsked.promise;
  return { answer, release: release.resolve };
}

test('closing waits for an answer under way, then closes its connection, and takes no new one', async (t) => {
  const fixture = new HttpFixture();
  const server = await openHttpServer(fixture.parts());
  fixture.port = server.port;
  const agent = new http.Agent({ keepAlive: true });
  const { answer, release } = await waiting(t, fixture, agent);
  const closed = server[Symbol.asyncDispose]();
  await assert.rejects(fixture.send('GET', '/healthz'), { code: 'ECONNREFUSED' });
  release();
  assert.equal((await answer).headers.connection, 'close');
  await closed;
});

test('closing cuts an answer that hangs off after 5 s', async (t) => {
  const fixture = new HttpFixture();
  const time = new VirtualTime();
  const server = await openHttpServer({ ...fixture.parts(), deps: time });
  fixture.port = server.port;
  const { answer, release } = await waiting(t, fixture, new http.Agent());
  t.after(() => release());
  const closed = server[Symbol.asyncDispose]();
  await time.advance(5000);
  await closed;
  await assert.rejects(answer, { code: 'ECONNRESET' });
});
