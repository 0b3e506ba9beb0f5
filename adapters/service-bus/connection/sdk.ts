// The Service Bus SDK → its classes. Import it lazily, at the first use.
export { ServiceBusClient } from '@azure/service-bus';
