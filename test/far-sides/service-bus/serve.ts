// Entities as JSON → a Service Bus namespace as a process; prints its connection string.
import { ServiceBusServer } from './service-bus-server.ts';

type Options<Made extends 'queue' | 'topic'> = NonNullable<Parameters<ServiceBusServer[Made]>[1]>;

interface Entities {
  readonly queues?: Readonly<Record<string, Options<'queue'>>>;
  /** Each with a subscription `all`. */
  readonly topics?: Readonly<Record<string, Options<'topic'>>>;
}

const { queues = {}, topics = {} } = JSON.parse(process.argv[2] ?? '{}') as Entities;
const server = new ServiceBusServer();
for (const [name, options] of Object.entries(queues)) server.queue(name, options);
for (const [name, options] of Object.entries(topics)) server.topic(name, options).subscription('all');
await server.comeBack();
process.stdout.write(`${server.connectionString}\n`);
process.on('SIGTERM', () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
