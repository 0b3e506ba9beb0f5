// A test server → the unmodified SDK's client for it, which is closed before the server goes.
import { ServiceBusClient, type ServiceBusClientOptions } from '@azure/service-bus';
import type { ServiceBusServer } from './service-bus-server.ts';

/** One try a call, and a short time for it, unless the options say otherwise. */
export function sdkClient(
  server: ServiceBusServer,
  options: ServiceBusClientOptions = {},
  connectionString = server.connectionString,
): ServiceBusClient {
  const retryOptions = {
    maxRetries: 0,
    timeoutInMs: 2000,
    retryDelayInMs: 20,
    maxRetryDelayInMs: 20,
    ...options.retryOptions,
  };
  const client = new ServiceBusClient(connectionString, { ...options, retryOptions });
  server.closeFirst(() => client.close());
  return client;
}
