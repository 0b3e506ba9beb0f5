// Fields of nested messages → their bytes on protobuf's wire.

/** Wire types. */
const [VARINT, FIXED64, BYTES] = [0, 1, 2] as const;
const MOST_VARINT_BYTES = 10;
/** Of a text, in UTF-8, for each of its UTF-16 units. */
const MOST_UNIT_BYTES = 3;
/** Up to here a loop is faster than the way into Node's own encoder. */
const SHORT = 64;

/** Writes what it is told, defaults too. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** int32, int64, bool or enum; a safe integer. */
  varint(field: number, value: number): void {
    this.#tag(field, VARINT);
    if (value < 0) this.#negative(BigInt.asUintN(64, BigInt(value)));
    else this.#number(value);
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, FIXED64);
    this.#length = this.#bytes.writeBigUInt64LE(value, this.#length);
  }

  double(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  text(field: number, text: string): void {
    this.#tag(field, BYTES);
    this.#reserve(text.length * MOST_UNIT_BYTES);
    const start = this.#open();
    if (text.length > SHORT || !this.#ascii(text)) this.#length += this.#bytes.write(text, this.#length);
    this.#close(start);
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.#tag(field, BYTES);
    this.#reserve(bytes.length);
    const start = this.#open();
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    this.#close(start);
  }

  /** What `write` writes becomes the message. */
  message(field: number, write: () => void): void {
    this.#tag(field, BYTES);
    const start = this.#open();
    write();
    this.#close(start);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** @returns where the content begins, behind a length of one byte, which most have */
  #open(): number {
    this.#length += 1;
    return this.#length;
  }

  #close(start: number): void {
    const content = this.#length - start;
    if (content >= 128) {
      this.#reserve(MOST_VARINT_BYTES);
      const lengthBytes = Math.ceil((32 - Math.clz32(content)) / 7);
      this.#bytes.copyWithin(start - 1 + lengthBytes, start, this.#length);
    }
    this.#length = start - 1;
    this.#number(content);
    this.#length += content;
  }

  /** @returns whether it was; if not, nothing is written */
  #ascii(text: string): boolean {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 127) return false;
      this.#bytes[this.#length + index] = unit;
    }
    this.#length += text.length;
    return true;
  }

  /** Leaves room for a scalar, and for the length of what is longer. */
  #tag(field: number, wireType: number): void {
    this.#reserve(2 * MOST_VARINT_BYTES);
    this.#number(field * 8 + wireType);
  }

  /** Seven bits in each byte, the lowest first. */
  #number(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) + 128;
    this.#bytes[this.#length++] = rest;
  }

  /** All 64 bits. */
  #negative(value: bigint): void {
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 127n) + 128;
    this.#bytes[this.#length++] = Number(rest);
  }

  /** Beside what comes, there is always room for one more tag and length. */
  #reserve(more: number): void {
    const needed = this.#length + more + 2 * MOST_VARINT_BYTES;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, needed));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
