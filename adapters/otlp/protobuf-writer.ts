// Fields of nested messages → their bytes on protobuf's wire.

/** Wire types. */
const [VARINT, FIXED64, BYTES] = [0, 1, 2] as const;
const MOST_VARINT_BYTES = 10;

/** Writes what it is told, defaults too. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #length = 0;

  /** int32, int64, bool or enum; a safe integer. */
  varint(field: number, value: number): void {
    this.#tag(field, VARINT);
    this.#number(value);
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(value, this.#length);
  }

  double(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  text(field: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#tag(field, BYTES);
    this.#number(length);
    this.#reserve(length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  bytes(field: number, bytes: Uint8Array): void {
    this.#tag(field, BYTES);
    this.#number(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** What `write` writes becomes the message. */
  message(field: number, write: () => void): void {
    this.#tag(field, BYTES);
    const start = this.#length;
    write();
    const end = this.#length;
    this.#number(end - start);
    this.#beforeContent(start, end);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A message's length stands before it, and is known behind it. */
  #beforeContent(start: number, end: number): void {
    const length = Uint8Array.from(this.#bytes.subarray(end, this.#length));
    this.#bytes.copyWithin(start + length.length, start, end);
    this.#bytes.set(length, start);
  }

  #tag(field: number, wireType: number): void {
    this.#number(field * 8 + wireType);
  }

  /** Seven bits in each byte, the lowest first; what is negative has all 64. */
  #number(value: number): void {
    this.#reserve(MOST_VARINT_BYTES);
    if (value < 0) this.#negative(BigInt.asUintN(64, BigInt(value)));
    else this.#positive(value);
  }

  #positive(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) + 128;
    this.#bytes[this.#length++] = rest;
  }

  #negative(value: bigint): void {
    let rest = value;
    for (; rest >= 128n; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 127n) + 128;
    this.#bytes[this.#length++] = Number(rest);
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
