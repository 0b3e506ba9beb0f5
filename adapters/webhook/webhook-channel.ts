// The options of a webhook → its scheme and host, and the form of its requests, for AsyncAPI.
import { HEADER_PREFIX } from '../../src/cloudevents/binary.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { SinkChannel } from '../channel.ts';
import { urlOf } from '../http/http-options.ts';
import { encoder, REQUEST_CONTENT_TYPES } from './encoder.ts';
import type { WebhookOptions } from './webhook-options.ts';

const ID = 'Identifies the request, the same at every attempt. The id of the CloudEvent, except for a batch.';
const SIGNATURE_HEADERS = {
  'webhook-timestamp': 'When the request was signed: seconds since 1970 (Standard Webhooks).',
  'webhook-signature': 'One signature for each secret, separated by spaces (Standard Webhooks).',
};

/**
 * Returns the channel of a webhook. Its path and query may be secrets.
 * @param options with open secrets, without faults
 */
export function webhookChannel(options: WebhookOptions): SinkChannel {
  const { mode, body, secrets, origin } = options;
  const { protocol, host } = new URL(reveal(urlOf(options).value));
  return {
    protocol: protocol.slice(0, -1),
    hosts: [host],
    address: null,
    description: 'POST requests of a webhook. Its path and query are not shown, because they may be secrets.',
    form: `${origin === undefined ? '' : 'Origin'}${secrets === undefined ? '' : 'Signed'}Webhook`,
    mode: body === undefined ? mode : 'template',
    contentType: body?.contentType ?? REQUEST_CONTENT_TYPES[mode],
    hasTypeHeader: true,
    prefix: HEADER_PREFIX,
    otherHeaders: {
      'webhook-id': ID,
      ...(secrets !== undefined && SIGNATURE_HEADERS),
      ...(origin !== undefined && { 'webhook-request-origin': 'The DNS name of the sending system.' }),
    },
    operationBindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    encode: (delivery) => {
      const { id, headers, body: bytes } = encoder(options, '')([delivery]);
      return { headers: { ...headers, 'webhook-id': id }, body: bytes };
    },
  };
}
