// JSON Web Tokens, good and forged → the approver that their claims prove, or why none.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { pino } from 'pino';
import { createAuthenticator } from '../../../src/auth/authenticate.ts';
import { JwtVerifier } from '../../../src/auth/jwt.ts';
import { type KeySet, openKeySet } from '../../../src/auth/key-set.ts';
import type { JwtOptions } from '../../../src/auth/options.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { AUDIENCE, ISSUER, Issuer } from '../../far-sides/token-issuer.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const OPTIONS: Omit<JwtOptions, 'jwks'> = {
  issuer: ISSUER,
  audiences: ['api://other', AUDIENCE],
  claim: 'sub',
  algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
  types: [],
  clockToleranceMs: 30_000,
  maxLifetimeMs: 86_400_000,
  allowPrivate: ['127.0.0.0/8'],
  tls: null,
};

const SUBJECTS = { orders: 'orders', billing: 'Billing.Approve', ops: 'Ops.Approve', silent: null };

/** An issuer and an authenticator that trusts it. */
async function fixture(t: TestContext, options: Partial<JwtOptions> = {}, keys?: KeySet) {
  const issuer = await Issuer.start(t);
  const time = new VirtualTime();
  const log: string[] = [];
  const token = new Secret({ env: 'TOKEN' });
  token.open('billing.token.00000001');
  const approvers = Object.fromEntries(
    Object.entries(SUBJECTS).map(([name, subject]) => [
      name,
      { tokens: name === 'billing' ? [token] : [], certificate: null, subject },
    ]),
  );
  const logger = pino({ level: 'trace' }, { write: (line: string) => log.push(line) });
  const jwt = { ...OPTIONS, jwks: issuer.url, ...options };
  const authenticate = createAuthenticator({
    approvers,
    readers: {},
    jwt,
    keys: keys ?? openKeySet(jwt, time, logger),
    deps: time,
    logger,
  });
  const ask = async (given: string) => {
    const found = await authenticate({ token: given, certificate: null, network: '192.0.2.1' });
    return found.outcome === 'known' ? `${found.caller.kind} ${found.caller.name} by ${found.caller.via}` : found;
  };
  const sign = (claims: Readonly<Record<string, unknown>> = {}, header: { kid?: string; typ?: string } = {}) =>
    issuer.token(time.wallMs(), claims, header);
  return { issuer, time, log, ask, sign };
}

async function startVerifier(t: TestContext) {
  const issuer = await Issuer.start(t);
  const time = new VirtualTime();
  const options = { ...OPTIONS, jwks: issuer.url };
  const logger = pino({ level: 'silent' });
  const verifier = new JwtVerifier(
    options,
    new Map([['orders', 'orders']]),
    time,
    logger,
    openKeySet(options, time, logger),
  );
  return { issuer, time, verify: (token: string, network: string) => verifier.verify(token, network) };
}

async function assertRefused(answer: unknown, detail: RegExp): Promise<void> {
  const { outcome, ...rest } = answer as { outcome: string; detail: string };
  assert.equal(outcome, 'nobody', JSON.stringify(answer));
  assert.match(rest.detail, detail);
}

test('a token signed by the issuer identifies the approver with the subject in its claim', async (t) => {
  const { ask, sign, issuer } = await fixture(t);
  assert.equal(await ask(await sign()), 'approver orders by jwt');
  assert.equal(await ask(await sign({ aud: ['x', AUDIENCE] })), 'approver orders by jwt');
  assert.equal(issuer.requests, 1);
});

test('each of the usual algorithms is accepted', async (t) => {
  const { ask, sign, issuer } = await fixture(t);
  for (const alg of ['PS256', 'ES256', 'EdDSA', 'Ed25519']) {
    await issuer.addKey(alg, alg);
  }
  for (const kid of ['one', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])
    assert.equal(await ask(await sign({}, { kid })), 'approver orders by jwt');
});

