// A broker and a topic → the user's rights on the topic (Kafka Metadata version 8, KIP-430).
import type { Broker } from 'kafkajs';

const METADATA = 3;
/** kafkajs supports six; the eighth is the first version with rights. */
const VERSION = 8;
/** Bits of Kafka's AclOperation. */
const WRITE = 4;
/** The value of a broker that does not report rights. */
const NOT_REPORTED = -0x8000_0000;

/** The parts of kafkajs's broker that its types hide. */
interface OpenBroker {
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null;
  readonly connectionPool: {
    send<T>(exchange: {
      readonly request: {
        apiKey: number;
        apiVersion: number;
        apiName: string;
        encode: () => Promise<{ buf: Buffer; buffer: Buffer }>;
      };
      readonly response: { decode: (bytes: Buffer) => Promise<Answer>; parse: (answer: Answer) => Promise<T> };
    }): Promise<T>;
  };
}

interface Answer {
  readonly clientSideThrottleTime: number;
  readonly operations: number;
}

/**
 * Resolves with whether the user may write, or null if the broker does not report it. Changes nothing.
 * @throws what kafkajs throws
 */
export async function mayWrite(broker: Broker, topic: string): Promise<boolean | null> {
  const { versions, connectionPool } = broker as unknown as OpenBroker;
  if ((versions?.[METADATA]?.maxVersion ?? 0) < VERSION) return null;
  const body = requestOf(topic);
  const operations = await connectionPool.send({
    request: {
      apiKey: METADATA,
      apiVersion: VERSION,
      apiName: 'Metadata',
      encode: async () => ({ buf: body, buffer: body }),
    },
    response: { decode: async (bytes) => answerOf(bytes), parse: async ({ operations: rights }) => rights },
  });
  return operations === NOT_REPORTED ? null : (operations & (1 << WRITE)) !== 0;
}

/** Returns a request for one topic with its rights, which does not create the topic. */
function requestOf(topic: string): Buffer {
  const name = Buffer.from(topic);
  const head = Buffer.alloc(6);
  head.writeInt32BE(1);
  head.writeInt16BE(name.length, 4);
  return Buffer.concat([head, name, Buffer.from([0, 0, 1])]);
}

/** Returns the rights of the only topic. @throws RangeError if the answer is too short */
function answerOf(bytes: Buffer): Answer {
  let at = 0;
  const skip = (length: number) => {
    at += length;
  };
  const int16 = () => {
    skip(2);
    return bytes.readInt16BE(at - 2);
  };
  const int32 = () => {
    skip(4);
    return bytes.readInt32BE(at - 4);
  };
  const string = () => skip(Math.max(int16(), 0));
  const array = (member: () => void) => {
    for (let left = int32(); left > 0; left--) member();
  };
  const numbers = () => skip(4 * Math.max(int32(), 0));
  const clientSideThrottleTime = int32();
  array(() => {
    skip(4); // node
    string(); // host
    skip(4); // port
    string(); // rack
  });
  string(); // cluster
  skip(4); // controller
  let operations = NOT_REPORTED;
  array(() => {
    skip(2); // error
    string(); // name
    skip(1); // internal
    array(() => {
      skip(14); // error, partition, leader, its epoch
      numbers(); // replicas
      numbers(); // in sync
      numbers(); // offline
    });
    operations = int32();
  });
  return { clientSideThrottleTime, operations };
}
