// oauth2, a token endpoint, a receiver → which tokens are asked for and when; endpoints that fail.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect, promisify } from 'node:util';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { webhookOptions } from '../../../adapters/webhook/webhook-options.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { ConnectProxy } from '../../far-sides/connect-proxy.ts';
import { trapProxy } from '../../far-sides/trap-proxy.ts';
import { type Answer, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { type OptionFaults, testOptionFaults } from './option-faults.ts';
import { createWebhook, type WebhookSetup } from './start-webhook.ts';

const run = promisify(execFile);
const SECRET = 'hidden: 100% é+/&=';
const never = new AbortController().signal;

/** An answer with a token; `members` over the usual ones. */
function granting(token: string, members: Readonly<Record<string, unknown>> = {}): Answer {
  return json(200, { access_token: token, token_type: 'Bearer', expires_in: 3600, ...members });
}

function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

interface Fixture {
  readonly adapter: ManagedAdapter;
  readonly deps: TestDeps;
  /** The token endpoint. */
  readonly issuer: WebhookReceiver;
  readonly receiver: WebhookReceiver;
  readonly deliver: (signal?: AbortSignal) => Promise<Outcome | undefined>;
  /** The `Authorization` of each delivery so far. */
  readonly sent: () => readonly (string | undefined)[];
}

interface Setup extends Pick<WebhookSetup, 'time' | 'resolve'> {
  readonly oauth2?: Readonly<Record<string, unknown>>;
  readonly options?: Readonly<Record<string, unknown>>;
}

async function fixture(t: TestContext, { oauth2 = {}, options = {}, ...rest }: Setup = {}): Promise<Fixture> {
  const [issuer, receiver] = await Promise.all([WebhookReceiver.start(), WebhookReceiver.start()]);
  t.after(() => Promise.all([issuer.stop(), receiver.stop()]));
  issuer.default = granting('a-token');
  const client = { tokenUrl: issuer.url, clientId: 'the client', clientSecret: { env: 'SECRET' }, ...oauth2 };
  const { adapter, deps } = createWebhook(t, {
    ...rest,
    options: { url: receiver.url, oauth2: client, ...options },
    secrets: { SECRET, ID: 'id' },
  });
  const deliver: Fixture['deliver'] = async (signal = never) => (await adapter.deliver([sampleDelivery()], signal))[0];
  return {
    adapter,
    deps,
    issuer,
    receiver,
    deliver,
    sent: () => receiver.requests.map(({ headers }) => headers.authorization),
  };
}

test('the client authenticates with Basic, both parts form-encoded, and the deliveries have the token', async (t) => {
  const { issuer, deliver, sent } = await fixture(t, {
    oauth2: { scope: 'https://api.example/.default other', audience: 'https://api' },
  });
  assert.equal(await deliver(), 'accepted');
  const [asked] = issuer.requests;
  assert.equal(asked?.method, 'POST');
  assert.equal(asked.headers['content-type'], 'application/x-www-form-urlencoded');
  assert.equal(asked.headers.accept, 'application/json');
  const credentials = Buffer.from(asked.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
  assert.equal(credentials, 'the+client:hidden%3A+100%25+%C3%A9%2B%2F%26%3D');
  assert.deepEqual(Object.fromEntries(new URLSearchParams(asked.body.toString())), {
    grant_type: 'client_credentials',
    scope: 'https://api.example/.default other',
    audience: 'https://api',
  });
  assert.deepEqual(sent(), ['Bearer a-token']);
});

test('with clientAuth post the credentials are only in the body', async (t) => {
  const { issuer, deliver } = await fixture(t, { oauth2: { clientAuth: 'post', clientId: { env: 'ID' } } });
  assert.equal(await deliver(), 'accepted');
  const [asked] = issuer.requests;
  assert.equal(asked?.headers.authorization, undefined);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(asked?.body.toString())), {
    grant_type: 'client_credentials',
    client_id: 'id',
    client_secret: SECRET,
  });
});

