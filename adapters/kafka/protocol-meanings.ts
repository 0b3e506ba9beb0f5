// The name of a Kafka protocol error → the delivery's disposition, and advice for operators.
import type { BridgeErrorDetails, ErrorCode } from '../../src/errors.ts';

/**
 * The running operation: `connect` to the cluster, `find` or `create` the topic, `produce` to a partition of it,
 * `consume` from it.
 */
export type KafkaOperation = 'connect' | 'find' | 'create' | 'produce' | 'consume';

interface Subject {
  readonly topic: string;
  readonly operation: KafkaOperation;
}

interface Meaning extends Required<Pick<BridgeErrorDetails, 'disposition' | 'scope'>> {
  readonly code: ErrorCode;
  /** Cause and remedy, without the name of the error. */
  readonly advice: string;
}

type Explain = (subject: Subject) => string;
type Advice = string | Explain;

const RIGHTS: Readonly<Record<KafkaOperation, string>> = {
  connect: 'DESCRIBE',
  find: 'DESCRIBE (and WRITE)',
  create: 'CREATE',
  produce: 'WRITE',
  consume: 'READ and DESCRIBE',
};

const AGAIN = 'the bridge retries';
const PLEASE_REPORT = `${AGAIN}; if this lasts, please report it`;

/** Errors until the configuration, the cluster or the rights are corrected. */
const MISCONFIGURED: readonly (readonly [ErrorCode, Readonly<Record<string, Advice>>])[] = [
  [
    'BRIDGE_KAFKA_NO_TOPIC',
    {
      UNKNOWN_TOPIC_OR_PARTITION: ({ topic }) =>
        `topic ${topic} does not exist: create it (kafka-topics.sh --create --topic ${topic} …), correct topic, or set createTopic`,
      INVALID_TOPIC_EXCEPTION: ({ topic }) => `the cluster does not allow the topic name ${topic}: correct topic`,
    },
  ],
  [
    'BRIDGE_KAFKA_UNAUTHORIZED',
    {
      TOPIC_AUTHORIZATION_FAILED: ({ topic, operation }) =>
        `this user lacks the right ${RIGHTS[operation]} on topic ${topic}: add an ACL that grants it`,
      GROUP_AUTHORIZATION_FAILED: 'this user lacks the right READ on its consumer group: add an ACL that grants it',
      CLUSTER_AUTHORIZATION_FAILED: ({ operation }) =>
        operation === 'create'
          ? 'this user lacks the right CREATE on the cluster: add an ACL that grants it, or create the topic yourself'
          : 'this user lacks the right IDEMPOTENT_WRITE on the cluster: add an ACL that grants it, or set idempotent: false',
    },
  ],
  [
    'BRIDGE_KAFKA_UNAUTHENTICATED',
    {
      SASL_AUTHENTICATION_FAILED: 'the brokers reject these credentials: correct sasl, or the user at the brokers',
      UNSUPPORTED_SASL_MECHANISM:
        "the brokers do not offer this mechanism at this listener: correct sasl.mechanism, or the broker's sasl.enabled.mechanisms",
      ILLEGAL_SASL_STATE:
        'the brokers do not use SASL at this listener: remove sasl, or configure another port in brokers',
    },
  ],
  [
    'BRIDGE_KAFKA_MISCONFIGURED',
    {
      SECURITY_DISABLED: 'the cluster has no authorizer: set one up there',
      UNSUPPORTED_VERSION:
        "the brokers do not support a protocol version of this client: they must be Kafka 0.11 or later, or compatible; if the port is a controller's, use a broker's port",
      UNSUPPORTED_COMPRESSION_TYPE: 'the topic does not accept this compression: set compression: none',
      UNSUPPORTED_FOR_MESSAGE_FORMAT: ({ topic }) =>
        `topic ${topic} uses a message format without headers: raise its message.format.version`,
      INVALID_REQUIRED_ACKS: ({ topic }) => `topic ${topic} does not accept acks=all: raise its message.format.version`,
      INVALID_PARTITIONS: 'the cluster rejects createTopic.partitions: correct it',
      INVALID_REPLICATION_FACTOR:
        'the cluster has fewer running brokers than createTopic.replicationFactor: start more brokers, or lower it',
      INVALID_RECORD: ({ topic }) =>
        `topic ${topic} rejects such records: check its configuration (a compacted topic needs keyed: true)`,
      POLICY_VIOLATION: 'a policy of the cluster forbids it: check the policy',
      INVALID_CONFIG: 'the cluster rejects createTopic.config: correct it',
      THROTTLING_QUOTA_EXCEEDED: "the user's quota is used up: raise it",
    },
  ],
];

