// The handshake with a real receiver → what is consent, which rate, how long; nothing without it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { AdapterMemory } from '../../../adapters/adapter.ts';
import type { Answer, ReceivedRequest, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterMemory } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startWebhook, type Webhook, type WebhookSetup } from './start-webhook.ts';

const ORIGIN = 'bridge.example.com';
const never = new AbortController().signal;

interface Asked extends Webhook {
  /** What the receiver answers to OPTIONS, and to all else. */
  readonly answers: { options: Answer; post: Answer };
}

async function asked(
  t: TestContext,
  options: Readonly<Record<string, unknown>> = {},
  setup: WebhookSetup = {},
): Promise<Asked> {
  const webhook = await startWebhook(t, { ...setup, options: { handshake: true, origin: ORIGIN, ...options } });
  const answers: Asked['answers'] = { options: consent(), post: { status: 204 } };
  tell(webhook.receiver, answers);
  return { ...webhook, answers };
}

function tell(receiver: WebhookReceiver, answers: Asked['answers']): void {
  receiver.default = (response, socket, request) => {
    const answer = request.method === 'OPTIONS' ? answers.options : answers.post;
    if (typeof answer === 'function') answer(response, socket, request);
    else if (answer === 'reset') socket.resetAndDestroy();
    else if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end(answer.body);
  };
}

function consent(headers: Readonly<Record<string, string>> = {}, status = 200): Answer {
  return { status, headers: { 'WebHook-Allowed-Origin': ORIGIN, ...headers } };
}

function methods({ requests }: WebhookReceiver): string[] {
  return requests.map(({ method }) => method);
}

test('OPTIONS is sent once to the exact URL before the first delivery; every delivery has the origin (W-4, W-5, W-9)', async (t) => {
  const { adapter, receiver, deliver } = await asked(t, { headers: { 'x-team': 'ops' }, ratePerMinute: 120 });
  const again = await asked(t, {
    url: `${receiver.url}?code=secret%20one&b=2`,
    ratePerMinute: 120,
    headers: { 'x-team': 'ops' },
  });
  assert.deepEqual(await again.deliver(), 'accepted');
  assert.equal(await again.deliver(), 'accepted');
  assert.deepEqual(methods(receiver), ['OPTIONS', 'POST', 'POST']);
  const [options, ...posts] = receiver.requests as [ReceivedRequest, ...ReceivedRequest[]];
  assert.equal(options.path, '/hook?code=secret%20one&b=2');
  assert.equal(options.body.length, 0);
  const { headers } = options;
  assert.equal(headers['webhook-request-origin'], ORIGIN);
  assert.equal(headers['webhook-request-rate'], '120');
  assert.equal(headers['x-team'], 'ops', 'as a delivery would be let in');
  for (const name of ['webhook-id', 'webhook-signature', 'content-type', 'transfer-encoding'])
    assert.equal(headers[name], undefined, name);
  for (const post of posts) {
    assert.equal(post.path, options.path);
    assert.equal(post.headers['webhook-request-origin'], ORIGIN);
    assert.equal(post.headers['webhook-request-rate'], undefined);
  }
  assert.equal(await deliver(), 'accepted');
  assert.equal(adapter.preparation?.isNeeded, false);
});

test('without ratePerMinute no rate is requested (W-5)', async (t) => {
  const { receiver, deliver } = await asked(t);
  assert.equal(await deliver(), 'accepted');
  assert.equal(receiver.requests[0]?.headers['webhook-request-rate'], undefined);
});

const CONSENTS: Readonly<Record<string, Answer>> = {
  'our origin': consent(),
  'our origin in another letter case': consent({ 'WebHook-Allowed-Origin': 'Bridge.EXAMPLE.com' }),
  'the header in another letter case': { status: 200, headers: { 'webhook-allowed-ORIGIN': ORIGIN } },
  'an asterisk': consent({ 'WebHook-Allowed-Origin': '*' }),
  'status 405 with the header': consent({}, 405),
  'status 500 with the header': consent({}, 500),
  'a redirect with the header': consent({ location: 'https://elsewhere.example/' }, 302),
  'status 204': consent({}, 204),
};