test('any member of a claim with a list, such as roles, can match', async (t) => {
  const { ask, sign } = await fixture(t, { claim: 'roles' });
  assert.equal(await ask(await sign({ roles: ['Reader', 'Billing.Approve'] })), 'approver billing by jwt');
  assert.equal(await ask(await sign({ roles: 'Ops.Approve' })), 'approver ops by jwt');
  for (const roles of [
    undefined,
    [],
    ['billing'],
    ['billing.approve'],
    'Billing.Approve,Ops.Approve',
    [['Billing.Approve']],
    { x: 1 },
    null,
    7,
    true,
  ]) {
    await assertRefused(await ask(await sign({ roles })), /its signature or its subject is not accepted/);
  }
});

test('a token with the subjects of two approvers is rejected', async (t) => {
  const { ask, sign } = await fixture(t, { claim: 'roles' });
  await assertRefused(
    await ask(await sign({ roles: ['Ops.Approve', 'Billing.Approve'] })),
    /signature or its subject is not accepted/,
  );
});

test('the name of an approver without a subject is rejected, and so is a property of every object', async (t) => {
  const { ask, sign } = await fixture(t);
  await assertRefused(await ask(await sign({ sub: 'silent' })), /signature or its subject is not accepted/);
  const inherited = await fixture(t, { claim: 'constructor' });
  await assertRefused(await inherited.ask(await inherited.sign()), /signature or its subject is not accepted/);
});

test('exp and nbf must be numbers, before any key is fetched', async (t) => {
  const { ask, sign, issuer } = await fixture(t);
  await assertRefused(await ask(await sign({ exp: '9999999999' })), /never expires/);
  await assertRefused(await ask(await sign({ nbf: '0' })), /expired or is not valid yet/);
  assert.equal(issuer.requests, 0);
});

for (const [what, tookMs, expected] of [
  ['until the end of the clock tolerance', 89_999, 'approver orders by jwt'],
  ['beyond the clock tolerance', 90_000, 'rejected'],
] as const) {
  test(`a token that expires while its key is fetched, ${what}: ${expected}`, async (t) => {
    const { ask, sign, time, issuer } = await fixture(t);
    issuer.misbehave = (response) => {
      time.pass(tookMs);
      response.end(issuer.keySet());
    };
    const found = await ask(await sign({ exp: time.wallMs() / 1000 + 60 }));
    assert.equal(typeof found === 'string' ? found : 'rejected', expected);
  });
}

test('issuer, audience and times are checked, with the clock tolerance', async (t) => {
  const { ask, sign, time, issuer } = await fixture(t);
  const now = time.wallMs() / 1000;
  await assertRefused(await ask(await sign({ iss: `${ISSUER}/` })), /issuer/);
  await assertRefused(await ask(await sign({ iss: undefined })), /issuer/);
  await assertRefused(await ask(await sign({ aud: 'api://somebody' })), /audience/);
  await assertRefused(await ask(await sign({ aud: undefined })), /audience/);
  await assertRefused(await ask(await sign({ exp: undefined })), /never expires/);
  await assertRefused(await ask(await sign({ exp: now - 31 })), /expired or is not valid yet/);
  await assertRefused(await ask(await sign({ nbf: now + 31 })), /expired or is not valid yet/);
  assert.equal(issuer.requests, 0);
  assert.equal(await ask(await sign({ exp: now - 29 })), 'approver orders by jwt');
  assert.equal(await ask(await sign({ nbf: now + 29 })), 'approver orders by jwt');
});

test('the clock tolerance counts to the second', async (t) => {
  const { ask, sign, time } = await fixture(t);
  const now = time.wallMs() / 1000;
  await assertRefused(await ask(await sign({ exp: now - 30 })), /expired or is not valid yet/);
  assert.equal(await ask(await sign({ nbf: now + 30 })), 'approver orders by jwt');
  assert.equal(await ask(await sign({ exp: now + 86_400 + 30 })), 'approver orders by jwt');
});