/** Errors that make the record a dead letter. */
const REFUSED: Readonly<Record<string, Explain>> = {
  MESSAGE_TOO_LARGE: ({ topic }) => `the record is too large for topic ${topic}: raise its max.message.bytes`,
  RECORD_LIST_TOO_LARGE: ({ topic }) =>
    `the request is too large for topic ${topic}: raise its segment.bytes or max.message.bytes`,
};

/** Errors that may concern only this record. */
const OF_A_RECORD: ReadonlySet<string> = new Set(['INVALID_RECORD', 'POLICY_VIOLATION']);

/** Temporary errors of one partition. */
const PASSING: Readonly<Record<string, string>> = {
  UNKNOWN_TOPIC_OR_PARTITION: `the broker no longer has this partition: ${AGAIN} with the current metadata`,
  LEADER_NOT_AVAILABLE: `a partition has no leader at the moment: ${AGAIN}; if this lasts, check the brokers`,
  NOT_LEADER_FOR_PARTITION: `the partition has moved to another broker: ${AGAIN} there`,
  REPLICA_NOT_AVAILABLE: `a replica is not available at the moment: ${AGAIN}`,
  FENCED_LEADER_EPOCH: `the partition has moved to another broker: ${AGAIN} there`,
  UNKNOWN_LEADER_EPOCH: `the partition is moving: ${AGAIN}`,
  REQUEST_TIMED_OUT: `not all replicas stored it in time: ${AGAIN}; if this lasts, check the brokers, or raise timeout`,
  NOT_ENOUGH_REPLICAS: `fewer replicas are in sync than min.insync.replicas requires: ${AGAIN}; start the other brokers`,
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: `fewer replicas have it than min.insync.replicas requires: ${AGAIN}; start the other brokers`,
  KAFKA_STORAGE_ERROR: `the broker cannot write to its disk: ${AGAIN}; free space there, or repair the disk`,
  INVALID_TIMESTAMP: `the time of the event is too far from the broker's clock: ${AGAIN}; correct the clocks, or the topic's message.timestamp.before.max.ms and .after.max.ms`,
  CORRUPT_MESSAGE: `it was damaged in transit, or it has no key and the topic is compacted: ${AGAIN}`,
  OUT_OF_ORDER_SEQUENCE_NUMBER: `the brokers do not have this producer's last records: ${AGAIN} with a new producer`,
  UNKNOWN_PRODUCER_ID: `the brokers no longer recognize this producer: ${AGAIN} with a new one`,
  INVALID_PRODUCER_EPOCH: `the brokers no longer recognize this producer: ${AGAIN} with a new one`,
};

/** Returns the meaning of an error. Unknown errors are retried. @param type the name in kafkajs */
export function meaningOf(type: string, subject: Subject): Meaning {
  const { operation } = subject;
  const refused = operation === 'produce' ? REFUSED[type] : undefined;
  if (refused)
    return { code: 'BRIDGE_KAFKA_REFUSED', advice: refused(subject), disposition: 'refused', scope: 'delivery' };
  // If the topic was found before, a broker without it may only be behind the others.
  const misconfigured = MISCONFIGURED.find(([, errors]) => Object.hasOwn(errors, type));
  const isPassing = operation === 'produce' || misconfigured === undefined;
  const passing = isPassing ? PASSING[type] : undefined;
  if (passing) return { code: 'BRIDGE_KAFKA_UNAVAILABLE', advice: passing, disposition: 'retry', scope: 'delivery' };
  if (misconfigured) {
    const [code, { [type]: advice = '' }] = misconfigured;
    const scope = operation === 'produce' && OF_A_RECORD.has(type) ? 'delivery' : 'sink';
    return { code, advice: typeof advice === 'string' ? advice : advice(subject), disposition: 'misconfigured', scope };
  }
  const forbidden = REFUSED[type];
  if (forbidden)
    return {
      code: 'BRIDGE_KAFKA_MISCONFIGURED',
      advice: forbidden(subject),
      disposition: 'misconfigured',
      scope: 'sink',
    };
  return {
    code: 'BRIDGE_KAFKA_UNAVAILABLE',
    advice: PLEASE_REPORT,
    disposition: 'retry',
    scope: operation === 'produce' ? 'delivery' : 'sink',
  };
}