for (const [what, answer] of Object.entries(CONSENTS)) {
  test(`consent: ${what} (W-6)`, async (t) => {
    const { answers, receiver, deliver } = await asked(t);
    answers.options = answer;
    assert.equal(await deliver(), 'accepted');
    assert.deepEqual(methods(receiver), ['OPTIONS', 'POST']);
  });
}

const REFUSALS: Readonly<Record<string, { answer: Answer; says: RegExp }>> = {
  '200 without the header': { answer: { status: 200 }, says: /with 200 and no WebHook-Allowed-Origin/ },
  '405, as where OPTIONS is unknown': { answer: { status: 405 }, says: /with 405 and no/ },
  'another origin': {
    answer: consent({ 'WebHook-Allowed-Origin': 'other.example.com' }),
    says: /with 200 and another WebHook-Allowed-Origin/,
  },
  'an origin that only begins like ours': {
    answer: consent({ 'WebHook-Allowed-Origin': `${ORIGIN}.evil.example` }),
    says: /another/,
  },
  'an empty origin': { answer: consent({ 'WebHook-Allowed-Origin': '' }), says: /another/ },
  'a rate alone': {
    answer: { status: 200, headers: { 'WebHook-Allowed-Rate': '100' } },
    says: /no WebHook-Allowed-Origin/,
  },
  'a redirect': { answer: { status: 307, headers: { location: '/elsewhere' } }, says: /with 307/ },
  'CORS, which is something else': {
    answer: { status: 200, headers: { 'Access-Control-Allow-Origin': '*' } },
    says: /no WebHook-Allowed-Origin/,
  },
};

for (const [what, { answer, says }] of Object.entries(REFUSALS)) {
  test(`no consent: ${what}; nothing is delivered, and the bridge asks again soon (W-6, W-8)`, async (t) => {
    const { adapter, answers, receiver, deliver } = await asked(t);
    answers.options = answer;
    const error = failed(await deliver());
    assert.equal(error.code, 'BRIDGE_WEBHOOK_NO_CONSENT');
    assert.match(error.message, says);
    assert.match(error.message, /bridge\.example\.com/);
    assert.doesNotMatch(error.message, /hook\b.*\?|other\.example|evil/);
    const { disposition, scope, status, retryWithinMs, retryAfterMs } = error;
    assert.deepEqual(
      { disposition, scope, status, retryWithinMs, retryAfterMs },
      {
        disposition: 'misconfigured',
        scope: 'sink',
        status: undefined,
        retryWithinMs: 10_000,
        retryAfterMs: undefined,
      },
      'a dead letter would show the status of the question',
    );
    await assert.rejects(async () => adapter.preparation?.run(never), {
      code: 'BRIDGE_WEBHOOK_NO_CONSENT',
      retryWithinMs: 10_000,
    });
    assert.equal(adapter.preparation?.isNeeded, true);
    assert.deepEqual(methods(receiver), ['OPTIONS', 'OPTIONS']);
  });
}

test('a handshake without an answer, with a reset or without a connection is soon retried for the whole sink', async (t) => {
  const time = new VirtualTime();
  const { adapter, answers, receiver, deliver } = await asked(t, {}, { time });
  answers.options = 'hang';
  const hanging = deliver();
  await receiver.waitFor(1);
  await time.advance(10_000);
  const expected = { disposition: 'retry', scope: 'sink', retryWithinMs: 10_000 };
  const outcome = (error: unknown) => {
    assert.ok(error instanceof Error && 'retryWithinMs' in error);
    const { disposition, scope, retryWithinMs } = failed(error as never);
    return { disposition, scope, retryWithinMs };
  };
  const late = failed(await hanging);
  assert.equal(late.code, 'BRIDGE_SINK_TIMEOUT');
  assert.match(late.message, /the request for consent failed/);
  assert.deepEqual(outcome(late), expected);
  answers.options = 'reset';
  assert.deepEqual(outcome(await deliver()), expected);
  await receiver.stop();
  const away = failed(await deliver());
  assert.equal(away.code, 'BRIDGE_SINK_UNREACHABLE');
  assert.deepEqual(outcome(away), expected);
  assert.deepEqual(methods(receiver), ['OPTIONS', 'OPTIONS']);
  await receiver.start();
  answers.options = consent();
  assert.equal(await deliver(), 'accepted');
  assert.equal(adapter.preparation?.isNeeded, false);
});