test('why a token was rejected is logged for the operator, and the caller learns what to get', async (t) => {
  const { ask, sign, time, log, issuer } = await fixture(t, { claim: 'roles', types: ['at+jwt'] });
  await issuer.addKey('other', 'RS256');
  issuer.published = ['one'];
  const now = time.wallMs() / 1000;
  const good = { roles: 'Ops.Approve' };
  const typed = { typ: 'at+jwt' };
  const b64 = (text: string) => Buffer.from(text).toString('base64url');
  const unverified = 'its signature or its subject is not accepted here';
  const expired = 'it has expired or is not valid yet: get a new one';
  for (const [given, why, reason] of [
    ['a.b.c', 'not a JWT', unverified],
    [`${b64('{}')}.${b64('{}')}.AA`, 'another algorithm', 'its signature algorithm is not accepted here'],
    [await sign(good), 'another type', 'its type (typ) is not accepted here'],
    [await sign({ ...good, iss: 'x' }, typed), 'another issuer', 'its issuer (iss) is not trusted here'],
    [await sign({ ...good, aud: 'x' }, typed), 'another audience', 'it is for another audience (aud)'],
    [await sign({ ...good, exp: undefined }, typed), 'no exp', 'it never expires (no exp)'],
    [await sign({ ...good, exp: now - 60 }, typed), 'expired', expired],
    [
      await sign({ ...good, exp: now + 90_000 }, typed),
      'exp too far ahead',
      'it is valid for too long (exp): get one that expires sooner',
    ],
    [await sign({ ...good, nbf: now + 60 }, typed), 'not yet valid', expired],
    [await sign({}, typed), 'its claim names no approver', unverified],
    [await sign({ roles: ['Ops.Approve', 'Billing.Approve'] }, typed), 'its claim names several approvers', unverified],
    [await sign(good, { ...typed, kid: 'other' }), 'no matching key in the key set', unverified],
    [
      `${(await sign(good, typed)).split('.').slice(0, 2).join('.')}.AAAA`,
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      unverified,
    ],
  ] as const) {
    log.length = 0;
    assert.deepEqual(await ask(given), { outcome: 'nobody', detail: `This token is rejected: ${reason}.` }, why);
    const [line = '{}'] = log;
    const { level, msg, why: logged } = JSON.parse(line);
    assert.deepEqual([level, msg, logged], [20, 'a JWT was rejected', why]);
  }
});

test('while the keys cannot be fetched, a token gets no verdict, and the caller learns to try again in 5 s', async (t) => {
  const { ask, sign, issuer } = await fixture(t);
  issuer.misbehave = (response) => response.destroy();
  assert.deepEqual(await ask(await sign()), {
    outcome: 'unavailable',
    detail:
      'BRIDGE_JWT_KEYS: the bridge cannot fetch the keys of the identity provider now, so it cannot verify this token; its log has the reason. Retry later.',
    retryAfterSeconds: 5,
  });
});

test('a token with exp too far ahead is rejected before any key is fetched', async (t) => {
  const { ask, sign, time, issuer } = await fixture(t);
  const now = time.wallMs() / 1000;
  const year9999 = Date.UTC(9999, 11, 31) / 1000;
  for (const exp of [now + 86_400 + 31, year9999, Number.MAX_VALUE])
    await assertRefused(await ask(await sign({ exp })), /valid for too long/);
  assert.equal(issuer.requests, 0);
  assert.equal(await ask(await sign({ exp: now + 86_400 + 29 })), 'approver orders by jwt');
});

test('if types are configured, typ must be one of them, case-insensitive, with or without application/', async (t) => {
  const { ask, sign, issuer } = await fixture(t, { types: ['AT+JWT', 'application/jwt', 'application/at/jwt'] });
  for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/JWT', 'JWT'])
    assert.equal(await ask(await sign({}, { typ })), 'approver orders by jwt', typ);
  const { requests } = issuer;
  for (const typ of [
    ...['id+jwt', 'jwt2', 'at+jwt;x', 'text/jwt', ''],
    ...['application/application/jwt', 'at+application/jwt', 'at/jwt'],
  ])
    await assertRefused(await ask(await sign({}, { typ })), /type \(typ\)/);
  await assertRefused(await ask(await sign()), /type \(typ\)/);
  assert.equal(issuer.requests, requests);
});

