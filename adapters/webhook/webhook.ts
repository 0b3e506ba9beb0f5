// The kind `webhook`: options → an adapter that posts CloudEvents to a URL.
import type { AdapterDefinition } from '../adapter.ts';
import { addressFaults } from '../http/address-faults.ts';
import { templateFaults } from './template/template-faults.ts';
import { WebhookAdapter } from './webhook-adapter.ts';
import { webhookChannel } from './webhook-channel.ts';
import { secretFaults, type WebhookOptions, webhookOptions } from './webhook-options.ts';

/** Posts CloudEvents, one or a batch in each request, or a template's body (CloudEvents webhook specification 1.0.2, section 2). */
export const webhook: AdapterDefinition<WebhookOptions> = {
  type: 'webhook',
  options: webhookOptions,
  secretFaults: (options) => [...secretFaults(options), ...addressFaults(options)],
  contentFaults: templateFaults,
  channel: webhookChannel,
  create: (options, deps) => new WebhookAdapter(options, deps),
};
