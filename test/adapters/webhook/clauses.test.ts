// Clauses of docs/operate/webhooks.md that no other test shows → on the wire, in the configuration.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { encodeStructured, toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { Change } from '../../../src/model/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../../unit/cloudevents/changes.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startWebhook } from './start-webhook.ts';

const never = new AbortController().signal;

test('http:// is accepted only with allowInsecure (W-1, S-11)', () => {
  for (const url of ['http://example.com/', 'HTTP://example.com/']) {
    assert.equal(v.safeParse(webhookSink.options, { url }).success, false, url);
    assert.equal(v.safeParse(webhookSink.options, { url, allowInsecure: true }).success, true, url);
  }
});

test('a batch is sent only with mode: batch (H-12)', async (t) => {
  const { adapter, receiver, deliver } = await startWebhook(t);
  assert.equal(adapter.limits.batch, 1);
  await deliver();
  assert.equal(receiver.requests[0]?.headers['content-type'], 'application/cloudevents+json; charset=utf-8');
});

const CHANGES: readonly (readonly [what: string, change: Change])[] = [
  ['an event', eventChange()],
  ['an update', eventChange({ phase: 'updated', changedFields: ['notBefore'] })],
  ['an approval', approvalChange()],
  ['a blindness', sightChange()],
];

for (const [what, change] of CHANGES) {
  test(`the body of ${what} has attributes at the top level, integers, no unset attributes, and data as JSON (JS-1, JS-2, JS-3, JS-4, JS-5, JS-6)`, async (t) => {
    const { adapter, receiver } = await startWebhook(t);
    const bytes = encodeStructured(toCloudEvent(change, context));
    assert.deepEqual(await adapter.deliver([{ ...sampleDelivery(), bytes }], never), ['accepted']);
    const { data, ...attributes } = JSON.parse(receiver.requests[0]?.body.toString() ?? '') as Record<string, unknown>;
    assert.equal(attributes['datacontenttype'], 'application/json');
    assert.ok(typeof data === 'object' && data !== null);
    for (const [name, value] of Object.entries(attributes)) {
      assert.match(name, /^[a-z0-9]+$/);
      assert.notEqual(name, 'extensions');
      if (name === 'severitynumber') assert.ok(Number.isInteger(value));
      else assert.ok(typeof value === 'string' && value !== '', name);
    }
    assert.match(receiver.requests[0]?.body.toString() ?? '', /"severitynumber":\d+,/);
  });
}

test('an authentication challenge is not answered (W-3)', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  receiver.next({ status: 401, headers: { 'www-authenticate': 'Basic realm="hooks", Bearer' } });
  await deliver();
  assert.deepEqual([receiver.requests.length, receiver.requests[0]?.headers.authorization], [1, undefined]);
});

test('only a request with a token in the query has Cache-Control: no-store (W-3)', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  const { deliver: deliverWithToken } = await startWebhook(t, { options: { url: `${receiver.url}?access_token=x` } });
  await deliver();
  await deliverWithToken();
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['cache-control']),
    [undefined, 'no-store'],
  );
});

test('a handshake offers no callback (W-10)', async (t) => {
  const { receiver, deliver } = await startWebhook(t, { options: { handshake: true, origin: 'bridge.example.com' } });
  receiver.next({ status: 200, headers: { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '*' } });
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(
    receiver.requests.map(({ method, headers }) => [method, headers['webhook-request-callback']]),
    [
      ['OPTIONS', undefined],
      ['POST', undefined],
    ],
  );
});

test('an unusual 2xx is a delivery, and logged at debug (W-12)', async (t) => {
  const { receiver, deliver, deps } = await startWebhook(t);
  for (const status of [200, 201, 202, 204, 203, 226]) {
    receiver.next({ status });
    assert.equal(await deliver(), 'accepted');
  }
  const told = deps.logged().split('\n').slice(0, -1);
  assert.deepEqual(
    told.map((line) => JSON.parse(line)).map(({ level, status }) => [level, status]),
    [
      [20, 203],
      [20, 226],
    ],
  );
});

test('the body of an answer is neither trusted nor logged (W-14)', async (t) => {
  const { receiver, deliver, deps } = await startWebhook(t);
  const outcomes: unknown[] = [];
  for (const status of [200, 202, 400, 404, 500]) {
    receiver.next({
      status,
      headers: { 'content-type': 'application/json' },
      body: '{"status":"failed","detail":"words-of-a-stranger"}',
    });
    outcomes.push(await deliver());
  }
  assert.deepEqual(outcomes.slice(0, 2), ['accepted', 'accepted']);
  assert.doesNotMatch(
    `${deps.logged()}${outcomes.map((outcome) => (outcome instanceof Error ? outcome.stack : outcome))}`,
    /stranger/,
  );
});

test('each sink signs only with its own secrets (S-11)', async (t) => {
  const secrets = ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', 'ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA='].map(
    (key) => `whsec_${key}`,
  );
  const requests = await Promise.all(
    secrets.map(async (secret) => {
      const { receiver, deliver } = await startWebhook(t, {
        options: { secrets: [{ env: 'SECRET' }] },
        secrets: { SECRET: secret },
      });
      assert.equal(await deliver(), 'accepted');
      return receiver.requests[0] ?? assert.fail();
    }),
  );
  const accepts = secrets.map((secret) =>
    requests.map(({ body, headers }) => {
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    }),
  );
  assert.deepEqual(accepts, [
    [true, false],
    [false, true],
  ]);
});
