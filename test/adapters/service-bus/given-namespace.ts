// SERVICEBUS_CONNECTION_STRING and entities' names → far sides elsewhere, read by the bare SDK.
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceBusClient, type ServiceBusReceiver } from '@azure/service-bus';
import type { Arrival, Clause, FarSide } from '../contract.ts';
import { arrivalOf } from './arrived.ts';

/** One variant of the adapter contract. */
export interface GivenEntity {
  readonly variant: string;
  readonly start: (t: TestContext) => Promise<FarSide>;
  readonly isStructured: boolean;
  readonly close: () => Promise<void>;
}

const NO_FAULTS = 'nobody here can order faults of a namespace that is not ours';
const NO_CONTACTS = 'nobody here can count the connections of a namespace that is not ours';

/** What needs a far side under the test's control. */
export const NOT_THERE: Partial<Record<Clause, string>> = {
  'a key that gets no answer does not hold up another': NO_FAULTS,
  'a refusal becomes a dead letter at once': NO_FAULTS,
  'an overload is retried after the pause that the far side asks for': NO_FAULTS,
  'an unreachable far side is a failure of the whole sink': NO_FAULTS,
  'it recovers by itself when the far side is back on the same address': NO_FAULTS,
  'an abort ends a delivery at once, with its own reason': NO_FAULTS,
  'no secret and no payload leaks into errors, logs or options': NO_FAULTS,
  'created and closed unused, it opens nothing': NO_CONTACTS,
};

/** Nothing came for so long: nothing is on its way any more. */
const QUIET_MS = 300;
const OPTIONS = { receiveMode: 'receiveAndDelete', skipParsingBodyAsJson: true } as const;

type Receive = (client: ServiceBusClient) => ServiceBusReceiver;

/** None where the environment names no namespace. What its entities hold is taken out and thrown away. */
export function givenEntities(env: Readonly<Record<string, string | undefined>>): readonly GivenEntity[] {
  const { SERVICEBUS_CONNECTION_STRING: connection, SERVICEBUS_QUEUE, SERVICEBUS_TOPIC } = env;
  if (!connection) return [];
  const subscription = env['SERVICEBUS_SUBSCRIPTION'] ?? 'all';
  const entities: GivenEntity[] = [];
  const add = (variant: string, options: Readonly<Record<string, unknown>>, receive: Receive) => {
    const reader = new Reader(connection, receive);
    const start = (t: TestContext) => startGiven(t, connection, options, reader);
    entities.push({ variant, isStructured: options['mode'] === 'structured', start, close: () => reader.close() });
  };
  if (SERVICEBUS_QUEUE) {
    const receive: Receive = (client) => client.createReceiver(SERVICEBUS_QUEUE, OPTIONS);
    add('SERVICEBUS_QUEUE', { queue: SERVICEBUS_QUEUE }, receive);
    add('SERVICEBUS_QUEUE, structured mode', { queue: SERVICEBUS_QUEUE, mode: 'structured' }, receive);
  }
  if (SERVICEBUS_TOPIC)
    add('SERVICEBUS_TOPIC', { topic: SERVICEBUS_TOPIC }, (client) =>
      client.createReceiver(SERVICEBUS_TOPIC, subscription, OPTIONS),
    );
  return entities;
}

async function startGiven(
  t: TestContext,
  connection: string,
  options: Readonly<Record<string, unknown>>,
  reader: Reader,
): Promise<FarSide> {
  const arrivals = await reader.read();
  t.after(() => reader.rest());
  const cannot = () => {
    throw new Error(NO_FAULTS);
  };
  return {
    options: { type: 'service-bus', connectionString: { env: 'BUS' }, ...options },
    secrets: { BUS: connection },
    arrivals: () => arrivals,
    contacts: cannot,
    hang: cannot,
    isStuck: cannot,
    stuckBytes: 0,
    accept: cannot,
    leave: cannot,
  };
}

/** Takes out of one entity whatever comes, while a test wants it. */
class Reader {
  readonly #connection: string;
  readonly #receive: Receive;
  #client: ServiceBusClient | null = null;
  #receiver: ServiceBusReceiver | null = null;

  constructor(connection: string, receive: Receive) {
    this.#connection = connection;
    this.#receive = receive;
  }

  /** What comes from now on, once what earlier tests left has been thrown away. */
  async read(): Promise<readonly Arrival[]> {
    this.#client ??= new ServiceBusClient(this.#connection);
    this.#receiver = this.#receive(this.#client);
    const arrivals: Arrival[] = [];
    const failures: Error[] = [];
    let cameMs = performance.now();
    this.#receiver.subscribe({
      processMessage: async ({ contentType = '', applicationProperties = {}, body }) => {
        cameMs = performance.now();
        arrivals.push(arrivalOf(contentType, applicationProperties, body as Buffer));
      },
      processError: async ({ error }) => void failures.push(error),
    });
    // Answered over the same connection as the messages.
    await this.#receiver.peekMessages(1);
    cameMs = Math.max(cameMs, performance.now());
    while (performance.now() < cameMs + QUIET_MS) await pause(QUIET_MS / 10);
    if (failures.length > 0) throw new AggregateError(failures, 'the entity cannot be read');
    arrivals.length = 0;
    return arrivals;
  }

  async rest(): Promise<void> {
    await this.#receiver?.close();
    this.#receiver = null;
  }

  async close(): Promise<void> {
    await this.rest();
    await this.#client?.close();
  }
}
