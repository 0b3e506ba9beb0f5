// Log lines → a stream with a bounded buffer; lines beyond it are dropped and counted.
import type { Writable } from 'node:stream';

/** The destination of pino. A write never waits, so a slow reader of the log cannot delay the event loop. */
export class BoundedLines {
  readonly #stream: Writable;
  readonly #limitBytes: number;
  readonly #onDrained: (dropped: number) => void;
  #dropped = 0;
  #unreported = 0;
  #broken = false;

  /** @param onDrained called with the number of lines dropped since the last call, once the buffer is empty again */
  constructor(stream: Writable, limitBytes: number, onDrained: (dropped: number) => void) {
    this.#stream = stream;
    this.#limitBytes = limitBytes;
    this.#onDrained = onDrained;
    stream.on('drain', () => this.#report());
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
      this.#unreported++;
      return;
    }
    this.#stream.write(line);
  }

  #report(): void {
    const unreported = this.#unreported;
    this.#unreported = 0;
    if (unreported > 0) this.#onDrained(unreported);
  }
}
