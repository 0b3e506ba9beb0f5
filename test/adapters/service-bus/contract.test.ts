// The adapter contract → service-bus in each mode, to queues, topics and sessions on loopback.

// The far side is an AMQP server, and besides it what SERVICEBUS_CONNECTION_STRING names (docs/operate/service-bus.md).
import { after, type TestContext } from 'node:test';
import { serviceBusSink } from '../../../adapters/service-bus/service-bus.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { KeptMessage } from '../../far-sides/service-bus/kept-message.ts';
import { type ServiceBusServer, serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { type FarSide, testAdapter } from '../contract.ts';
import { arrived } from './arrived.ts';
import { givenEntities, NOT_THERE } from './given-namespace.ts';

const QUEUE = 'maintenance';
const TOPIC = 'events';
const KEY = 'a2V5IHRoYXQgbm9ib2R5IG1heSBzZWUgYXQgYWxsISE=';
const BUSY = {
  condition: 'com.microsoft:server-busy',
  description:
    'The request was terminated because the entity is being throttled. Error code: 50009. Please wait 7 seconds and try again.',
};

interface Variant {
  readonly options: Readonly<Record<string, unknown>>;
  /** Makes the entity, and reads what it holds. */
  readonly kept: (server: ServiceBusServer) => () => readonly KeptMessage[];
}

const toQueue: Variant = { options: { queue: QUEUE }, kept: queueOf({}) };

testAdapter({ definition: serviceBusSink, start: namespaceOf(toQueue), onTheWire: dataOf, awayIs: 'retry' });
testAdapter({
  definition: serviceBusSink,
  variant: 'structured mode',
  start: namespaceOf({ ...toQueue, options: { queue: QUEUE, mode: 'structured' } }),
  awayIs: 'retry',
});
testAdapter({
  definition: serviceBusSink,
  variant: 'a topic, names with a colon',
  start: namespaceOf({
    options: { topic: TOPIC, attributePrefix: 'colon' },
    kept: (server) => {
      const subscription = server.topic(TOPIC).subscription('all');
      return () => subscription.messages();
    },
  }),
  onTheWire: dataOf,
  awayIs: 'retry',
});
testAdapter({
  definition: serviceBusSink,
  variant: 'sessions',
  start: namespaceOf({ options: { queue: QUEUE, sessions: true }, kept: queueOf({ sessions: true }) }),
  onTheWire: dataOf,
  awayIs: 'retry',
});

for (const { variant, start, isStructured, close } of givenEntities(process.env)) {
  after(close);
  const onTheWire = isStructured ? {} : { onTheWire: dataOf };
  testAdapter({ definition: serviceBusSink, variant, start, ...onTheWire, awayIs: 'retry', skip: NOT_THERE });
}

function queueOf(options: Parameters<ServiceBusServer['queue']>[1]): Variant['kept'] {
  return (server) => {
    const queue = server.queue(QUEUE, options);
    return () => queue.messages();
  };
}

function namespaceOf({ options, kept }: Variant): (t: TestContext) => Promise<FarSide> {
  return async (t) => {
    const server = await serviceBusServer(t);
    const messages = kept(server);
    server.key('sender', { key: KEY, claims: ['Send'] });
    return {
      options: { type: 'service-bus', connectionString: { env: 'BUS' }, ...options },
      secrets: { BUS: server.connectionStringFor('sender'), key: KEY },
      arrivals: () => messages().map(arrived),
      contacts: () => server.contacts().length,
      hang: () => server.faults.onSend({ do: 'ignore' }, { times: Number.POSITIVE_INFINITY }),
      isStuck: () => server.contacts('send').length > 0,
      stuckBytes: 0,
      accept: () => server.faults.clear(),
      refuse: () => server.faults.rejectSends('tooLarge', { times: Number.POSITIVE_INFINITY }),
      overload: () => {
        server.faults.clear();
        server.faults.rejectSends(BUSY, { times: Number.POSITIVE_INFINITY });
      },
      leave: () => server.leave(),
      comeBack: () => server.comeBack(),
    };
  };
}

/** The body of binary mode. */
function dataOf({ bytes }: Delivery): Uint8Array {
  return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(bytes).toString()).data));
}
