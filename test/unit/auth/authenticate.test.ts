// Tokens and certificates → the approver or reader that they prove, or nobody.
import assert from 'node:assert/strict';
import { timingSafeEqual } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import { type AuthenticatorParts, createAuthenticator } from '../../../src/auth/authenticate.ts';
import type { Credentials } from '../../../src/auth/caller.ts';
import type { ApproverCredentials } from '../../../src/auth/options.ts';
import { TokenStore } from '../../../src/auth/token-store.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function token(value: string): Secret {
  const secret = new Secret({ env: 'TOKEN' });
  secret.open(value);
  return secret;
}

const who = (proofs: Partial<ApproverCredentials>): ApproverCredentials => ({
  tokens: [],
  certificate: null,
  subject: null,
  ...proofs,
});

function authenticator(parts: Partial<AuthenticatorParts>, log: string[] = [], time = new VirtualTime()) {
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(line) });
  const authenticate = createAuthenticator({
    approvers: {},
    readers: {},
    jwt: null,
    keys: null,
    deps: time,
    logger,
    ...parts,
  });
  return async (proofs: Partial<Credentials>) => {
    const found = await authenticate({ token: null, certificate: null, network: '192.0.2.1', ...proofs });
    return found.outcome === 'known'
      ? `${found.caller.kind} ${found.caller.name} by ${found.caller.via}`
      : found.outcome;
  };
}

const byToken = authenticator({
  approvers: {
    orders: who({ tokens: [token('orders-token-0001'), token('orders-token-0002')] }),
    billing: who({ tokens: [token('billing-token-001')] }),
  },
  readers: { grafana: { tokens: [token('grafana-token-001')] } },
});

test('each token of an approver identifies it, also while one is being replaced', async () => {
  assert.equal(await byToken({ token: 'orders-token-0001' }), 'approver orders by token');
  assert.equal(await byToken({ token: 'orders-token-0002' }), 'approver orders by token');
  assert.equal(await byToken({ token: 'billing-token-001' }), 'approver billing by token');
});

test('a reader is distinguished from an approver', async () => {
  assert.equal(await byToken({ token: 'grafana-token-001' }), 'reader grafana by token');
});

test('a token that is shorter, longer, empty, in another letter case, or looks like a JWT without approvals.jwt is rejected', async () => {
  for (const wrong of ['orders-token-000', 'orders-token-00011', '', 'ORDERS-TOKEN-0001', 'a.b.c']) {
    assert.equal(await byToken({ token: wrong }), 'nobody');
  }
});

test('without configured callers every token is rejected', async () => {
  assert.equal(await authenticator({})({ token: '' }), 'nobody');
  assert.equal(await authenticator({})({}), 'nobody');
});

test('a certificate identifies the approver with one of its names: DNS names ignore case, others do not', async () => {
  const authenticate = authenticator({
    approvers: {
      orders: who({ certificate: 'Orders.test', tokens: [token('orders-token-0001')] }),
      billing: who({ certificate: 'billing' }),
      ops: who({ tokens: [token('operator-token-01')] }),
    },
  });
  const shown = (exact: string[], dns: string[] = []) => authenticate({ certificate: { exact, dns } });
  assert.equal(await shown(['billing']), 'approver billing by certificate');
  assert.equal(await shown([], ['orders.test']), 'approver orders by certificate');
  assert.equal(await shown(['Orders.test'], ['orders.test']), 'approver orders by certificate');
  assert.equal(await shown(['orders.test']), 'nobody');
  assert.equal(await shown(['Billing']), 'nobody');
  assert.equal(await shown(['billing.test', ' billing'], ['']), 'nobody');
  assert.equal(await shown(['orders']), 'nobody');
  assert.equal(await authenticate({ token: 'orders-token-0001' }), 'approver orders by token');
});

const NAMED = { a: who({ certificate: 'a.test' }), b: who({ certificate: 'b' }) };

test('a certificate with the names of two approvers is rejected', async () => {
  const authenticate = authenticator({ approvers: NAMED });
  assert.equal(await authenticate({ certificate: { exact: ['b'], dns: ['a.test'] } }), 'nobody');
});

