// An issuer's keys → when they are fetched, how long they serve, also while it is away.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { type CryptoKey, importJWK } from 'jose';
import { pino } from 'pino';
import { JwtVerifier } from '../../../src/auth/jwt.ts';
import { type KeySet, openKeySet } from '../../../src/auth/key-set.ts';
import type { JwtOptions } from '../../../src/auth/options.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { AUDIENCE, ISSUER, Issuer } from '../../far-sides/token-issuer.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const MINUTE = 60_000;

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly message: string };
  readonly reason?: string;
}

/** A verifier with the keys of `options`, by default those of the issuer. */
async function fixture(t: TestContext, options: Partial<JwtOptions> = {}) {
  const issuer = await Issuer.start(t);
  const time = new VirtualTime();
  const log: LogLine[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const usual = {
    issuer: ISSUER,
    audiences: [AUDIENCE],
    jwks: issuer.url,
    claim: 'sub',
    algorithms: ['RS256'],
    types: [],
    clockToleranceMs: 0,
    maxLifetimeMs: 2_592_000_000,
  };
  const given: JwtOptions = { ...usual, allowPrivate: ['127.0.0.1'], tls: null, ...options };
  const keys = openKeySet(given, time, logger);
  const verifier = new JwtVerifier(given, new Map([['orders', 'orders']]), time, logger, keys);
  /** By a token of its own, so that none was proved before. */
  let serial = 0;
  const ask = async (header: { kid?: string } = {}) => {
    serial += 1;
    return (
      await verifier.verify(
        await issuer.token(time.wallMs(), { jti: serial, exp: time.wallMs() / 1000 + 1_000_000 }, header),
        'here',
      )
    ).kind;
  };
  const errors = () => log.filter(({ level }) => level === 50).map(({ err, msg }) => err?.message ?? msg);
  return { issuer, time, log, verifier, keys, options: given, ask, errors };
}

const unavailable = { code: 'BRIDGE_JWT_KEYS' };

test('keys are fetched at the first token, cached for ten minutes, and then fetched again before use', async (t) => {
  const { issuer, time, ask } = await fixture(t);
  assert.equal(issuer.requests, 0);
  await Promise.all([ask(), ask(), ask()]);
  await time.advance(10 * MINUTE - 1);
  assert.equal(await ask(), 'approver');
  assert.equal(issuer.requests, 1);
  await time.advance(1);
  assert.equal(await ask(), 'approver');
  assert.equal(issuer.requests, 2);
  assert.equal(time.pending, 0, 'a time limit is still running');
});

test('the request for keys asks for plain JSON and names the bridge', async (t) => {
  const { issuer, ask } = await fixture(t);
  const received: IncomingHttpHeaders[] = [];
  issuer.misbehave = (response) => {
    received.push(response.req.headers);
    response.end(issuer.keySet());
  };
  await ask();
  const [{ accept, 'accept-encoding': encoding, 'user-agent': agent } = {}] = received;
  assert.deepEqual(
    { accept, encoding, agent },
    {
      accept: 'application/jwk-set+json, application/json',
      encoding: 'identity',
      agent: 'scheduled-events-bridge',
    },
  );
});

test('tokens verified before are not verified again after the same keys were fetched again', async (t) => {
  const { keys, time, ask } = await fixture(t);
  await ask();
  const { generation } = keys;
  await time.advance(10 * MINUTE);
  await ask();
  assert.equal(keys.generation, generation);
});

test('if several keys match a token, it is rejected without a request for other keys', async (t) => {
  const { issuer, keys, time } = await fixture(t);
  await issuer.addKey('two', 'RS256');
  await keys.check();
  await time.advance(MINUTE);
  assert.equal(await keys.keyFor({ alg: 'RS256' }), null);
  assert.equal(issuer.requests, 1);
});

/** A token was verified 9 minutes after the keys were fetched, and its key is withdrawn. */
async function withdrawnKey(t: TestContext) {
  const { issuer, time, verifier, ask } = await fixture(t);
  await ask();
  await time.advance(9 * MINUTE);
  const token = await issuer.token(time.wallMs());
  assert.equal((await verifier.verify(token, 'here')).kind, 'approver');
  await issuer.addKey('two', 'RS256');
  issuer.published = ['two'];
  return { time, verifier, ask, token };
}

test('after the keys are fetched again, a withdrawn key is rejected, also for a token verified before', async (t) => {
  const { time, verifier, ask, token } = await withdrawnKey(t);
  await time.advance(MINUTE - 1);
  assert.equal((await verifier.verify(token, 'here')).kind, 'approver');
  await time.advance(1);
  assert.equal(await ask(), 'approver');
  assert.equal((await verifier.verify(token, 'here')).kind, 'refused');
});

test('a key that is withdrawn while a signature waits for its turn does not verify it', async (t) => {
  const { issuer, time, options } = await fixture(t);
  const key = (await importJWK(issuer.publicJwk('one'))) as CryptoKey;
  let isWithdrawn = false;
  const keys: KeySet = {
    get generation() {
      return isWithdrawn ? 2 : 1;
    },
    areFresh: true,
    keyFor: async () => (isWithdrawn ? null : key),
    check: async () => {},
  };
  const verifier = new JwtVerifier(options, new Map([['orders', 'orders']]), time, pino({ level: 'silent' }), keys);
  const [one, two] = [await issuer.token(time.wallMs(), { jti: 1 }), await issuer.token(time.wallMs(), { jti: 2 })];
  const first = verifier.verify(one, 'here').finally(() => {
    isWithdrawn = true;
  });
  const second = verifier.verify(two, 'here');
  assert.equal((await first).kind, 'approver');
  assert.equal((await second).kind, 'refused');
});

test('a key that is new since its look-up began verifies the token', async (t) => {
  const { issuer, time, options } = await fixture(t);
  const key = (await importJWK(issuer.publicJwk('one'))) as CryptoKey;
  const keys = {
    generation: 1,
    areFresh: true,
    keyFor: async () => {
      const found = keys.generation === 2 ? key : null;
      keys.generation = 2;
      return found;
    },
    check: async () => {},
  };
  const verifier = new JwtVerifier(options, new Map([['orders', 'orders']]), time, pino({ level: 'silent' }), keys);
  assert.equal((await verifier.verify(await issuer.token(time.wallMs()), 'here')).kind, 'approver');
});

test('a key that is withdrawn during its look-up does not verify the token', async (t) => {
  const { issuer, time, options } = await fixture(t);
  const key = (await importJWK(issuer.publicJwk('one'))) as CryptoKey;
  const keys = {
    generation: 1,
    areFresh: true,
    keyFor: async () => {
      const found = keys.generation === 1 ? key : null;
      keys.generation = 2;
      return found;
    },
    check: async () => {},
  };
  const verifier = new JwtVerifier(options, new Map([['orders', 'orders']]), time, pino({ level: 'silent' }), keys);
  assert.equal((await verifier.verify(await issuer.token(time.wallMs()), 'here')).kind, 'refused');
});

test('a token verified before is verified again with fetched keys when the keys are ten minutes old', async (t) => {
  const { time, verifier, token } = await withdrawnKey(t);
  await time.advance(MINUTE);
  assert.equal((await verifier.verify(token, 'here')).kind, 'refused');
});

test('a key that leaves the file of the key set is withdrawn within a second, also for a token verified before', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys.json');
  const issuer = await Issuer.start(t);
  await issuer.addKey('two', 'RS256');
  const jwks = new Secret({ file: 'keys.json' });
  jwks.open(issuer.keySet(), path);
  writeFileSync(path, issuer.keySet());
  const { time, verifier } = await fixture(t, { jwks });
  const token = await issuer.token(time.wallMs());
  assert.equal((await verifier.verify(token, 'here')).kind, 'approver');
  issuer.published = ['two'];
  writeFileSync(path, issuer.keySet());
  await time.advance(1000);
  assert.equal((await verifier.verify(token, 'here')).kind, 'refused');
});