test('many deliveries that wait for a token share one request', async (t) => {
  const { adapter, issuer, sent } = await fixture(t);
  const deliveries = Array.from({ length: 10 }, (_, index) =>
    adapter.deliver([sampleDelivery({ seq: index + 1 })], never),
  );
  assert.deepEqual((await Promise.all(deliveries)).flat(), Array(10).fill('accepted'));
  assert.equal(issuer.requests.length, 1);
  assert.deepEqual(new Set(sent()), new Set(['Bearer a-token']));
});

/** Members of the answer → so long the token is used. */
const LIVES: readonly (readonly [members: Readonly<Record<string, unknown>>, usedMs: number])[] = [
  [{ expires_in: 3600 }, 3_540_000],
  [{ expires_in: '3600' }, 3_540_000],
  [{ expires_in: 100 }, 90_000],
  [{ expires_in: undefined }, 270_000],
  [{ expires_in: null }, 270_000],
  [{ expires_in: -5 }, 270_000],
  [{ expires_in: 'soon' }, 270_000],
  [{ expires_in: 31_536_000 }, 86_340_000],
];

for (const [members, usedMs] of LIVES) {
  test(`a token with ${inspect(members)} is used for ${usedMs / 1000} s and then renewed`, async (t) => {
    const time = new VirtualTime();
    const { issuer, deliver, sent } = await fixture(t, { time });
    issuer.next(granting('first', members), granting('second'));
    assert.equal(await deliver(), 'accepted');
    await time.advance(usedMs - 1);
    assert.equal(await deliver(), 'accepted');
    await time.advance(1);
    assert.equal(await deliver(), 'accepted');
    assert.deepEqual(sent(), ['Bearer first', 'Bearer first', 'Bearer second']);
  });
}

test('a token that expires at once is used once', async (t) => {
  const { issuer, deliver } = await fixture(t);
  issuer.default = granting('a-token', { expires_in: 0 });
  assert.equal(await deliver(), 'accepted');
  assert.equal(await deliver(), 'accepted');
  assert.equal(issuer.requests.length, 2);
});

test('a wall clock that jumps ahead, as after a freeze, renews the token', async (t) => {
  const time = new VirtualTime();
  const { issuer, deliver } = await fixture(t, { time });
  await deliver();
  time.jumpWall(3_600_000);
  await deliver();
  assert.equal(issuer.requests.length, 2);
});

test('a 401 of the receiver drops the token, once a minute at most', async (t) => {
  const time = new VirtualTime();
  const { issuer, receiver, deliver, sent } = await fixture(t, { time });
  issuer.next(granting('one'), granting('two'), granting('three'));
  receiver.next({ status: 401 }, { status: 401 }, { status: 401 });
  const refusal = failed(await deliver());
  assert.equal(refusal.disposition, 'misconfigured');
  assert.equal(refusal.status, 401);
  await deliver();
  await time.advance(59_999);
  await deliver();
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(sent(), ['Bearer one', 'Bearer two', 'Bearer two', 'Bearer two']);
  await time.advance(1);
  receiver.next({ status: 401 });
  await deliver();
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(sent().slice(4), ['Bearer two', 'Bearer three']);
});

test('deliveries that are rejected with the same token do not drop a newer one', async (t) => {
  const { adapter, issuer, receiver, deliver } = await fixture(t);
  issuer.next(granting('one'), granting('two'));
  receiver.default = { status: 401 };
  await Promise.all([1, 2, 3].map((seq) => adapter.deliver([sampleDelivery({ seq })], never)));
  receiver.default = { status: 204 };
  assert.equal(await deliver(), 'accepted');
  assert.equal(issuer.requests.length, 2);
});