test('an abort ends the handshake at once, with its own reason', async (t) => {
  const { answers, receiver, deliver } = await asked(t);
  answers.options = 'hang';
  const controller = new AbortController();
  const reason = new Error('the bridge is stopping');
  const ended = assert.rejects(deliver(controller.signal), (error) => error === reason);
  await receiver.waitFor(1);
  controller.abort(reason);
  await ended;
});

const RATES: readonly { allowed: string | null; requested?: number; perMinute: number | null; logs?: RegExp }[] = [
  { allowed: '60', requested: 120, perMinute: 60 },
  { allowed: '600', requested: 120, perMinute: 600 },
  { allowed: '*', requested: 120, perMinute: null },
  { allowed: '*', perMinute: null },
  { allowed: '60', perMinute: 60 },
  { allowed: ' 060 ', perMinute: 60 },
  { allowed: '99999999999999999999999', perMinute: Number.MAX_SAFE_INTEGER },
  { allowed: null, perMinute: null },
  { allowed: null, requested: 120, perMinute: 120, logs: /its answer has no valid rate/ },
  ...['0', '-5', '1.5', '1e3', '60/min', 'fast', '', '60, 60', '0x10'].map((allowed) => ({
    allowed,
    requested: 120,
    perMinute: 120,
    logs: /its answer has no valid rate/,
  })),
];

for (const { allowed, requested, perMinute, logs } of RATES) {
  test(`WebHook-Allowed-Rate ${allowed === null ? 'missing' : `"${allowed}"`}, ${requested ?? 'none'} requested: ${perMinute ?? 'no limit'} (W-7)`, async (t) => {
    const { adapter, answers, deliver, deps } = await asked(
      t,
      requested === undefined ? {} : { ratePerMinute: requested },
    );
    answers.options = consent(allowed === null ? {} : { 'WebHook-Allowed-Rate': allowed });
    assert.equal(adapter.limits.perMinute, null, 'before the question');
    assert.equal(await deliver(), 'accepted');
    assert.equal(adapter.limits.perMinute, perMinute);
    if (logs) assert.match(deps.logged(), logs);
    else assert.doesNotMatch(deps.logged(), /no valid rate/);
  });
}

test('consent and rate are kept across restarts, with the same origin (W-7)', async (t) => {
  const memory = adapterMemory();
  const first = await asked(t, { ratePerMinute: 120 }, { memory });
  first.answers.options = consent({ 'WebHook-Allowed-Rate': '7' });
  assert.equal(await first.deliver(), 'accepted');
  const second = await asked(t, { ratePerMinute: 120 }, { memory });
  assert.equal(second.adapter.limits.perMinute, 7);
  assert.equal(await second.deliver(), 'accepted');
  assert.deepEqual(methods(second.receiver), ['POST']);
  const other = await asked(t, { origin: 'other.example.com' }, { memory });
  assert.equal(other.adapter.preparation?.isNeeded, true);
});

for (const status of [301, 401, 403, 404, 410]) {
  test(`after a delivery answered ${status} the bridge asks for consent again, also after a restart`, async (t) => {
    const memory = adapterMemory();
    const { answers, receiver, deliver, adapter } = await asked(t, {}, { memory });
    assert.equal(await deliver(), 'accepted');
    assert.notEqual(memory.read(), null);
    answers.post = { status };
    assert.equal(failed(await deliver()).status, status);
    assert.equal(memory.read(), null);
    assert.equal(adapter.preparation?.isNeeded, true);
    answers.options = { status: 405 };
    answers.post = { status: 204 };
    assert.equal(failed(await deliver()).code, 'BRIDGE_WEBHOOK_NO_CONSENT');
    assert.equal(receiver.requests.at(-1)?.method, 'OPTIONS');
    const restarted = await asked(t, { url: receiver.url }, { memory });
    tell(receiver, answers);
    assert.equal(failed(await restarted.deliver()).code, 'BRIDGE_WEBHOOK_NO_CONSENT');
    answers.options = consent();
    assert.equal(await restarted.deliver(), 'accepted');
    assert.equal(await restarted.deliver(), 'accepted');
    assert.deepEqual(methods(receiver).slice(-3), ['OPTIONS', 'POST', 'POST']);
  });
}

