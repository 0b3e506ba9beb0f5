// Bytes of Kafka's protocol ↔ numbers, texts and lists, before compact versions; stream frames.

/** The numbers that Kafka gives to kinds of requests. */
export const API = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetCommit: 8,
  offsetFetch: 9,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  leaveGroup: 13,
  syncGroup: 14,
  saslHandshake: 17,
  apiVersions: 18,
  createTopics: 19,
  deleteTopics: 20,
  initProducerId: 22,
  createAcls: 30,
  describeConfigs: 32,
  saslAuthenticate: 36,
} as const;

/** Reads one value after the other. @throws RangeError past the end */
export class WireReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Where the next value begins. */
  get at(): number {
    return this.#at;
  }

  boolean(): boolean {
    return this.int8() !== 0;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#step(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#step(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#step(4));
  }

  bigint(): bigint {
    return this.#bytes.readBigInt64BE(this.#step(8));
  }

  /** Null is read as the empty text. */
  string(): string {
    const length = Math.max(this.int16(), 0);
    const start = this.#step(length);
    if (this.#at > this.#bytes.length) throw new RangeError('a text goes beyond the end of its frame');
    return this.#bytes.toString('utf8', start, this.#at);
  }

  /** Null is read as no bytes. */
  bytes(): Buffer {
    const length = Math.max(this.int32(), 0);
    const start = this.#step(length);
    return this.#bytes.subarray(start, this.#at);
  }

  /** Null is read as the empty list. */
  array<T>(member: () => T): T[] {
    const length = Math.max(this.int32(), 0);
    return Array.from({ length }, member);
  }

  #step(length: number): number {
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

export const boolean = (value: boolean): Buffer => int8(value ? 1 : 0);

export const int8 = (value: number): Buffer => Buffer.from([value & 0xff]);

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

export function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([int16(bytes.length), bytes]);
}

export function array(members: readonly Buffer[]): Buffer {
  return Buffer.concat([int32(members.length), ...members]);
}

/** The length goes before the bytes. */
export function frame(...parts: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([int32(bytes.length), bytes]);
}

/** Chunks of a stream, as they come → its whole frames, without their lengths. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    while (this.#rest.length >= 4) {
      const end = 4 + this.#rest.readInt32BE();
      if (this.#rest.length < end) break;
      frames.push(this.#rest.subarray(4, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}
