// Certificates of clients over TLS → the names that they prove, or none.
import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import tls from 'node:tls';
import { pino } from 'pino';
import { json } from '../../../src/http/route.ts';
import { openHttpServer } from '../../../src/http/server/server.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CertificateAuthority, type Issued } from '../../far-sides/certificate-authority.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function inFile(path: string, text: string): Secret {
  const secret = new Secret({ file: path });
  secret.open(text.replace(/\n$/, ''), path);
  return secret;
}

interface Shown {
  readonly exact: readonly string[];
  readonly dns: readonly string[];
}

/** A server that tells which certificate it saw, with files of its own that a test may replace, and clients of it. */
async function fixture(t: TestContext) {
  const authority = await CertificateAuthority.create(t);
  const served = await authority.issue('IP:127.0.0.1');
  const at = (name: string) => join(dirname(authority.file), name);
  const put = ({ certFile, keyFile }: Issued) => {
    copyFileSync(certFile, at('server.pem'));
    copyFileSync(keyFile, at('server-key.pem'));
  };
  const putCa = (file: string) => copyFileSync(file, at('client-ca.pem'));
  put(served);
  putCa(authority.file);
  // A little later than the certificates that a test has made meanwhile.
  const time = new VirtualTime({ startMs: Date.now() + 60_000 });
  const log: { readonly level: number; readonly reason?: string }[] = [];
  const hasHead = Promise.withResolvers<void>();
  const server = await openHttpServer({
    setting: 'http.listen',
    listen: { host: '127.0.0.1', port: 0 },
    tls: {
      cert: inFile(at('server.pem'), served.cert),
      key: inFile(at('server-key.pem'), served.key),
      clientCa: inFile(at('client-ca.pem'), authority.cert),
    },
    routes: [
      { method: 'GET', path: '/who', handle: ({ certificate }) => json(200, { certificate: certificate() }) },
      {
        ...{ method: 'POST', path: '/who' },
        handle: async ({ certificate, body }) => {
          const early = certificate();
          hasHead.resolve();
          await body(100);
          return json(200, { certificate: { early, late: certificate() } });
        },
      },
    ],
    onDropped: () => {},
    deps: time,
    logger: pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) }),
  });
  t.after(() => server[Symbol.asyncDispose]());
  const { port } = server;
  const who = (options: https.RequestOptions = {}): Promise<Shown | null> =>
    new Promise((resolve, reject) => {
      const target = { host: '127.0.0.1', port, path: '/who', ca: authority.cert, agent: false as const, ...options };
      const request = https.get(target, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(JSON.parse(text).certificate));
      });
      request.on('error', reject);
    });
  /** The certificate before a body and after it; `between` runs while the body is waited for. */
  const whoAround = async ({ cert, key }: Issued, between: () => Promise<void>) => {
    const headers = { 'content-length': 2 };
    const target = {
      host: '127.0.0.1',
      port,
      path: '/who',
      ca: authority.cert,
      agent: false as const,
      cert,
      key,
      headers,
    };
    const answer = Promise.withResolvers<{ readonly early: Shown | null; readonly late: Shown | null }>();
    const request = https.request({ ...target, method: 'POST' }, (response) => {
      readText(response).then((said) => answer.resolve(JSON.parse(said).certificate), answer.reject);
    });
    request.on('error', answer.reject);
    request.write('{');
    await hasHead.promise;
    await between();
    request.end('}');
    return answer.promise;
  };
  const whoWith = ({ cert, key }: Issued, options: https.RequestOptions = {}) => who({ cert, key, ...options });
  /** The certificate that the server shows. */
  const shownByServer = async (): Promise<string> => {
    const socket = tls.connect({ host: '127.0.0.1', port, ca: authority.cert });
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  return { authority, at, put, putCa, time, log, who, whoAround, whoWith, shownByServer };
}

test('the names of a certificate that the authority signed are returned: common name, URIs and e-mail as they are, DNS names', async (t) => {
  const { authority, whoWith } = await fixture(t);
  const certificate = await authority.issue(
    'DNS:Orders.test,DNS:two.test,URI:spiffe://test/orders,email:Orders@test,IP:127.0.0.1',
    {
      subject: '/O=Test/CN=Orders service',
    },
  );
  assert.deepEqual(await whoWith(certificate), {
    exact: ['Orders service', 'spiffe://test/orders', 'Orders@test'],
    dns: ['orders.test', 'two.test'],
  });
  assert.deepEqual(await whoWith(await authority.issue(null, { subject: '/CN=plain' })), { exact: ['plain'], dns: [] });
  assert.deepEqual(await whoWith(await authority.issue('DNS:only.test', { subject: '/O=Test' })), {
    exact: [],
    dns: ['only.test'],
  });
});

test('a certificate is asked for and not required: without one a request comes through', async (t) => {
  const { who } = await fixture(t);
  assert.equal(await who(), null);
});

test('a certificate of another authority, an expired one and one for servers alone count as none', async (t) => {
  const { authority, whoWith } = await fixture(t);
  const stranger = await CertificateAuthority.create(t);
  for (const certificate of [
    await stranger.issue('DNS:orders.test', { subject: '/CN=orders' }),
    await authority.issue('DNS:orders.test', { expired: true }),
    await authority.issue('DNS:orders.test', { usage: 'serverAuth' }),
  ]) {
    assert.equal(await whoWith(certificate), null);
  }
  assert.notEqual(await whoWith(await authority.issue('DNS:orders.test', { usage: 'clientAuth' })), null);
});