for (const status of [400, 408, 413, 429, 500, 503]) {
  test(`a delivery answered ${status} does not affect the consent`, async (t) => {
    const { answers, receiver, deliver } = await asked(t);
    assert.equal(await deliver(), 'accepted');
    answers.post = { status };
    failed(await deliver());
    failed(await deliver());
    assert.deepEqual(methods(receiver), ['OPTIONS', 'POST', 'POST', 'POST']);
  });
}

test('without a handshake the bridge does not ask, ratePerMinute is the limit, and a configured origin is sent', async (t) => {
  const plain = await startWebhook(t);
  assert.equal(await plain.deliver(), 'accepted');
  assert.equal(plain.adapter.limits.perMinute, undefined);
  assert.deepEqual(methods(plain.receiver), ['POST']);
  assert.equal(plain.receiver.requests[0]?.headers['webhook-request-origin'], undefined);
  const limited = await startWebhook(t, { options: { handshake: false, ratePerMinute: 5, origin: ORIGIN } });
  assert.equal(await limited.deliver(), 'accepted');
  assert.equal(limited.adapter.limits.perMinute, 5);
  assert.deepEqual(methods(limited.receiver), ['POST']);
  assert.equal(limited.receiver.requests[0]?.headers['webhook-request-origin'], ORIGIN);
});

test('if the consent cannot be stored, the bridge asks again after a restart, and no delivery fails', async (t) => {
  const memory: AdapterMemory = {
    read: () => null,
    write: () => {
      throw new Error('disk full');
    },
  };
  const { deliver, deps, receiver } = await asked(t, {}, { memory });
  assert.equal(await deliver(), 'accepted');
  assert.equal(await deliver(), 'accepted');
  assert.match(deps.logged(), /could not be stored.*ask again after a restart/);
  assert.deepEqual(methods(receiver), ['OPTIONS', 'POST', 'POST']);
});

test('a check asks, reports the answer, stores nothing and sends no event', async (t) => {
  const memory = adapterMemory();
  const { adapter, answers, receiver } = await asked(t, { ratePerMinute: 120 }, { memory });
  answers.options = consent({ 'WebHook-Allowed-Rate': '60' });
  assert.equal(await adapter.check(never), `it consents to deliveries from ${ORIGIN}, at most 60 a minute`);
  answers.options = consent({ 'WebHook-Allowed-Rate': '*' });
  assert.equal(await adapter.check(never), `it consents to deliveries from ${ORIGIN}, at any rate`);
  answers.options = consent();
  assert.match((await adapter.check(never)) ?? '', /at most 120 a minute, as requested: its answer has no valid rate$/);
  answers.options = { status: 200 };
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_WEBHOOK_NO_CONSENT' });
  assert.equal(memory.read(), null);
  assert.equal(adapter.preparation?.isNeeded, true);
  assert.deepEqual(new Set(methods(receiver)), new Set(['OPTIONS']));
  const plain = await startWebhook(t);
  assert.equal(await plain.adapter.check(never), null);
  assert.deepEqual(plain.receiver.requests, []);
});

test('a closed sink does not ask', async (t) => {
  const { adapter, receiver } = await asked(t);
  await adapter[Symbol.asyncDispose]();
  const [outcome] = await adapter.deliver([sampleDelivery()], never);
  assert.equal(failed(outcome).code, 'BRIDGE_ADAPTER_CLOSED');
  await assert.rejects(async () => adapter.preparation?.run(never), { code: 'BRIDGE_ADAPTER_CLOSED' });
  assert.deepEqual(receiver.requests, []);
});
