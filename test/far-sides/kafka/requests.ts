// A test's questions in Kafka's protocol, by no client library → the broker's answer or error code.
import { once } from 'node:events';
import { connect } from 'node:net';
import { poll } from '../../support/poll.ts';
import { API, array, boolean, FrameSplitter, frame, int8, int16, int32, int64, string, WireReader } from './wire.ts';

export interface TopicPartition {
  readonly partition: number;
  /** The node's id; -1 while there is none. */
  readonly leader: number;
  readonly inSync: readonly number[];
}

export interface ClusterMetadata {
  readonly brokers: readonly { readonly nodeId: number; readonly address: string }[];
  readonly controllerId: number;
  /** Of the topics that were asked for and are there. */
  readonly topics: ReadonlyMap<string, readonly TopicPartition[]>;
}

/** What is known of a cluster and these topics, none of which it makes. @param address `host:port` */
export async function readMetadata(
  address: string,
  topics: readonly string[] = [],
  signal?: AbortSignal,
): Promise<ClusterMetadata> {
  const reader = await ask(address, API.metadata, 4, [array(topics.map(string)), boolean(false)], signal);
  reader.int32(); // throttled for
  const brokers = reader.array(() => {
    const [nodeId, host, port] = [reader.int32(), reader.string(), reader.int32()];
    reader.string(); // rack
    return { nodeId, address: `${host}:${port}` };
  });
  reader.string(); // cluster
  const controllerId = reader.int32();
  const found = reader.array(() => {
    const [error, name] = [reader.int16(), reader.string()];
    reader.boolean(); // internal
    const partitions = reader.array(() => {
      reader.int16(); // error
      const [partition, leader] = [reader.int32(), reader.int32()];
      reader.array(() => reader.int32()); // replicas
      return { partition, leader, inSync: reader.array(() => reader.int32()) };
    });
    return { error, name, partitions: partitions.sort((a, b) => a.partition - b.partition) };
  });
  return {
    brokers,
    controllerId,
    topics: new Map(found.filter(({ error }) => error === 0).map(({ name, partitions }) => [name, partitions])),
  };
}

export interface TopicOptions {
  /** 1 by default. */
  readonly partitions?: number;
  /** 1 by default. */
  readonly replicationFactor?: number;
  /** Such as `{ 'max.message.bytes': '1000' }`. */
  readonly config?: Readonly<Record<string, string>>;
}

/** Resolves once the broker tells clients of it, and takes records for it. @throws where the topic is there already */
export async function createTopic(address: string, name: string, options: TopicOptions = {}): Promise<void> {
  const { partitions = 1, replicationFactor = 1, config = {} } = options;
  const configs = Object.entries(config).map(([key, value]) => Buffer.concat([string(key), string(value)]));
  const topic = Buffer.concat([string(name), int32(partitions), int16(replicationFactor), array([]), array(configs)]);
  const reader = await ask(address, API.createTopics, 2, [array([topic]), int32(10_000), boolean(false)]);
  reader.int32(); // throttled for
  reader.array(() => {
    reader.string(); // name
    const [error, message] = [reader.int16(), reader.string()];
    if (error !== 0) throw new Error(`the topic ${name} was not made: Kafka's error ${error} ${message}`);
  });
  await knowsTopic(address, name);
  await hasLeaders(address, name);
}

/** Resolves once a broker tells clients of the topic, which may be later than another broker does. */
export async function knowsTopic(address: string, name: string): Promise<void> {
  await poll(async () => {
    const partitions = (await readMetadata(address, [name])).topics.get(name) ?? [];
    return partitions.length > 0 && partitions.every(({ leader }) => leader >= 0);
  }, `${address} to know of the topic ${name}`);
}

/**
 * Resolves once every leader of the topic's partitions knows that it is one, which may be later than clients hear of
 * it.
 */
async function hasLeaders(address: string, name: string): Promise<void> {
  const latest = -1n;
  await poll(async () => {
    const { brokers, topics } = await readMetadata(address, [name]);
    const partitions = topics.get(name) ?? [];
    for (const { nodeId, address: told } of brokers) {
      // A broker that stands alone may tell clients an address that leads nowhere.
      const leader = brokers.length === 1 ? address : told;
      const led = partitions.filter((partition) => partition.leader === nodeId);
      const asked = led.map(({ partition }) => Buffer.concat([int32(partition), int64(latest)]));
      if (led.length === 0) continue;
      const body = [int32(-1), array([Buffer.concat([string(name), array(asked)])])];
      const reader = await ask(leader, API.listOffsets, 1, body);
      const errors = reader.array(() => {
        reader.string(); // topic
        return reader.array(() => {
          reader.int32(); // partition
          const error = reader.int16();
          reader.bigint(); // time
          reader.bigint(); // offset
          return error;
        });
      });
      if (errors.flat().some((error) => error !== 0)) return false;
    }
    return true;
  }, `the leaders of the topic ${name}`);
}

/** A topic that is not there is fine. */
export async function deleteTopic(address: string, name: string): Promise<void> {
  await ask(address, API.deleteTopics, 1, [array([string(name)]), int32(10_000)]);
}

/** The numbers that Kafka gives to what one may do. */
export const OPERATIONS = {
  all: 2,
  read: 3,
  write: 4,
  create: 5,
  describe: 8,
  alterConfigs: 11,
  idempotentWrite: 12,
} as const;
export type Operation = keyof typeof OPERATIONS;
const RESOURCES = { topic: 2, group: 3 } as const;

export interface Rule {
  readonly resource: keyof typeof RESOURCES;
  readonly name: string;
  readonly user: string;
  readonly operation: Operation;
}

/**
 * Forbids a user to do something. Without the rule that allows all the rest, one rule on a resource forbids everything
 * else there.
 */
export async function deny(address: string, { resource, name, user, operation }: Rule): Promise<void> {
  const literal = 3;
  const [denied, allowed] = [2, 3];
  const rule = (who: string, what: number, how: number) =>
    Buffer.concat([
      int8(RESOURCES[resource]),
      string(name),
      int8(literal),
      string(`User:${who}`),
      string('*'),
      int8(what),
      int8(how),
    ]);
  const rules = [rule('*', OPERATIONS.all, allowed), rule(user, OPERATIONS[operation], denied)];
  const reader = await ask(address, API.createAcls, 1, [array(rules)]);
  reader.int32(); // throttled for
  reader.array(() => {
    const [error, message] = [reader.int16(), reader.string()];
    if (error !== 0) throw new Error(`the rule on ${name} was not made: Kafka's error ${error} ${message}`);
  });
}

/** One request on a connection of its own. @returns the answer behind its header */
async function ask(
  address: string,
  api: number,
  version: number,
  body: readonly Buffer[],
  signal: AbortSignal = AbortSignal.timeout(15_000),
): Promise<WireReader> {
  const at = address.lastIndexOf(':');
  const socket = connect(Number(address.slice(at + 1)), address.slice(0, at));
  const abort = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort);
  try {
    await once(socket, 'connect');
    socket.write(frame(int16(api), int16(version), int32(1), string('test'), ...body));
    const splitter = new FrameSplitter();
    for await (const chunk of socket) {
      const [answer] = splitter.push(chunk as Buffer);
      if (answer) return new WireReader(answer, 4);
    }
    throw new Error(`${address} closed the connection instead of an answer to the request ${api}`);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}