test('a new key is fetched when a token names it, at most every 30 s', async (t) => {
  const { issuer, time, keys, ask } = await fixture(t);
  await ask();
  await issuer.addKey('two', 'RS256');
  await issuer.addKey('three', 'RS256');
  issuer.published = ['one'];
  await time.advance(29_999);
  for (let attempt = 0; attempt < 5; attempt++) assert.equal(await ask({ kid: 'two' }), 'refused');
  assert.equal(issuer.requests, 1);
  issuer.published = ['one', 'two'];
  await time.advance(1);
  assert.notEqual(await keys.keyFor({ alg: 'RS256', kid: 'two' }), null);
  assert.equal(await ask({ kid: 'two' }), 'approver');
  for (let attempt = 0; attempt < 5; attempt++) assert.equal(await ask({ kid: 'three' }), 'refused');
  assert.equal(issuer.requests, 2);
  assert.equal(await ask(), 'approver');
});

test('while the issuer is unreachable, known keys stay valid for a day, tokens with unknown keys get no verdict, and few requests are sent', async (t) => {
  const { issuer, time, ask, errors, log } = await fixture(t);
  await ask();
  await issuer.addKey('two', 'RS256');
  issuer.misbehave = (response) => response.destroy();
  await time.advance(10 * MINUTE);
  for (let attempt = 0; attempt < 5; attempt++) {
    assert.equal(await ask(), 'approver');
    await assert.rejects(ask({ kid: 'two' }), unavailable);
  }
  assert.equal(issuer.requests, 2);
  await time.advance(5000);
  assert.equal(await ask(), 'approver');
  assert.equal(issuer.requests, 3);
  assert.match(errors().join(), /^the key set of approvals\.jwt at \S+ broke off \(ECONNRESET\): check its server$/);
  assert.deepEqual(
    log.map(({ msg }) => msg),
    ['the key set of approvals.jwt cannot be fetched'],
  );
  await time.advance(24 * 60 * MINUTE - 10 * MINUTE - 5000);
  await assert.rejects(ask(), unavailable);
  issuer.misbehave = null;
  await time.advance(5000);
  assert.equal(await ask({ kid: 'two' }), 'approver');
  const { level, msg } = log.at(-1) ?? {};
  assert.deepEqual([level, msg], [30, 'the key set of approvals.jwt can be fetched again']);
});

