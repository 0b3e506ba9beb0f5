// The adapter contract → webhook in each mode; the far side is an HTTP server on loopback.

import type { TestContext } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { type ReceivedRequest, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';
import { receiverSwitches } from '../receiver-switches.ts';

testAdapter({ definition: webhookSink, start: receiverOf({}, whole), awayIs: 'retry' });
testAdapter({
  definition: webhookSink,
  variant: 'binary mode',
  start: receiverOf({ mode: 'binary' }, whole),
  onTheWire: dataOf,
  awayIs: 'retry',
});
testAdapter({
  definition: webhookSink,
  variant: 'batch mode',
  start: receiverOf({ mode: 'batch' }, members),
  awayIs: 'retry',
});

type Read = (request: ReceivedRequest) => readonly Arrival[];

function receiverOf(options: Readonly<Record<string, unknown>>, read: Read): (t: TestContext) => Promise<FarSide> {
  return (t) => startReceiver(t, options, read);
}

async function startReceiver(t: TestContext, options: Readonly<Record<string, unknown>>, read: Read): Promise<FarSide> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const queryToken = 'query-token-nobody-may-see';
  return {
    options: {
      type: 'webhook',
      url: { env: 'HOOK_URL' },
      headers: { Authorization: { env: 'HOOK_TOKEN' } },
      secrets: [{ env: 'HOOK_SECRET' }, { env: 'HOOK_KEY' }],
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
      ...options,
    },
    secrets: {
      HOOK_URL: `${receiver.url}?token=${queryToken}`,
      HOOK_TOKEN: 'Bearer token-nobody-may-see',
      HOOK_SECRET: `whsec_${Buffer.from('secret-nobody-may-see-at-all').toString('base64')}`,
      HOOK_KEY: `whsk_${Buffer.from('key-that-nobody-at-all-may-see!!').toString('base64')}`,
      query: queryToken,
      path: '/hook',
    },
    arrivals: () => receiver.requests.flatMap(read),
    ...receiverSwitches(receiver),
  };
}

function whole({ headers, body }: ReceivedRequest): readonly Arrival[] {
  return [{ bytes: body, event: HTTP.toEvent({ headers, body: body.toString() }) as CloudEvent<unknown> }];
}

function members({ headers, body }: ReceivedRequest): readonly Arrival[] {
  const texts = (JSON.parse(body.toString()) as unknown[]).map((member) => JSON.stringify(member));
  const events = HTTP.toEvent({ headers, body: body.toString() }) as CloudEvent<unknown>[];
  return events.map((event, index) => ({ bytes: Buffer.from(texts[index] ?? ''), event }));
}

/** The body of binary mode. */
function dataOf({ bytes }: Delivery): Uint8Array {
  return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(bytes).toString()).data));
}
