// A TLS server and a certificate → connected, or refused before a byte is sent.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createPlainServer, type Server } from 'node:net';
import test, { type TestContext } from 'node:test';
import { createServer } from 'node:tls';
import { connectPinned } from '../../../src/net/pinned-connection.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';

const never = new AbortController().signal;

async function listening(t: TestContext, server: Server): Promise<URL> {
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

/** Of an authority that nobody trusts, for no name at all. */
const APPLICATION = readFileSync(new URL('../../fixtures/certificates/application-1.pem', import.meta.url), 'utf8');

test('only the certificate itself counts, not its name or its CA', async (t) => {
  const url = await listening(
    t,
    createServer({ cert: APPLICATION, key: APPLICATION }, (socket) => void socket.end('hello')),
  );
  const socket = await connectPinned(url, new X509Certificate(APPLICATION), never);
  t.after(() => socket.destroy());
  assert.equal((await socket.toArray()).join(''), 'hello');
});

test('a server with another certificate for the same address is rejected, and gets no data', async (t) => {
  const closed = Promise.withResolvers<void>();
  let bytes = 0;
  const server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => {
        bytes += data.length;
      });
  });
  server.on('connection', (socket) => socket.on('close', () => closed.resolve()));
  const url = await listening(t, server);
  await assert.rejects(
    connectPinned(url, new X509Certificate(APPLICATION), never),
    /a certificate other than the pinned one/,
  );
  await closed.promise;
  assert.equal(bytes, 0);
});

test('a server without TLS or one that hangs up is rejected, and an abort ends the wait', async (t) => {
  const certificate = new X509Certificate(CERTIFICATE);
  const hangingUp = await listening(
    t,
    createPlainServer((socket) => void socket.end()),
  );
  await assert.rejects(connectPinned(hangingUp, certificate, never));
  const aborting = new AbortController();
  const silent = createPlainServer((socket) => {
    socket.on('error', () => {}).on('data', () => aborting.abort(new Error('interrupted')));
  });
  const url = await listening(t, silent);
  await assert.rejects(connectPinned(url, certificate, aborting.signal), /interrupted/);
  await assert.rejects(connectPinned(url, certificate, aborting.signal), /interrupted/);
});
