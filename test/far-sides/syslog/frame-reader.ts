// Chunks of a syslog stream → its messages (RFC 6587): counted octets, or lines.

/** Reads strictly: a count has no leading zero, then one blank and exactly that many octets. */
export class FrameReader {
  readonly #framing: 'counted' | 'lines';
  #rest = Buffer.alloc(0);

  constructor(framing: 'counted' | 'lines') {
    this.#framing = framing;
  }

  /**
   * Returns the messages that this chunk completes.
   * @throws Error if the bytes are not a frame
   */
  read(chunk: Uint8Array): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    for (let next = this.#next(); next !== null; next = this.#next()) messages.push(next);
    return messages;
  }

  #next(): Buffer | null {
    return this.#framing === 'lines' ? this.#line() : this.#counted();
  }

  #line(): Buffer | null {
    const end = this.#rest.indexOf('\n');
    return end < 0 ? null : this.#take(0, end, end + 1);
  }

  #counted(): Buffer | null {
    const blank = this.#rest.indexOf(' ');
    if (blank < 0) return null;
    const count = this.#rest.subarray(0, blank).toString();
    if (!/^[1-9]\d*$/.test(count)) throw new Error(`${count} is no count of octets`);
    const end = blank + 1 + Number(count);
    return this.#rest.length < end ? null : this.#take(blank + 1, end, end);
  }

  #take(from: number, to: number, next: number): Buffer {
    const message = Buffer.from(this.#rest.subarray(from, to));
    this.#rest = this.#rest.subarray(next);
    return message;
  }
}