/** What the endpoint answers → what the lane is told, and words of the message. */
const REFUSALS: readonly (readonly [answer: Answer, says: RegExp])[] = [
  [json(401, { error: 'invalid_client', error_description: 'hidden' }), /401, invalid_client: check oauth2\.clientId/],
  [json(400, { error: 'unauthorized_client' }), /unauthorized_client: allow this client/],
  [json(400, { error: 'invalid_scope' }), /invalid_scope: check oauth2\.scope/],
  [json(400, { error: 'hidden' }), /answered 400: check oauth2\.tokenUrl/],
  [json(400, { error: 'constructor' }), /answered 400: check oauth2\.tokenUrl/],
  [json(400, { error: ['hidden'] }), /answered 400: check/],
  [{ status: 404, body: '<h1>hidden</h1>' }, /answered 404: check oauth2\.tokenUrl/],
  [{ status: 302, headers: { location: 'http://127.0.0.1:9/hidden' } }, /302: the bridge follows no redirects/],
  [{ status: 200, body: '<h1>hidden</h1>' }, /200 without an access_token/],
  [json(200, []), /200 without an access_token/],
  [json(200, null), /200 without an access_token/],
  [granting('hidden\r\nInjected: yes'), /200 without an access_token/],
  [granting(''), /200 without an access_token/],
  [granting('hidden', { access_token: 5 }), /200 without an access_token/],
  [granting('hidden', { token_type: 'mac' }), /not of type Bearer/],
  [granting('hidden', { token_type: undefined }), /not of type Bearer/],
  [
    { status: 200, body: `{"access_token":"hidden","token_type":"Bearer","padding":"${'x'.repeat(65_536)}"}` },
    /200 without an access_token/,
  ],
];

for (const [answer, says] of REFUSALS) {
  test(`an endpoint that answers ${inspect(answer, { maxStringLength: 60, breakLength: 200 })} is a wrong configuration of the sink`, async (t) => {
    const { issuer, receiver, deliver, deps } = await fixture(t);
    issuer.default = answer;
    const failure = failed(await deliver());
    assert.equal(failure.code, 'BRIDGE_SINK_TOKEN_REFUSED');
    assert.equal(failure.disposition, 'misconfigured');
    assert.equal(failure.scope, 'sink');
    assert.match(failure.message, says);
    assert.match(failure.message, /^sink under-test: the token endpoint http:\/\/127\.0\.0\.1:\d+ /);
    assert.doesNotMatch(`${inspect(failure, { depth: 9 })}${deps.logged()}`, /hidden/);
    assert.equal(receiver.requests.length, 0, 'nothing is sent without a token');
  });
}

const PASSING: readonly (readonly [answer: Answer, status: number, retryAfterMs: number | undefined])[] = [
  [{ status: 500 }, 500, undefined],
  [json(503, { error: 'hidden' }, { 'retry-after': '7' }), 503, 7000],
  [{ status: 429, headers: { 'retry-after': '3' } }, 429, 3000],
  [{ status: 408 }, 408, undefined],
  [json(400, { error: 'temporarily_unavailable' }), 400, undefined],
];

for (const [answer, status, retryAfterMs] of PASSING) {
  test(`an endpoint that answers ${inspect(answer)} gets another request`, async (t) => {
    const { issuer, deliver } = await fixture(t);
    issuer.next(answer);
    const failure = failed(await deliver());
    assert.equal(failure.code, 'BRIDGE_SINK_TOKEN_UNAVAILABLE');
    assert.deepEqual([failure.disposition, failure.scope, failure.status], ['retry', 'sink', status]);
    assert.equal(failure.retryAfterMs, retryAfterMs);
    assert.doesNotMatch(failure.message, /hidden/);
    assert.equal(await deliver(), 'accepted');
  });
}