test('without any keys no token can be verified, until the issuer is back', async (t) => {
  const { issuer, time, ask } = await fixture(t);
  issuer.misbehave = (response) => response.destroy();
  await assert.rejects(ask(), unavailable);
  issuer.misbehave = null;
  await assert.rejects(ask(), unavailable);
  assert.equal(issuer.requests, 1);
  await time.advance(5000);
  assert.equal(await ask(), 'approver');
});

test('a request to an issuer that does not answer ends after 5 s', async (t) => {
  const { issuer, time, ask, errors } = await fixture(t);
  const asked = Promise.withResolvers<void>();
  issuer.misbehave = () => asked.resolve();
  const answer = ask();
  answer.catch(() => {});
  await asked.promise;
  await time.advance(5000);
  await assert.rejects(answer, unavailable);
  assert.match(errors().join(), /did not arrive within 5s: check the network between$/);
});

test('an answer that begins and does not end is also cut off', async (t) => {
  const { issuer, time, ask } = await fixture(t);
  const begun = Promise.withResolvers<void>();
  issuer.misbehave = (response) => response.write('{', () => begun.resolve());
  const answer = ask();
  answer.catch(() => {});
  await begun.promise;
  await time.advance(5000);
  await assert.rejects(answer, unavailable);
});

const CORRECT = ': correct approvals.jwt.jwks';
const NO_REDIRECT = '; the bridge follows no redirect';
const NOT_KEYS = 'is not a key set in JSON: { "keys": [ … ] }';

