// Log lines → a stream; a bounded number waits, further lines are dropped and counted.
import type { Writable } from 'node:stream';

/** What pino writes to. A write never waits, so a slow reader of the log cannot delay the event loop. */
export class BoundedLines {
  readonly #stream: Writable;
  readonly #limitBytes: number;
  readonly #whenRoom: (dropped: number) => void;
  #dropped = 0;
  #untold = 0;
  #broken = false;

  /** `whenRoom` gets the number of lines dropped since the last time, once all that waited has been read. */
  constructor(stream: Writable, limitBytes: number, whenRoom: (dropped: number) => void) {
    this.#stream = stream;
    this.#limitBytes = limitBytes;
    this.#whenRoom = whenRoom;
    stream.on('drain', () => this.#tell());
    stream.on('error', () => {
      this.#broken = true;
    });
  }

  /** Lines dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    if (this.#broken || this.#stream.writableLength + Buffer.byteLength(line) > this.#limitBytes) {
      this.#dropped++;
      this.#untold++;
      return;
    }
    this.#stream.write(line);
  }

  #tell(): void {
    const untold = this.#untold;
    this.#untold = 0;
    if (untold > 0) this.#whenRoom(untold);
  }
}
