// The kind `service-bus`: options → an adapter that sends messages, or a source of approvals.
import type { AdapterDefinition } from '../adapter.ts';
import { type ServiceBusOptions, secretFaults, serviceBusOptions } from './options/service-bus-options.ts';
import { serviceBusChannel } from './service-bus-channel.ts';
import { ServiceBusAdapter } from './sink/service-bus-adapter.ts';
import { serviceBusSource } from './source/service-bus-source.ts';

/** Sends CloudEvents as AMQP messages, each accepted once the service has settled it. */
export const serviceBus: AdapterDefinition<ServiceBusOptions> = {
  type: 'service-bus',
  options: serviceBusOptions,
  secretFaults,
  create: (options, deps) => new ServiceBusAdapter(options, deps),
  channel: serviceBusChannel,
  source: serviceBusSource,
};