test('a value cannot pose as two: separators in it stay in it', async (t) => {
  const { authority, whoWith } = await fixture(t);
  for (const value of [
    'URI.1 = "http://a.test/, DNS:orders.test"',
    'email.1 = "x, DNS:orders.test"',
    'DNS.1 = "a.test, DNS:orders.test"',
  ]) {
    const shown = await whoWith(
      await authority.issue(`@names\n[names]\n${value}`, { subject: '/CN=a, DNS:orders.test' }),
    );
    assert.ok(shown !== null, value);
    assert.ok(shown.exact.includes('a, DNS:orders.test'));
    assert.ok(!shown.dns.includes('orders.test'), `${value}: ${JSON.stringify(shown)}`);
  }
});

test('of several common names none counts', async (t) => {
  const { authority, whoWith } = await fixture(t);
  assert.deepEqual(await whoWith(await authority.issue(null, { subject: '/CN=orders/CN=billing' })), {
    exact: [],
    dns: [],
  });
});

test('on a connection that stays open a certificate counts no longer than it is valid', async (t) => {
  const { authority, whoWith, time } = await fixture(t);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const certificate = await authority.issue('DNS:orders.test');
  assert.notEqual(await whoWith(certificate, { agent }), null);
  time.jumpWall(3 * 86_400_000);
  assert.equal(await whoWith(certificate, { agent }), null);
});

test('a certificate no longer counts if it expires, or its authority is removed, while its body arrives', async (t) => {
  for (const how of ['expires', 'authority']) {
    const { authority, whoAround, time, putCa } = await fixture(t);
    const stranger = await CertificateAuthority.create(t);
    const { early, late } = await whoAround(await authority.issue('DNS:orders.test'), async () => {
      if (how === 'expires') return time.jumpWall(3 * 86_400_000);
      putCa(stranger.file);
      await time.advance(1000);
    });
    assert.deepEqual([early?.dns, late], [['orders.test'], null], how);
  }
});

test('unchanged files cause no report', async (t) => {
  const { who, time, log } = await fixture(t);
  await who();
  await time.advance(1000);
  await who();
  assert.deepEqual(log, []);
});

test('a renewed certificate of the server is shown within a second, without a restart', async (t) => {
  const { authority, put, time, shownByServer, who, log } = await fixture(t);
  const before = await shownByServer();
  put(await authority.issue('IP:127.0.0.1'));
  assert.equal(await shownByServer(), before);
  await time.advance(1000);
  assert.notEqual(await shownByServer(), before);
  assert.equal(await who(), null);
  assert.equal(log.length, 1);
});

test('files that no server can use leave the old ones in use, which is reported once without their content', async (t) => {
  const { authority, at, put, time, shownByServer, who, log } = await fixture(t);
  const before = await shownByServer();
  const fresh = await authority.issue('IP:127.0.0.1');
  copyFileSync(fresh.certFile, at('server.pem'));
  for (let second = 0; second < 3; second++) {
    await time.advance(1000);
    assert.equal(await shownByServer(), before);
  }
  writeFileSync(at('client-ca.pem'), 'private words');
  put(fresh);
  await time.advance(1000);
  assert.equal(await shownByServer(), before);
  assert.deepEqual(
    log.map(({ reason }) => reason?.split(':')[0]),
    [
      'http.tls.key is not the key of the certificate in tls.cert',
      'http.tls.clientCa is not a file with certificates in PEM format',
    ],
  );
  assert.match(log[0]?.reason ?? '', /server-key\.pem; the next attempt reads them again$/);
  copyFileSync(authority.file, at('client-ca.pem'));
  await time.advance(1000);
  assert.equal(await who(), null);
  assert.notEqual(await shownByServer(), before);
});

test('once other authorities are trusted, certificates of the old ones no longer count, on open connections and in resumed sessions', async (t) => {
  const { authority, putCa, time, whoWith } = await fixture(t);
  const next = await CertificateAuthority.create(t);
  const [old, fresh] = [await authority.issue('DNS:old.test'), await next.issue('DNS:new.test')];
  const agents = ['TLSv1.2', 'TLSv1.3'].map((version) => {
    const tlsVersion = version as tls.SecureVersion;
    return new https.Agent({ keepAlive: true, maxSockets: 1, minVersion: tlsVersion, maxVersion: tlsVersion });
  });
  for (const agent of agents) {
    t.after(() => agent.destroy());
    assert.deepEqual((await whoWith(old, { agent }))?.dns, ['old.test']);
  }
  putCa(next.file);
  await time.advance(1000);
  for (const agent of agents) {
    assert.equal(await whoWith(old, { agent }), null);
    // The connection ended with that answer; the next one resumes the session.
    assert.equal(await whoWith(old, { agent }), null);
    assert.deepEqual((await whoWith(fresh, { agent }))?.dns, ['new.test']);
  }
});

test('a session that is resumed while the same authorities are trusted still has its caller', async (t) => {
  const { authority, whoWith } = await fixture(t);
  const certificate = await authority.issue('DNS:orders.test');
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const agent = new https.Agent({
      keepAlive: false,
      maxCachedSessions: 10,
      minVersion: version,
      maxVersion: version,
    });
    assert.deepEqual((await whoWith(certificate, { agent }))?.dns, ['orders.test']);
    assert.deepEqual((await whoWith(certificate, { agent }))?.dns, ['orders.test']);
  }
});
