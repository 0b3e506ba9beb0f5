// Bytes of requests and answers → what a proxy must read, and the answers that it changes or gives.
import { API, array, int16, int32, int64, string, WireReader } from './wire.ts';

/** The part of a request that a proxy reads. */
export interface RequestHeader {
  readonly api: number;
  readonly version: number;
  readonly correlationId: number;
  readonly clientId: string;
}

/** Where the records of a produce request go. */
export interface ProducedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: number;
}

/** The newest versions whose layout is known here; kafkajs 2.2.4 uses none newer. */
const NEWEST: Readonly<Record<number, number>> = { [API.produce]: 8, [API.metadata]: 8, [API.findCoordinator]: 2 };

/** @param frame without its length @throws for a version of a request that a proxy must read and cannot */
export function readHeader(frame: Buffer): RequestHeader {
  const reader = new WireReader(frame);
  const header = {
    api: reader.int16(),
    version: reader.int16(),
    correlationId: reader.int32(),
    clientId: reader.string(),
  };
  const newest = NEWEST[header.api];
  if (newest !== undefined && header.version > newest)
    throw new Error(
      `the proxy cannot read version ${header.version} of the request ${header.api}, only those up to ${newest}`,
    );
  return header;
}

/** Of a produce request of version 3 or newer. */
export function readProduce(frame: Buffer): ProducedPartition[] {
  const reader = new WireReader(frame, 8);
  reader.string(); // client
  reader.string(); // transaction
  reader.int16(); // acks
  reader.int32(); // time-out
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array(() => ({ topic, partition: reader.int32(), bytes: reader.bytes().length }));
  });
  return topics.flat();
}

/** What a broker says that took none of the records. @param error Kafka's number of it */
export function produceError(
  { version, correlationId }: RequestHeader,
  partitions: readonly ProducedPartition[],
  error: number,
): Buffer {
  const none = -1n;
  const answers = partitions.map(({ topic, partition }) => {
    const parts = [int32(partition), int16(error), int64(none), int64(none)];
    if (version >= 5) parts.push(int64(none)); // the log's start
    if (version >= 8) parts.push(array([]), int16(-1)); // each record's errors, and a text
    return Buffer.concat([string(topic), array([Buffer.concat(parts)])]);
  });
  return Buffer.concat([int32(correlationId), array(answers), int32(0)]);
}

/** A copy of the answer to a produce request that says for how long the client is throttled. */
export function throttled(answer: Buffer, milliseconds: number): Buffer {
  return Buffer.concat([answer.subarray(0, -4), int32(milliseconds)]);
}

/** `host:port` of a broker → what a client is told instead. */
export type Rewrite = (address: string) => string;

/** The answer, with other addresses of brokers in it where it has any. */
export function withAddresses(answer: Buffer, { api, version }: RequestHeader, rewrite: Rewrite): Buffer {
  if (api === API.metadata) return metadataWith(answer, version, rewrite);
  if (api === API.findCoordinator) return coordinatorWith(answer, version, rewrite);
  return answer;
}

function metadataWith(answer: Buffer, version: number, rewrite: Rewrite): Buffer {
  const start = version >= 3 ? 8 : 4; // behind the correlation id, and for how long the client is throttled
  const reader = new WireReader(answer, start);
  const brokers = reader.array(() => {
    const nodeId = int32(reader.int32());
    const address = addressIn(reader, rewrite);
    const rack = reader.at;
    if (version >= 1) reader.string();
    return Buffer.concat([nodeId, address, answer.subarray(rack, reader.at)]);
  });
  return Buffer.concat([answer.subarray(0, start), array(brokers), answer.subarray(reader.at)]);
}

function coordinatorWith(answer: Buffer, version: number, rewrite: Rewrite): Buffer {
  const reader = new WireReader(answer, 4);
  if (version >= 1) reader.int32(); // throttled for
  reader.int16(); // error
  if (version >= 1) reader.string(); // its text
  reader.int32(); // node
  const start = reader.at;
  return Buffer.concat([answer.subarray(0, start), addressIn(reader, rewrite), answer.subarray(reader.at)]);
}

function addressIn(reader: WireReader, rewrite: Rewrite): Buffer {
  const told = rewrite(`${reader.string()}:${reader.int32()}`);
  const colon = told.lastIndexOf(':');
  return Buffer.concat([string(told.slice(0, colon)), int32(Number(told.slice(colon + 1)))]);
}
