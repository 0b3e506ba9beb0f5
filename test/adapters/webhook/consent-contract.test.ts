// The adapter contract → a webhook that has to be asked first and that names a rate.
import type { TestContext } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { type Answer, type ReceivedRequest, WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';
import { receiverSwitches } from '../receiver-switches.ts';

testAdapter({ definition: webhookSink, variant: 'with a handshake', start: startReceiver, awayIs: 'retry' });

const CONSENT = { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '100000' };

async function startReceiver(t: TestContext): Promise<FarSide> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const deliveries = () => receiver.requests.filter(({ method }) => method === 'POST');
  const answer = (to: Extract<Answer, { readonly status: number }> | 'hang') => {
    receiver.default = (response, _socket, { method }) => {
      if (method === 'OPTIONS') response.writeHead(200, CONSENT).end();
      else if (to !== 'hang') response.writeHead(to.status, to.headers).end(to.body);
    };
  };
  answer({ status: 204 });
  return {
    options: {
      type: 'webhook',
      url: { env: 'HOOK_URL' },
      headers: { Authorization: { env: 'HOOK_TOKEN' } },
      handshake: true,
      origin: 'bridge.example.com',
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
    },
    secrets: {
      HOOK_URL: `${receiver.url}?token=query-token-nobody-may-see`,
      HOOK_TOKEN: 'Bearer token-nobody-may-see',
      path: '/hook',
    },
    arrivals: () => deliveries().map(arrival),
    ...receiverSwitches(receiver, answer),
    isStuck: () => deliveries().length > 0,
  };
}

function arrival({ headers, body }: ReceivedRequest): Arrival {
  return { bytes: body, event: HTTP.toEvent({ headers, body: body.toString() }) as CloudEvent<unknown> };
}
