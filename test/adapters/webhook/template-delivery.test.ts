// A webhook sink with `body` → template bodies: the same bytes at each attempt, signed.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const never = new AbortController().signal;
const SIGNING = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Fixture {
  readonly adapter: ManagedAdapter;
  readonly receiver: WebhookReceiver;
}

/** `template` is a shipped one's name or the text of a file; `values` are secrets by name. */
async function fixture(
  t: TestContext,
  template: string,
  body: { contentType?: string; values?: Readonly<Record<string, string>> } = {},
): Promise<Fixture> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const { values = {}, ...more } = body;
  const isShipped = /^[a-z]+$/.test(template);
  const options = v.parse(webhookSink.options, {
    ...{ url: receiver.url, allowInsecure: true, allowPrivate: ['127.0.0.0/8'], secrets: [{ env: 'SIGNING' }] },
    body: {
      template: isShipped ? template : './own.liquid',
      values: Object.fromEntries(Object.keys(values).map((name) => [name, { env: name }])),
      ...more,
    },
  });
  options.secrets?.[0]?.open(SIGNING);
  for (const [name, value] of Object.entries(options.body?.values ?? {}))
    if (value instanceof Secret) value.open(values[name] ?? '');
  if (options.body && 'file' in options.body.template) options.body.template.file.open(template);
  const adapter = manageAdapter(webhookSink.create(options, adapterDeps()), 'under-test');
  t.after(() => adapter[Symbol.asyncDispose]());
  return { adapter, receiver };
}

async function deliver(adapter: ManagedAdapter, delivery: Delivery = sampleDelivery()) {
  return (await adapter.deliver([delivery], never))[0];
}

test('the body is the output of the template, with the media type, the id and a signature over its bytes', async (t) => {
  const { adapter, receiver } = await fixture(
    t,
    '{"text":"{{ change }}: {{ data.description }}","key":"{{ values.key }}"}',
    {
      values: { key: 'a "secret"' },
    },
  );
  assert.equal(await deliver(adapter), 'accepted');
  const [request] = receiver.requests;
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.equal(request?.headers['webhook-id'], sampleDelivery().id);
  assert.equal(request?.headers['ce-id'], undefined);
  const text = request?.body.toString() ?? '';
  assert.deepEqual(JSON.parse(text), { text: 'updated: Wartung für „WestNO“ ', key: 'a "secret"' });
  assert.equal(Number(request?.headers['content-length']), Buffer.byteLength(text));
  new Webhook(SIGNING).verify(text, request?.headers as Record<string, string>);
});

test('every attempt sends the same bytes', async (t) => {
  const { adapter, receiver } = await fixture(t, 'slack');
  receiver.next({ status: 503 }, 'reset');
  for (let attempt = 0; attempt < 3; attempt++) await deliver(adapter);
  const [first, ...others] = receiver.requests.map(({ body }) => body.toString());
  assert.deepEqual(others, [first, first]);
});

test('another media type is sent unchanged, and its text may be anything', async (t) => {
  const { adapter, receiver } = await fixture(t, 'New: {{ data.description }}', {
    contentType: 'text/plain; charset=utf-8',
  });
  assert.equal(await deliver(adapter), 'accepted');
  assert.equal(receiver.requests[0]?.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(receiver.requests[0]?.body.toString(), 'New: Wartung für „WestNO“ ');
});

test('only an event that the template fails for is refused and never sent; the next one is delivered', async (t) => {
  const { adapter, receiver } = await fixture(t, '{"text":"{{ data.description | raw }}"}');
  const failure = failed(await deliver(adapter, sampleDelivery({ mark: 'a "payload" nobody may log' })));
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope],
    ['BRIDGE_WEBHOOK_TEMPLATE', 'refused', 'delivery'],
  );
  assert.match(
    failure.message,
    /^sink under-test: the template fails for an event of type updated: its output is not valid JSON.*dead-letters retry$/,
  );
  assert.doesNotMatch(inspect(failure, { depth: 9 }), /nobody/);
  assert.equal(receiver.connections, 0);
  assert.equal(await deliver(adapter), 'accepted');
});

test('an unusable template is a wrong configuration of the sink, and loses no event', async (t) => {
  const { adapter, receiver } = await fixture(t, '{{ id | nope }}');
  const failure = failed(await deliver(adapter));
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope],
    ['BRIDGE_WEBHOOK_TEMPLATE', 'misconfigured', 'sink'],
  );
  assert.match(failure.message, /^sink under-test: the template is not valid Liquid: the filter nope does not exist/);
  assert.equal(receiver.connections, 0);
});

/** What each of the three answers when it has taken a message, or not. */
const ANSWERS: readonly (readonly [template: string, status: number, body: string, outcome: string])[] = [
  ['slack', 200, 'ok', 'accepted'],
  ['slack', 400, 'invalid_blocks', 'refused'],
  ['slack', 404, 'no_service', 'misconfigured'],
  ['slack', 410, 'channel_is_archived', 'retired'],
  ['slack', 429, '', 'retry'],
  ['teams', 202, '', 'accepted'],
  ['teams', 429, '', 'retry'],
  ['pagerduty', 202, '{"status":"success","message":"Event processed","dedup_key":"x"}', 'accepted'],
  ['pagerduty', 400, '{"status":"invalid event"}', 'refused'],
];

for (const [template, status, body, expected] of ANSWERS) {
  test(`the answer ${status} ${body.slice(0, 20)} of ${template} is ${expected}`, async (t) => {
    const { adapter, receiver } = await fixture(t, template, { values: { routingKey: 'x'.repeat(32) } });
    receiver.default = { status, body };
    const outcome = await deliver(adapter);
    assert.equal(outcome === 'accepted' ? outcome : failed(outcome).disposition, expected);
    assert.equal(receiver.requests[0]?.headers['content-type'], 'application/json');
    JSON.parse(receiver.requests[0]?.body.toString() ?? '');
  });
}

test('secret values appear neither in errors nor in the adapter', async (t) => {
  const { adapter, receiver } = await fixture(t, '{"a":"{{ values.key | raw }}"}', { values: { key: 'a-secret-"' } });
  receiver.default = { status: 400 };
  const shown = inspect([adapter, await deliver(adapter)], { depth: 20, showHidden: true });
  assert.doesNotMatch(shown, /a-secret/);
});
