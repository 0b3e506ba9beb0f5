// A socket factory → clients that tolerate partitions without a leader. Loads kafkajs.
import type { ISocketFactory } from 'kafkajs';
import ConnectionPool from 'kafkajs/src/network/connectionPool.js';

const METADATA = 3;
/** LEADER_NOT_AVAILABLE and REPLICA_NOT_AVAILABLE, which concern one partition. */
const OF_ONE_PARTITION: ReadonlySet<number> = new Set([5, 9]);

interface Metadata {
  /** Absent in answers that kafkajs does not parse itself. */
  readonly topicMetadata?: readonly { readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[] }[];
}

const tolerant = new WeakSet<ISocketFactory>();

/**
 * Tolerates partitions without a leader. kafkajs rejects the metadata of all topics if one partition has an error. With this factory only
 * sends to that partition fail: its leader is -1, which no broker has.
 * @returns the same factory
 */
export function tolerateLeaderless(factory: ISocketFactory): ISocketFactory {
  tolerant.add(factory);
  return factory;
}

const { send } = ConnectionPool.prototype;
ConnectionPool.prototype.send = async function (exchange) {
  const { request, response } = exchange;
  if (request.apiKey !== METADATA || !tolerant.has(this.socketFactory)) return await send.call(this, exchange);
  return await send.call(this, { ...exchange, response: { ...response, parse: (answer) => response.parse(forgiven(answer as Metadata)) } });
};

function forgiven(answer: Metadata): Metadata {
  const topicMetadata = answer.topicMetadata?.map((topic) => ({
    ...topic,
    partitionMetadata: topic.partitionMetadata.map((partition) =>
      OF_ONE_PARTITION.has(partition.partitionErrorCode) ? { ...partition, partitionErrorCode: 0 } : partition,
    ),
  }));
  return { ...answer, ...(topicMetadata && { topicMetadata }) };
}