test('an endpoint that does not answer costs one time limit, and the message does not blame the receiver', async (t) => {
  const time = new VirtualTime();
  const { adapter, issuer, receiver } = await fixture(t, { time, options: { timeout: '5s' } });
  issuer.default = 'hang';
  const outcomes = [1, 2].map((seq) => adapter.deliver([sampleDelivery({ seq })], never));
  await issuer.waitFor(1);
  await time.advance(5000);
  for (const [outcome] of await Promise.all(outcomes)) {
    const failure = failed(outcome);
    assert.equal(failure.code, 'BRIDGE_SINK_TOKEN_UNAVAILABLE');
    assert.deepEqual([failure.disposition, failure.scope, failure.status], ['retry', 'sink', 'timeout']);
    assert.match(failure.message, /the token endpoint .* gave no token within 5s/);
  }
  assert.equal(issuer.requests.length, 1);
  assert.equal(receiver.requests.length, 0);
  await poll(() => issuer.open === 0, 'the connection to be given up');
});

test('an answer that does not end is cut off at the time limit', async (t) => {
  const time = new VirtualTime();
  const { issuer, deliver } = await fixture(t, { time });
  issuer.default = (response) => void response.writeHead(200).write('{"access_token":');
  const outcome = deliver();
  await issuer.waitFor(1);
  await time.advance(10_000);
  assert.equal(failed(await outcome).code, 'BRIDGE_SINK_TOKEN_UNAVAILABLE');
  await poll(() => issuer.open === 0, 'the connection to be given up');
});

test('an endless answer is cut off', async (t) => {
  const { issuer, deliver } = await fixture(t);
  issuer.default = (response, socket) => {
    const more = () => {
      while (!socket.destroyed && response.write('x'.repeat(16_384)));
    };
    response.on('drain', more).on('error', () => {});
    more();
  };
  assert.equal(failed(await deliver()).code, 'BRIDGE_SINK_TOKEN_REFUSED');
  await poll(() => issuer.open === 0, 'the connection to be given up');
});

test('an endpoint that is unreachable, closes the connection or upgrades is a fault of the whole sink, which is retried', async (t) => {
  const { issuer, deliver } = await fixture(t);
  const upgrade: Answer = (_, socket) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
  for (const answer of ['reset', upgrade] as const) {
    issuer.next(answer);
    const broken = failed(await deliver());
    assert.deepEqual([broken.code, broken.disposition, broken.scope], ['BRIDGE_SINK_BROKEN', 'retry', 'sink']);
  }
  issuer.next((response, socket) => {
    response.writeHead(200, { 'content-length': '100' }).write('{');
    setImmediate(() => socket.resetAndDestroy());
  });
  assert.equal(failed(await deliver()).code, 'BRIDGE_SINK_BROKEN');
  await issuer.stop();
  const away = failed(await deliver());
  assert.deepEqual([away.code, away.disposition, away.scope], ['BRIDGE_SINK_UNREACHABLE', 'retry', 'sink']);
  assert.match(away.message, /the token endpoint/);
  await issuer.start();
  assert.equal(await deliver(), 'accepted');
});

test('an abort ends the wait at once with its own reason, and does not affect other callers', async (t) => {
  const { adapter, issuer } = await fixture(t);
  let answer: (() => void) | undefined;
  issuer.next((response) => {
    answer = () => void response.end(JSON.stringify({ access_token: 'late', token_type: 'bearer' }));
  });
  const controller = new AbortController();
  const reason = new Error('the bridge is stopping');
  const stopped = assert.rejects(
    adapter.deliver([sampleDelivery({ seq: 1 })], controller.signal),
    (error) => error === reason,
  );
  const waiting = adapter.deliver([sampleDelivery({ seq: 2 })], never);
  await issuer.waitFor(1);
  controller.abort(reason);
  await stopped;
  answer?.();
  assert.deepEqual(await waiting, ['accepted']);
  assert.equal(issuer.requests.length, 1);
});

test('a token request without a waiting caller is ended', async (t) => {
  const { issuer, deliver } = await fixture(t);
  issuer.next('hang');
  const controller = new AbortController();
  const stopped = assert.rejects(deliver(controller.signal));
  await issuer.waitFor(1);
  controller.abort(new Error('stop'));
  await stopped;
  await poll(() => issuer.open === 0, 'the connection to be given up');
  assert.equal(await deliver(), 'accepted');
});

