// Many idle connections → valid callers are served all the same, in plain HTTP and TLS.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { DropReason } from '../../../src/model/problems.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { poll } from '../../support/poll.ts';
import { type RawConnection, rawConnection, rawConnections } from '../../support/raw-connection.ts';
import { APPROVER, HttpFixture } from '../../virtual/http-fixture.ts';

const ASK = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

function pem(text: string): Secret {
  const secret = new Secret({ file: 'server.pem' });
  secret.open(text);
  return secret;
}

async function serveCrowd(t: TestContext, isTls = false, setting = 'http.listen') {
  const fixture = new HttpFixture(isTls);
  const dropped: [network: string, reason: DropReason][] = [];
  const tls = isTls ? { cert: pem(CERTIFICATE), key: pem(PRIVATE_KEY), clientCa: null } : null;
  const onDropped = (network: string, reason: DropReason) => dropped.push([network, reason]);
  await fixture.start(t, { ...fixture.parts(), setting, tls, onDropped });
  return { fixture, dropped };
}

for (const isTls of [false, true]) {
  const way = isTls ? 'TLS' : 'plain HTTP';

  test(`1,024 silent connections of an approver's own address do not keep it out, by ${way}`, async (t) => {
    const { fixture, dropped } = await serveCrowd(t, isTls);
    // Of TCP alone: with TLS these are handshakes that never begin.
    const silent: RawConnection[] = [];
    while (silent.length < 1024) {
      silent.push(...(await rawConnections(t, 128, fixture.port)));
      await fixture.send('GET', '/healthz');
    }
    for (let request = 0; request < 3; request++) assert.equal((await fixture.approve()).status, 200);
    assert.ok(
      dropped.length >= 1024 - 256 &&
        dropped.every(([network, reason]) => network === '127.0.0.1' && reason === 'crowded'),
    );
    for (const connection of silent) connection.read();
    await poll(
      () => silent.filter(({ isClosed }) => isClosed).length >= 1024 - 256,
      'the end of those that waited longest',
    );
    assert.equal(silent.slice(-100).filter(({ isClosed }) => isClosed).length, 0);
  });
}

test('heads that come byte by byte count as silence: they make room for those behind them', async (t) => {
  const { fixture, dropped } = await serveCrowd(t);
  const slow = await rawConnections(t, 256, fixture.port);
  for (const connection of slow) connection.send('GET /healthz HTTP/1.1\r\nX-Slow: ');
  await fixture.send('GET', '/healthz');
  for (const connection of slow) connection.send('a');
  assert.equal((await fixture.approve()).status, 200);
  assert.ok(dropped.length >= 1);
});

test('if many addresses fill all places, the one with the most connections makes room, and an idle connection of another stays', async (t) => {
  const { fixture, dropped } = await serveCrowd(t);
  const own = (await rawConnection(t, fixture.port, { localAddress: '127.0.0.9' })).read();
  for (let host = 10; host < 16; host++)
    await rawConnections(t, 200, fixture.port, { localAddress: `127.0.0.${host}` });
  assert.equal((await fixture.approve()).status, 200);
  await poll(() => dropped.length >= 1 + 6 * 200 - 1024, 'those that made room');
  assert.ok(dropped.every(([network, reason]) => /^127\.0\.0\.1[0-5]$/.test(network) && reason === 'crowded'));
  own.send(ASK);
  await own.answers(1);
});

test('running requests are never cut off for others: if they take all places, a new caller is refused until one ends', async (t) => {
  const { fixture, dropped } = await serveCrowd(t);
  const release = Promise.withResolvers<void>();
  fixture.answer = async () => {
    await release.promise;
    return { kind: 'results', status: 200, results: [] };
  };
  const head = `POST /v1/approvals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${APPROVER}\r\nContent-Type: application/json\r\n`;
  const busy = [];
  for (let round = 0; round < 8; round++) {
    const more = await rawConnections(t, 128, fixture.port);
    for (const connection of more) connection.read().send(`${head}Content-Length: 2\r\n\r\n{}`);
    busy.push(...more);
    await poll(() => fixture.asked.length === busy.length, 'requests under way');
  }
  await assert.rejects(fixture.send('GET', '/healthz'), { code: 'ECONNRESET' });
  assert.deepEqual(dropped, [['127.0.0.1', 'full']]);
  release.resolve();
  await Promise.all(busy.map((connection) => connection.answers(1)));
  assert.equal((await fixture.send('GET', '/healthz')).status, 200);
});

test('a handshake that does not end within 10 s is cut off', { timeout: 100_000 }, async (t) => {
  const { fixture } = await serveCrowd(t, true);
  const begun = (await rawConnection(t, fixture.port)).read().send(Buffer.from('160301020001', 'hex'));
  // Node's own limit would be 120 s.
  await poll(() => begun.isClosed, 'the end of a handshake', 60_000);
});

test('closing does not wait for connections on which nothing was asked, nor for handshakes', async (t) => {
  for (const isTls of [false, true]) {
    const { fixture } = await serveCrowd(t, isTls);
    const silent = (await rawConnection(t, fixture.port)).read();
    await fixture.send('GET', '/healthz');
    await fixture.close();
    await silent.closed();
  }
});