test('whoever is rejected learns what to send', async () => {
  const authenticate = createAuthenticator({
    ...{ approvers: NAMED, readers: {}, jwt: null, keys: null, deps: new VirtualTime() },
    logger: pino({ level: 'silent' }),
  });
  const rejected = (credentials: Partial<Credentials>) =>
    authenticate({ token: null, certificate: null, network: '192.0.2.1', ...credentials });
  for (const [credentials, detail] of [
    [{}, 'Send Authorization: Bearer TOKEN.'],
    [{ token: 'x' }, 'This token is unknown; check it against the configuration of the bridge.'],
    [
      { certificate: { exact: ['c'], dns: [] } },
      'No approver has a name of this client certificate, and the request has no Authorization: Bearer TOKEN.',
    ],
    [
      { certificate: { exact: ['b'], dns: ['a.test'] } },
      'This client certificate has the names of several approvers; use a certificate with the name of one.',
    ],
  ] as const)
    assert.deepEqual(await rejected(credentials), { outcome: 'nobody', detail });
});

/** A folder with token files, an authenticator that reads them, and what it logged. */
function tokenFiles(t: TestContext, texts: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-tokens-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const inFile = (name: string) => {
    const text = texts[name] ?? '';
    write(name, text);
    const secret = new Secret({ file: name });
    secret.open(text.trim(), join(folder, name));
    return secret;
  };
  const log: string[] = [];
  const time = new VirtualTime();
  const approvers = Object.fromEntries(Object.keys(texts).map((name) => [name, who({ tokens: [inFile(name)] })]));
  return { folder, write, log, time, ask: authenticator({ approvers }, log, time) };
}

const [FIRST, SECOND, THIRD] = ['first-token-000001', 'second-token-00002', 'third-token-000003'];

test('a token that is replaced in its file is valid within a second, and the old one no longer', async (t) => {
  const { write, time, ask, log } = tokenFiles(t, { orders: FIRST });
  assert.equal(await ask({ token: FIRST }), 'approver orders by token');
  write('orders', `${SECOND}\n`);
  await time.advance(1000);
  assert.equal(await ask({ token: FIRST }), 'nobody');
  assert.equal(await ask({ token: SECOND }), 'approver orders by token');
  assert.equal(log.length, 1);
  const { level, approver, file, msg } = JSON.parse(log.join());
  assert.deepEqual(
    [level, approver, file.endsWith('/orders'), msg],
    [30, 'orders', true, 'the file of a token changed: the new token is valid now'],
  );
  assert.ok(!log.join().includes(SECOND));
  write('orders', SECOND);
  await time.advance(1000);
  await ask({ token: SECOND });
  assert.equal(log.length, 1, 'the same token again is no change');
});

test('a file is checked at most once a second, however many tokens arrive', async (t) => {
  const { write, time, ask } = tokenFiles(t, { orders: FIRST });
  await ask({ token: 'wrong-token-0000001' });
  write('orders', SECOND);
  await time.advance(999);
  for (let attempt = 0; attempt < 50; attempt++) assert.equal(await ask({ token: SECOND }), 'nobody');
  assert.equal(await ask({ token: FIRST }), 'approver orders by token');
  await time.advance(1);
  assert.equal(await ask({ token: SECOND }), 'approver orders by token');
});

test('a file that replaces the first is noticed, also behind a symbolic link as Kubernetes mounts it', async (t) => {
  const { folder, write, time, ask } = tokenFiles(t, { orders: FIRST });
  await ask({ token: FIRST });
  write('new', SECOND);
  symlinkSync(join(folder, 'new'), join(folder, 'link'));
  renameSync(join(folder, 'link'), join(folder, 'orders'));
  await time.advance(1000);
  assert.equal(await ask({ token: SECOND }), 'approver orders by token');
});

test('each new fault of a file is logged once, and an old one again after the file was good', async (t) => {
  const { write, time, ask, log } = tokenFiles(t, { orders: FIRST, billing: THIRD });
  await ask({ token: FIRST });
  for (const text of ['', '', THIRD, THIRD, FIRST, '']) {
    write('orders', text);
    await time.advance(1000);
    await ask({ token: FIRST });
  }
  const errors = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);
  assert.deepEqual(
    errors.map(({ approver, msg }) => `${approver}: ${msg}`),
    Array(3).fill('orders: the file of a token cannot be used: the last good token stays valid'),
  );
  assert.equal(errors[1].reason, 'contains a token that another caller has');
  assert.equal(errors[0].reason, errors[2].reason);
});