test('the token endpoint has the same forbidden addresses as the url', async (t) => {
  for (const [host, says] of [
    ['169.254.169.254', /metadata service/],
    ['[::ffff:168.63.129.16]', /metadata service/],
    ['10.0.0.1', /allowPrivate/],
    ['name.test', /allowPrivate/],
  ] as const) {
    const resolve: WebhookSetup['resolve'] = (_, __, done) => done(null, [{ address: '192.168.0.1', family: 4 }]);
    const { deliver, receiver } = await fixture(t, { oauth2: { tokenUrl: `http://${host}/token` }, resolve });
    const failure = failed(await deliver());
    assert.equal(failure.code, 'BRIDGE_SINK_FORBIDDEN_ADDRESS', host);
    assert.equal(failure.disposition, 'misconfigured');
    assert.match(failure.message, says);
    assert.match(failure.message, /correct oauth2\.tokenUrl/);
    assert.equal(receiver.requests.length, 0);
  }
});

test('the token endpoint is verified with the tls.ca of the sink', async (t) => {
  const issuer = await WebhookReceiver.start({ tls: { key: PRIVATE_KEY, cert: CERTIFICATE } });
  t.after(() => issuer.stop());
  issuer.default = granting('a-token');
  const receiver = await WebhookReceiver.start({ tls: { key: PRIVATE_KEY, cert: CERTIFICATE } });
  t.after(() => receiver.stop());
  const oauth2 = { tokenUrl: issuer.url, clientId: 'a', clientSecret: { env: 'SECRET' } };
  const { adapter } = createWebhook(t, { options: { url: receiver.url, oauth2 }, secrets: { SECRET } });
  assert.equal(failed((await adapter.deliver([sampleDelivery()], never))[0]).code, 'BRIDGE_SINK_TLS');
  const options = v.parse(webhookOptions, {
    url: receiver.url,
    oauth2,
    allowPrivate: ['127.0.0.0/8'],
    tls: { ca: 'ca.pem' },
  });
  options.oauth2?.clientSecret.open(SECRET);
  options.tls?.ca?.open(CERTIFICATE);
  const trusting = manageAdapter(webhookSink.create(options, adapterDeps()), 'under-test');
  t.after(() => trusting[Symbol.asyncDispose]());
  assert.deepEqual(await trusting.deliver([sampleDelivery()], never), ['accepted']);
});

test("token requests use the sink's own proxy", async (t) => {
  const proxy = await ConnectProxy.start(t);
  const { issuer, receiver, deliver } = await fixture(t, { options: { proxy: proxy.url } });
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(
    proxy.requests.map(({ authority }) => authority),
    [issuer, receiver].map(({ port }) => `127.0.0.1:${port}`),
  );
});

test('token requests use no proxy of the environment', async (t) => {
  const trap = await trapProxy(t);
  const { issuer, receiver } = await fixture(t);
  const oauth2 = { tokenUrl: issuer.url, clientId: 'a', clientSecret: { env: 'SECRET' } };
  const program = join(import.meta.dirname, 'deliver-once.ts');
  const { stdout } = await run(process.execPath, [program, receiver.url, JSON.stringify({ oauth2 })], {
    env: trap.env,
  });
  assert.equal(stdout, 'accepted\n');
  assert.equal(issuer.requests.length, 1);
  assert.equal(trap.visits(), 0);
});

test('a check requests a token and sends nothing', async (t) => {
  const { adapter, issuer, receiver } = await fixture(t);
  await adapter.check(never);
  assert.equal(issuer.requests.length, 1);
  assert.equal(receiver.requests.length, 0);
  issuer.default = json(401, { error: 'invalid_client' });
  const other = await fixture(t, { oauth2: { tokenUrl: issuer.url } });
  await assert.rejects(other.adapter.check(never), { code: 'BRIDGE_SINK_TOKEN_REFUSED' });
});

