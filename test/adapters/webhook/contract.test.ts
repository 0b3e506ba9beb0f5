// The adapter contract, clause by clause, for webhook: the far side is an HTTP server on loopback.
import type { TestContext } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { webhook } from '../../../adapters/webhook/webhook.ts';
import { type ReceivedRequest, WebhookReceiver } from '../../support/webhook-receiver.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';

testAdapter({ definition: webhook, start: startReceiver, awayIs: 'retry' });

async function startReceiver(t: TestContext): Promise<FarSide> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const queryToken = 'query-token-nobody-may-see';
  return {
    options: {
      type: 'webhook',
      url: { env: 'HOOK_URL' },
      headers: { Authorization: { env: 'HOOK_TOKEN' } },
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
    },
    secrets: {
      HOOK_URL: `${receiver.url}?token=${queryToken}`,
      HOOK_TOKEN: 'Bearer token-nobody-may-see',
      query: queryToken,
      path: '/hook',
    },
    arrivals: () => receiver.requests.map(arrival),
    contacts: () => receiver.connections,
    hang: () => {
      receiver.default = 'hang';
    },
    isStuck: () => receiver.requests.length > 0,
    stuckBytes: 0,
    accept: () => {
      receiver.default = { status: 204 };
    },
    refuse: () => {
      receiver.default = { status: 422, body: 'no' };
    },
    overload: () => {
      receiver.default = { status: 503, headers: { 'retry-after': '7' } };
    },
    leave: () => receiver.stop(),
    comeBack: () => receiver.start(),
  };
}

function arrival({ headers, body }: ReceivedRequest): Arrival {
  return { bytes: body, event: HTTP.toEvent({ headers, body: body.toString() }) as CloudEvent<unknown> };
}
