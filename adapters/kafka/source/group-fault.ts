// Errors of a consumer group → BridgeErrors that name the group; other errors as for a sink.
import { BridgeError, type ErrorCode } from '../../../src/errors.ts';
import { type FaultContext, kafkaFault } from '../kafka-fault.ts';
import type { ConsumerGroup } from './group-start.ts';

type Meaning = readonly [
  code: ErrorCode,
  disposition: 'retry' | 'misconfigured',
  advice: (group: ConsumerGroup) => string,
];

const notReady: Meaning = [
  'BRIDGE_KAFKA_UNAVAILABLE',
  'retry',
  ({ groupId }) =>
    `the broker that coordinates the consumer group ${groupId} is not ready: the bridge retries; if this lasts, check the brokers`,
];
const rebalancing: Meaning = [
  'BRIDGE_KAFKA_UNAVAILABLE',
  'retry',
  ({ groupId }) => `the consumer group ${groupId} is rebalancing: the bridge joins it again`,
];

/** Meanings by the name of Kafka's or kafkajs's error. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  UNKNOWN_TOPIC_OR_PARTITION: [
    'BRIDGE_KAFKA_NO_TOPIC',
    'misconfigured',
    ({ topic }) =>
      `topic ${topic} does not exist: create it (kafka-topics.sh --create --topic ${topic} …), or correct topic`,
  ],
  GROUP_AUTHORIZATION_FAILED: [
    'BRIDGE_KAFKA_UNAUTHORIZED',
    'misconfigured',
    ({ groupId }) =>
      `this user lacks the right READ on the consumer group ${groupId}: add an ACL that grants it, or set groupId`,
  ],
  INCONSISTENT_GROUP_PROTOCOL: [
    'BRIDGE_KAFKA_GROUP',
    'misconfigured',
    ({ groupId }) =>
      `the consumer group ${groupId} contains programs other than bridges: set a groupId that only bridges use`,
  ],
  INVALID_GROUP_ID: [
    'BRIDGE_KAFKA_GROUP',
    'misconfigured',
    ({ groupId }) => `the cluster rejects the consumer group ${groupId}: set another groupId`,
  ],
  INVALID_SESSION_TIMEOUT: [
    'BRIDGE_KAFKA_GROUP',
    'misconfigured',
    () =>
      'the brokers reject sessions of 6 s: correct their group.min.session.timeout.ms and group.max.session.timeout.ms',
  ],
  GROUP_MAX_SIZE_REACHED: [
    'BRIDGE_KAFKA_GROUP',
    'misconfigured',
    ({ groupId }) => `the consumer group ${groupId} is full: raise group.max.size of the brokers, or remove members`,
  ],
  GROUP_COORDINATOR_NOT_AVAILABLE: notReady,
  GROUP_LOAD_IN_PROGRESS: notReady,
  NOT_COORDINATOR_FOR_GROUP: notReady,
  KafkaJSGroupCoordinatorNotFound: notReady,
  UNKNOWN_MEMBER_ID: rebalancing,
  ILLEGAL_GENERATION: rebalancing,
  REBALANCE_IN_PROGRESS: rebalancing,
};

/** Returns the BridgeError for any error; a BridgeError unchanged. */
export function groupFault(error: unknown, group: ConsumerGroup, context: FaultContext): BridgeError {
  if (error instanceof BridgeError) return error;
  if (isUnreadable(error)) return unreadable(group, context);
  const fault = kafkaFault(error, context);
  const meaning = fault.status === undefined ? undefined : MEANINGS[fault.status];
  if (meaning === undefined) return fault;
  const [code, disposition, advice] = meaning;
  const { cause, status } = fault;
  return new BridgeError(code, `${context.who}: ${advice(group)} (${status})`, {
    cause,
    disposition,
    scope: 'sink',
    status,
  });
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Error && (error.name === 'UnreadableBatch' || isUnreadable(error.cause));
}

function unreadable({ groupId, topic }: ConsumerGroup, { who }: FaultContext): BridgeError {
  return new BridgeError(
    'BRIDGE_KAFKA_UNREADABLE',
    `${who}: a batch of records in topic ${topic} cannot be decompressed, and no later record can be read: stop the bridge, move the consumer group ` +
      `${groupId} past it (kafka-consumer-groups.sh --reset-offsets), and find out which program wrote it`,
    { disposition: 'misconfigured', scope: 'sink', status: 'UnreadableBatch' },
  );
}