test('a closed sink leaves no connection; created and closed unused, it opens none', async (t) => {
  const used = await fixture(t);
  await used.deliver();
  await used.adapter[Symbol.asyncDispose]();
  await poll(() => used.issuer.open === 0, 'the connections to close');
  const unused = await fixture(t);
  await unused.adapter[Symbol.asyncDispose]();
  assert.equal(unused.issuer.connections, 0);
});

test('neither the secret nor a token shows in logs, errors or the adapter', async (t) => {
  const { adapter, deps, issuer, receiver, deliver } = await fixture(t);
  issuer.default = granting('a-token-nobody-may-see');
  receiver.next({ status: 401 }, 'reset');
  const shown = [adapter, await deliver(), await deliver(), deps.logged()];
  const text = shown.map((what) => inspect(what, { depth: 20, showHidden: true })).join('\n');
  for (const word of [SECRET, 'hidden', 'a-token-nobody-may-see']) assert.ok(!text.includes(word), `${word} leaked`);
});

const GOOD = { tokenUrl: 'https://login.example/token', clientId: 'id', clientSecret: { env: 'S' } };
const FAULTS: OptionFaults = [
  [{ oauth2: { ...GOOD, tokenUrl: 'http://login.example/hidden' } }, 'oauth2.tokenUrl', /allowInsecure/],
  [{ oauth2: { ...GOOD, tokenUrl: 'hidden' } }, 'oauth2.tokenUrl', /https:\/\//],
  [{ oauth2: { ...GOOD, tokenUrl: 'https://' } }, 'oauth2.tokenUrl', /complete URL/],
  [{ oauth2: { ...GOOD, tokenUrl: 'https://user:hidden@login.example/' } }, 'oauth2.tokenUrl', /user:password/],
  [{ oauth2: { ...GOOD, tokenUrl: 'https://login.example/#hidden' } }, 'oauth2.tokenUrl', /fragment/],
  [{ oauth2: { ...GOOD, tokenUrl: undefined } }, 'oauth2.tokenUrl', /./],
  [{ oauth2: { ...GOOD, clientId: '' } }, 'oauth2.clientId', /./],
  [{ oauth2: { ...GOOD, clientSecret: 'hidden' } }, 'oauth2.clientSecret', /do not write secrets/],
  [{ oauth2: { ...GOOD, scope: 'a  b' } }, 'oauth2.scope', /single spaces/],
  [{ oauth2: { ...GOOD, scope: '' } }, 'oauth2.scope', /single spaces/],
  [{ oauth2: { ...GOOD, scope: 'a"b' } }, 'oauth2.scope', /single spaces/],
  [{ oauth2: { ...GOOD, audience: '' } }, 'oauth2.audience', /./],
  [{ oauth2: { ...GOOD, clientAuth: 'none' } }, 'oauth2.clientAuth', /./],
  [{ oauth2: { ...GOOD, other: 1 } }, 'oauth2.other', /./],
  [{ oauth2: GOOD, headers: { AuthoriZation: 'hidden' } }, 'headers', /remove one of the two/],
];

testOptionFaults('https://a.example', FAULTS);

test('every valid spelling is accepted', () => {
  for (const oauth2 of [
    { ...GOOD, clientId: { file: 'id' }, scope: 'api://x/.default', audience: 'a', clientAuth: 'post' },
    { ...GOOD, tokenUrl: 'https://login.example:8443/t?tenant=1' },
  ])
    assert.ok(v.is(webhookOptions, { url: 'https://a.example', oauth2 }), JSON.stringify(oauth2));
  const insecure = {
    url: 'https://a.example',
    allowInsecure: true,
    oauth2: { ...GOOD, tokenUrl: 'http://127.0.0.1/token' },
  };
  assert.ok(v.is(webhookOptions, insecure));
});