test('without types, any typ or none is accepted', async (t) => {
  const { ask, sign } = await fixture(t);
  for (const header of [{}, { typ: 'JWT' }, { typ: 'id+jwt' }])
    assert.equal(await ask(await sign({}, header)), 'approver orders by jwt');
});

test('a verified token still expires', async (t) => {
  const { ask, sign, time } = await fixture(t);
  const token = await sign({ exp: time.wallMs() / 1000 + 60 });
  assert.equal(await ask(token), 'approver orders by jwt');
  await time.advance(89_999);
  assert.equal(await ask(token), 'approver orders by jwt');
  await time.advance(1);
  await assertRefused(await ask(token), /expired/);
});

test('256 verified tokens are cached; the oldest is then verified again', async (t) => {
  const algorithms = [...OPTIONS.algorithms];
  const { ask, sign } = await fixture(t, { algorithms });
  const tokens: string[] = [];
  for (let number = 0; number < 257; number++) {
    const token = await sign({ jti: String(number) });
    tokens.push(token);
    assert.equal(await ask(token), 'approver orders by jwt');
  }
  // From now on no proof is taken.
  algorithms.length = 0;
  for (const known of [tokens[1], tokens[256]]) assert.equal(await ask(known ?? ''), 'approver orders by jwt');
  await assertRefused(await ask(tokens[0] ?? ''), /algorithm/);
});

test('algorithms without a signature or with a shared secret are rejected', async (t) => {
  const { ask, issuer, time, sign } = await fixture(t, { algorithms: [...OPTIONS.algorithms, 'HS256', 'none'] });
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'orders', exp: time.wallMs() / 1000 + 60 };
  await assertRefused(await ask(new UnsecuredJWT(claims).encode()), /This token is unknown/);
  const [head = '', body = ''] = (await sign()).split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  await assertRefused(await ask(`${none}.${body}.AAAA`), /./);
  await assertRefused(await ask(`${head}.${body}.AAAA`), /signature/);
  const secret = Buffer.from(JSON.stringify(issuer.publicJwk('one')));
  const confused = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(secret);
  await assertRefused(await ask(confused), /signature/);
});

test('an algorithm that is not listed is rejected before any key is fetched', async (t) => {
  const { ask, sign, issuer } = await fixture(t, { algorithms: ['ES256'] });
  await assertRefused(await ask(await sign()), /algorithm/);
  assert.equal(issuer.requests, 0);
});

test('a token that was changed, or that another issuer signed, is rejected', async (t) => {
  const { ask, sign, issuer, time } = await fixture(t);
  const [head = '', , signature = ''] = (await sign({ sub: 'other' })).split('.');
  const [, body = ''] = (await sign()).split('.');
  await assertRefused(await ask(`${head}.${body}.${signature}`), /signature/);
  const stranger = await Issuer.start(t);
  await assertRefused(await ask(await stranger.token(time.wallMs())), /signature/);
  // A key that the token itself brings is no key of ours.
  assert.equal(issuer.requests, 1);
});

test('a caller without a valid signature does not learn which subjects exist', async (t) => {
  const { ask, time } = await fixture(t);
  const stranger = await Issuer.start(t);
  const [known, unknown] = [
    await stranger.token(time.wallMs()),
    await stranger.token(time.wallMs(), { sub: 'nobody' }),
  ];
  assert.deepEqual(await ask(known), await ask(unknown));
});

test('text without the three parts of a JWT is an unknown token', async (t) => {
  const { ask, sign, issuer } = await fixture(t);
  const good = await sign();
  const texts = ['a.b', '.b.c', 'a..c', 'a.b.', `${good}.d`, `x.${good}`, ` ${good}`, `${good}=`, `a ${good}`];
  for (const text of texts) await assertRefused(await ask(text), /This token is unknown/);
  assert.equal(issuer.requests, 0);
});

