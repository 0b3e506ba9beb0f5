// Fields of nested messages → bytes in protobuf's wire format.

/** Wire types. */
const [VARINT, FIXED64, BYTES] = [0, 1, 2] as const;
const MAX_VARINT_BYTES = 10;
/** The most UTF-8 bytes for one UTF-16 unit of a text. */
const MAX_BYTES_PER_UNIT = 3;
/** Up to this length, a loop is faster than a call of Node's encoder. */
const SHORT_TEXT = 64;

/** Writes every field it is given, also default values. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** Writes an int32, int64, bool or enum. The value is a safe integer. */
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
    this.#reserve(text.length * MAX_BYTES_PER_UNIT);
    const start = this.#open();
    if (text.length > SHORT_TEXT || !this.#ascii(text)) this.#length += this.#bytes.write(text, this.#length);
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

  /** Writes a nested message with the fields that `write` writes. */
  message(field: number, write: () => void): void {
    this.#tag(field, BYTES);
    const start = this.#open();
    write();
    this.#close(start);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** @returns the offset of the content, after a length of one byte, which suffices for most */
  #open(): number {
    this.#length += 1;
    return this.#length;
  }

  #close(start: number): void {
    const content = this.#length - start;
    if (content >= 128) {
      this.#reserve(MAX_VARINT_BYTES);
      const lengthBytes = Math.ceil((32 - Math.clz32(content)) / 7);
      this.#bytes.copyWithin(start - 1 + lengthBytes, start, this.#length);
    }
    this.#length = start - 1;
    this.#number(content);
    this.#length += content;
  }

  /** @returns whether the text was ASCII and is written; otherwise the length has not changed */
  #ascii(text: string): boolean {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 127) return false;
      this.#bytes[this.#length + index] = unit;
    }
    this.#length += text.length;
    return true;
  }

  /** Writes a tag. Reserves space for a scalar, or for the length of a longer value. */
  #tag(field: number, wireType: number): void {
    this.#reserve(2 * MAX_VARINT_BYTES);
    this.#number(field * 8 + wireType);
  }

  /** Writes a varint: seven bits in each byte, the lowest first. */
  #number(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) + 128;
    this.#bytes[this.#length++] = rest;
  }

  /** Writes all 64 bits of a negative value as a varint. */
  #negative(value: bigint): void {
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 127n) + 128;
    this.#bytes[this.#length++] = Number(rest);
  }

  /** Makes room for `more` bytes and, in addition, for one more tag and length. */
  #reserve(more: number): void {
    const needed = this.#length + more + 2 * MAX_VARINT_BYTES;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, needed));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