for (const [what, status, headers, body, fault] of [
  ['a redirect', 302, { location: '/elsewhere' }, '', `answered 302 instead of 200${CORRECT}${NO_REDIRECT}`],
  ['an error', 500, {}, '', `answered 500 instead of 200${CORRECT}${NO_REDIRECT}`],
  ['HTML', 200, {}, '<html>', NOT_KEYS],
  ['no keys', 200, {}, '{"keys":[]}', NOT_KEYS],
  ['no list of keys', 200, {}, '{"keys":{"length":1}}', NOT_KEYS],
  ['a key that is not an object', 200, {}, '{"keys":[{},1]}', NOT_KEYS],
  ['more values than any issuer has', 200, {}, `{"keys":[{"x":[${'0,'.repeat(10_000)}0]}]}`, NOT_KEYS],
  ['JSON null', 200, {}, 'null', NOT_KEYS],
  ['more than 1 MiB', 200, {}, `{"keys":[],"x":"${'x'.repeat(1_048_576)}"}`, `is longer than 1 MiB${CORRECT}`],
] as const) {
  test(`${what} instead of a key set is logged, and the good keys stay in use`, async (t) => {
    const { issuer, time, ask, errors } = await fixture(t);
    await ask();
    issuer.misbehave = (response) => response.writeHead(status, headers).end(body);
    await time.advance(10 * MINUTE);
    assert.equal(await ask(), 'approver');
    assert.deepEqual(errors(), [`the key set of approvals.jwt at ${new URL(issuer.url).origin} ${fault}`]);
    assert.equal(issuer.requests, 2);
  });
}

test('keys are never fetched from private addresses that are not allowed, by address or by name, or from the metadata service', async (t) => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.1']) {
    const { ask, issuer, errors } = await fixture(t, { allowPrivate: [], jwks: `http://${host}:1/keys` });
    await assert.rejects(ask(), { code: 'BRIDGE_JWT_FORBIDDEN_ADDRESS' });
    assert.match(
      errors().join(),
      /^the key set of approvals\.jwt at http:\S+ is not fetched: it is [\d.:]+, not a public address: correct approvals\.jwt\.jwks, or list the range in approvals\.jwt\.allowPrivate if you trust it$/,
    );
    assert.equal(issuer.requests, 0);
  }
  for (const host of ['169.254.169.254', '168.63.129.16', '[::ffff:169.254.169.254]']) {
    const { ask, errors } = await fixture(t, { allowPrivate: ['0.0.0.0/0', '::/0'], jwks: `http://${host}/keys` });
    await assert.rejects(ask(), { code: 'BRIDGE_JWT_FORBIDDEN_ADDRESS' });
    assert.match(
      errors().join(),
      /, an address of the metadata service, which has no key set: correct approvals\.jwt\.jwks$/,
    );
  }
});

/** A server with the certificate of localhost and 127.0.0.1, and the names that clients asked it for. */
async function secureIssuer(t: TestContext) {
  const issuer = await Issuer.start(t);
  const names: string[] = [];
  const SNICallback = (name: string, done: (error: null) => void) => {
    names.push(name);
    done(null);
  };
  const server = createSecureServer({ cert: CERTIFICATE, key: PRIVATE_KEY, SNICallback }, (_, response) =>
    response.end(issuer.keySet()),
  );
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ca = new Secret({ file: 'ca.pem' });
  ca.open(CERTIFICATE, 'ca.pem');
  return { issuer, names, ca, urlAt: (host: string) => `https://${host}:${port}/keys` };
}

test('over TLS, the server must have a certificate for its name from a trusted CA', async (t) => {
  const { ca, urlAt } = await secureIssuer(t);
  const jwks = urlAt('127.0.0.1');
  const trusting = await fixture(t, { jwks, tls: { ca } });
  await trusting.keys.check();
  const strange = await fixture(t, { jwks });
  await assert.rejects(strange.keys.check(), /does not trust.*approvals\.jwt\.tls\.ca/);
  const misnamed = await fixture(t, { jwks, tls: { ca, serverName: 'keys.test' } });
  await assert.rejects(
    misnamed.keys.check(),
    /certificate for another name: correct the host in approvals\.jwt\.jwks, or set approvals\.jwt\.tls\.serverName/,
  );
});

test('over TLS, the server is asked for the host of jwks, or for tls.serverName', async (t) => {
  const { ca, names, urlAt } = await secureIssuer(t);
  await (await fixture(t, { jwks: urlAt('localhost'), tls: { ca } })).keys.check();
  await (await fixture(t, { jwks: urlAt('127.0.0.1'), tls: { ca, serverName: 'localhost' } })).keys.check();
  assert.deepEqual(names, ['localhost', 'localhost']);
});