test('without approvals.jwt, a JWT is an unknown token like any other', async (t) => {
  const { sign, time } = await fixture(t);
  const authenticate = createAuthenticator({
    ...{ approvers: {}, readers: {}, jwt: null, keys: null, deps: time },
    logger: pino({ level: 'silent' }),
  });
  for (const given of ['a.b.c', await sign()])
    await assertRefused(
      await authenticate({ token: given, certificate: null, network: '192.0.2.1' }),
      /This token is unknown/,
    );
});

test('an error that is not about the keys is not reported as missing keys', async (t) => {
  const bug = new TypeError('a bug');
  const keys = { generation: 1, areFresh: true, keyFor: () => Promise.reject(bug), check: async () => {} };
  const { ask, sign } = await fixture(t, {}, keys);
  await assert.rejects(ask(await sign()), bug);
});

test('text that is not a JWT is rejected without an internal error', async (t) => {
  const { ask, issuer, log } = await fixture(t);
  const b64 = (text: string) => Buffer.from(text).toString('base64url');
  const texts = [
    'a.b.c',
    'a.b',
    '...',
    'a.b.c.d.e',
    `${b64('{"alg":"RS256"}')}.${b64('[]')}.AA`,
    `${b64('null')}.${b64('null')}.AA`,
  ];
  texts.push(`${b64('{"alg":7}')}.${b64('{}')}.AA`, `${b64('{"alg":"RS256","crit":["x"]}')}.${b64('{}')}.AA`);
  texts.push(`${b64('{"alg":"RS256"}')}.${b64('{"__proto__":{"iss":1}}')}.AA`);
  for (const text of texts) await assertRefused(await ask(text), /./);
  assert.equal(issuer.requests, 0);
  assert.ok(log.every((line) => JSON.parse(line).level < 40));
});

test('a configured token is checked first, without a request, even if it has three parts', async (t) => {
  const { ask, issuer } = await fixture(t);
  issuer.misbehave = (response) => response.destroy();
  assert.equal(await ask('billing.token.00000001'), 'approver billing by token');
  assert.equal(issuer.requests, 0);
});

test('neither a token nor its claims are ever logged', async (t) => {
  const { ask, sign, log } = await fixture(t);
  const tokens = [await sign(), await sign({ sub: 'a-secret-person' }), await sign({ aud: 'a-secret-audience' })];
  for (const token of tokens) await ask(token);
  for (const secret of [...tokens, 'a-secret']) assert.ok(!log.join().includes(secret));
});

test('a flood of forged tokens from one network does not delay a valid one from another, and blocks nothing permanently', async (t) => {
  const { issuer, time, verify } = await startVerifier(t);
  await verify(await issuer.token(time.wallMs()), 'first');
  const [head = '', body = ''] = (await issuer.token(time.wallMs())).split('.');
  const ended: string[] = [];
  const forged = Array.from({ length: 200 }, (_, index) => {
    const signature = Buffer.alloc(256, index + 1).toString('base64url');
    return verify(`${head}.${body}.${signature}`, 'flood').then(({ kind }) => ended.push(kind));
  });
  const good = await issuer.token(time.wallMs(), { jti: 'good' });
  const answer = await verify(good, 'elsewhere');
  assert.equal(answer.kind, 'approver');
  assert.ok(ended.length < 100, `${ended.length} forged tokens were verified before it`);
  assert.equal((await verify(await issuer.token(time.wallMs(), { jti: 'from there, too' }), 'flood')).kind, 'approver');
  await Promise.all(forged);
  assert.deepEqual([...new Set(ended)], ['refused']);
});

test('a token with a weak key is rejected, and the log says that the key cannot be used', async (t) => {
  const { issuer, log, ask, sign } = await fixture(t);
  const weak = `"n":"${Buffer.alloc(96, 0xc1).toString('base64url')}"`;
  issuer.misbehave = (response) => response.end(issuer.keySet().replace(/"n":"[^"]+"/, weak));
  await assertRefused(await ask(await sign()), /its signature or its subject is not accepted/);
  assert.equal(JSON.parse(log.at(-1) ?? '{}').why, 'the key cannot be used');
});