test('an approver and a reader with the same name are two callers: one cannot get the token of the other', async (t) => {
  const { folder, write, time } = tokenFiles(t, { grafana: FIRST });
  const secret = new Secret({ file: 'grafana' });
  secret.open(FIRST, join(folder, 'grafana'));
  const log: string[] = [];
  const ask = authenticator(
    { approvers: { grafana: who({ tokens: [secret] }) }, readers: { grafana: { tokens: [token(SECOND)] } } },
    log,
    time,
  );
  await ask({ token: FIRST });
  write('grafana', SECOND);
  await time.advance(1000);
  assert.equal(await ask({ token: SECOND }), 'reader grafana by token');
  assert.equal(await ask({ token: FIRST }), 'approver grafana by token');
  assert.deepEqual(
    log.map((line) => JSON.parse(line).approver),
    ['grafana'],
    'only the file of the approver has a fault',
  );
});

for (const [what, spoil] of Object.entries<(folder: string, write: (name: string, text: string) => void) => void>({
  'is gone': (folder) => rmSync(join(folder, 'orders')),
  'is empty': (_, write) => write('orders', '\n'),
  'is too short': (_, write) => write('orders', 'fifteen-letters'),
  'holds a space': (_, write) => write('orders', 'two words and more of them'),
  'holds the token of another': (_, write) => write('orders', THIRD),
  'is a folder': (folder) => {
    rmSync(join(folder, 'orders'));
    symlinkSync(folder, join(folder, 'orders'));
  },
  'is too long': (_, write) => write('orders', 'x'.repeat(1_100_000)),
})) {
  test(`a file that ${what} leaves the last good token in use, one log line says so without its content, and a good token is valid again`, async (t) => {
    const { folder, write, time, ask, log } = tokenFiles(t, { orders: FIRST, billing: THIRD });
    await ask({ token: FIRST });
    spoil(folder, write);
    for (let second = 0; second < 3; second++) {
      await time.advance(1000);
      assert.equal(await ask({ token: FIRST }), 'approver orders by token');
      assert.equal(await ask({ token: THIRD }), 'approver billing by token');
      assert.equal(await ask({ token: '' }), 'nobody');
    }
    const errors = log.filter((line) => JSON.parse(line).level === 50);
    assert.equal(errors.length, 1);
    assert.match(errors.join(), /"approver":"orders","file":"[^"]*orders","reason":/);
    for (const secret of ['fifteen', 'two words', FIRST, THIRD]) assert.ok(!log.join().includes(secret));
    rmSync(join(folder, 'orders'), { force: true });
    write('orders', SECOND);
    await time.advance(1000);
    assert.equal(await ask({ token: SECOND }), 'approver orders by token');
    assert.equal(await ask({ token: FIRST }), 'nobody');
  });
}

test('two approvers may exchange their tokens, and two with the same new token keep their old ones', async (t) => {
  const { write, time, ask, log } = tokenFiles(t, { a: FIRST, b: SECOND });
  write('a', SECOND);
  write('b', FIRST);
  assert.equal(await ask({ token: FIRST }), 'approver b by token');
  assert.equal(await ask({ token: SECOND }), 'approver a by token');
  write('a', THIRD);
  write('b', THIRD);
  await time.advance(1000);
  assert.equal(await ask({ token: THIRD }), 'nobody');
  assert.equal(await ask({ token: FIRST }), 'approver b by token');
  assert.equal(log.filter((line) => JSON.parse(line).level === 50).length, 2);
});

test('an approver whose new token is rejected keeps its old one, which nobody else can get at the same time', async (t) => {
  const { write, time, ask, log } = tokenFiles(t, { a: FIRST, b: SECOND, c: THIRD });
  await ask({ token: FIRST });
  write('a', SECOND);
  write('b', THIRD);
  await time.advance(1000);
  assert.equal(await ask({ token: FIRST }), 'approver a by token');
  assert.equal(await ask({ token: SECOND }), 'approver b by token');
  assert.equal(await ask({ token: THIRD }), 'approver c by token');
  assert.equal(log.filter((line) => JSON.parse(line).level === 50).length, 2);
});

test('every token is compared as a hash with every configured one, whether one matches or not', () => {
  const approvers = { orders: who({ tokens: [token('orders-token-0001'), token('orders-token-0002')] }) };
  const readers = { grafana: { tokens: [token('grafana-token-001')] } };
  const book = new TokenStore({ approvers, readers }, new VirtualTime(), pino({ level: 'silent' }));
  for (const text of ['orders-token-0001', 'grafana-token-001', 'x', 'a-longer-token-that-nobody-has']) {
    const lengths: number[] = [];
    const isEqual = (one: Buffer, other: Buffer) => {
      lengths.push(one.length, other.length);
      return timingSafeEqual(one, other);
    };
    book.ownerOf(text, isEqual);
    assert.deepEqual(lengths, [32, 32, 32, 32, 32, 32], text);
  }
});
