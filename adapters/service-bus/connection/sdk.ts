// The Service Bus SDK, loaded by whoever imports this file: always lazily, at the first use.
export { ServiceBusClient } from '@azure/service-bus';