test('a server without TLS is reported with what to check', async (t) => {
  const issuer = await Issuer.start(t);
  const { keys } = await fixture(t, { jwks: issuer.url.replace('http:', 'https:') });
  await assert.rejects(keys.check(), {
    code: 'BRIDGE_JWT_KEYS',
    message:
      /does not use TLS at this port: check its certificate, the port, and whether the url is http:\/\/ \(\w+\)$/,
  });
});

test('without TLS, the files of approvals.jwt.tls are not used', async (t) => {
  const ca = new Secret({ file: 'ca.pem' });
  ca.open('words', 'ca.pem');
  const { keys } = await fixture(t, { tls: { ca } });
  await keys.check();
});

test('a CA file that became unusable is a fault of approvals.jwt.tls', async (t) => {
  const { urlAt } = await secureIssuer(t);
  const ca = new Secret({ file: 'ca.pem' });
  ca.open('words', 'ca.pem');
  const { keys } = await fixture(t, { jwks: urlAt('127.0.0.1'), tls: { ca } });
  await assert.rejects(keys.check(), { code: 'BRIDGE_JWT_KEYS', message: /^approvals\.jwt\.tls\.ca / });
});

test('an unreachable server is reported with advice', async (t) => {
  const { keys } = await fixture(t, { jwks: 'http://127.0.0.1:1/keys' });
  await assert.rejects(keys.check(), /cannot be reached \(ECONNREFUSED\)/);
});

test('a key set in a file is read again when it changes, and a bad one leaves the last good keys in use', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys.json');
  const first = await Issuer.start(t);
  await first.addKey('two', 'RS256');
  first.published = ['one'];
  const jwks = new Secret({ file: 'keys.json' });
  jwks.open(first.keySet(), path);
  writeFileSync(path, first.keySet());
  const { time, verifier, keys, log } = await fixture(t, { jwks });
  const ask = async (kid: string) =>
    (await verifier.verify(await first.token(time.wallMs(), {}, { kid }), 'here')).kind;
  assert.equal(await ask('one'), 'approver');
  assert.equal(await ask('two'), 'refused');
  assert.equal(await keys.keyFor({ alg: 'RS256', kid: 'two' }), null);
  assert.equal(keys.areFresh, true, 'a token verified before is not verified again');
  writeFileSync(path, '{"keys":');
  await time.advance(1000);
  assert.equal(await ask('one'), 'approver');
  await time.advance(1000);
  assert.equal(await ask('one'), 'approver');
  rmSync(path);
  await time.advance(1000);
  assert.equal(await ask('one'), 'approver');
  const kept = 'the key set of approvals.jwt cannot be used: the last good one stays in use';
  const place = `the file ${path} of approvals.jwt.jwks`;
  assert.deepEqual(
    log.map(({ level, msg, reason }) => [level, msg, reason]),
    [
      [50, kept, `${place} is not a key set in JSON: { "keys": [ … ] }`],
      [50, kept, `${place} cannot be read (ENOENT)`],
    ],
  );
  first.published = ['two'];
  writeFileSync(path, first.keySet());
  await time.advance(1000);
  assert.equal(await ask('two'), 'approver');
  assert.equal(await ask('one'), 'refused');
});

test('a file with an unusable key set is read again at the first token, without leftovers of the first reading', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys.json');
  const issuer = await Issuer.start(t);
  const jwks = new Secret({ file: 'keys.json' });
  // As it was when the bridge started; node:test fails where a rejection is left unhandled.
  jwks.open('{"keys":[1]}', path);
  writeFileSync(path, issuer.keySet());
  const { time, verifier } = await fixture(t, { jwks });
  assert.equal((await verifier.verify(await issuer.token(time.wallMs()), 'here')).kind, 'approver');
});

test('a check of a key set in a file fails while the file was never usable, and succeeds once it is', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys.json');
  const issuer = await Issuer.start(t);
  const jwks = new Secret({ file: 'keys.json' });
  jwks.open('{"keys":[]}', path);
  const { keys } = await fixture(t, { jwks });
  await assert.rejects(keys.check(), {
    code: 'BRIDGE_JWT_KEYS',
    message: `the file ${path} of approvals.jwt.jwks cannot be read (ENOENT)`,
  });
  writeFileSync(path, issuer.keySet());
  await keys.check();
});
