// Literal bytes and back-references → the decompressed bytes, up to a limit.

const FIRST_BYTES = 64 * 1024;

/** A growing output. Its methods throw RangeError if input bytes are missing or the limit is exceeded. */
export class DecompressionBuffer {
  readonly #mostBytes: number;
  #bytes: Buffer;
  #length = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#bytes = Buffer.allocUnsafe(Math.min(FIRST_BYTES, mostBytes));
  }

  get length(): number {
    return this.#length;
  }

  /** Appends bytes of another buffer. */
  write(source: Buffer, start: number, length: number): void {
    if (start + length > source.length) throw new RangeError('the compressed bytes end too early');
    this.#makeRoom(length);
    source.copy(this.#bytes, this.#length, start, start + length);
    this.#length += length;
  }

  /**
   * Appends `length` bytes from `distance` bytes back; the ranges may overlap.
   * @param start the first byte that may be referred to
   */
  repeat(distance: number, length: number, start = 0): void {
    if (distance === 0 || distance > this.#length - start)
      throw new RangeError('the compressed bytes refer to missing bytes');
    this.#makeRoom(length);
    const from = this.#length - distance;
    if (distance >= length) this.#bytes.copyWithin(this.#length, from, from + length);
    else
      for (let index = 0; index < length; index += 1)
        this.#bytes[this.#length + index] = this.#bytes[from + index] ?? 0;
    this.#length += length;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #makeRoom(length: number): void {
    const needed = this.#length + length;
    if (needed > this.#mostBytes) throw new RangeError('the decompressed bytes exceed the limit');
    if (needed <= this.#bytes.length) return;
    const bytes = Buffer.allocUnsafe(Math.min(this.#mostBytes, Math.max(needed, 2 * this.#bytes.length)));
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
  }
}
