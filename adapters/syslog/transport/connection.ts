// One socket to a syslog server → bytes that it took, and whether it still stands.
import type { Socket } from 'node:net';
import { type Deps, orAbort, sleep } from '../../../src/time/clock.ts';
import { answeredFault, closedFault, type SyslogPlace, syslogFault } from '../syslog-fault.ts';

/** Ends at the first thing that the server says or does: a syslog server never answers. */
export class Connection {
  readonly #socket: Socket;
  readonly #opened: Promise<void>;
  readonly #ended = new AbortController();
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  #usedMs: number;

  /** @param opened once bytes may be written */
  constructor(socket: Socket, opened: Promise<void>, place: SyslogPlace, deps: Pick<Deps, 'after' | 'elapsedMs'>) {
    this.#socket = socket;
    this.#opened = opened;
    this.#deps = deps;
    this.#usedMs = deps.elapsedMs();
    opened.catch(() => undefined);
    const end = (reason: unknown) => {
      this.#ended.abort(reason);
      socket.destroy();
    };
    socket.on('error', (error) => end(syslogFault(error, place)));
    socket.on('data', () => end(answeredFault(place)));
    for (const event of ['end', 'close']) socket.on(event, () => end(closedFault(place)));
  }

  get hasEnded(): boolean {
    return this.#ended.signal.aborted || this.#socket.destroyed;
  }

  /** Since it was opened, or last known to stand. */
  get idleMs(): number {
    return this.#deps.elapsedMs() - this.#usedMs;
  }

  /** Rejects with the signal's reason, or with why the connection ended. */
  async open(signal: AbortSignal): Promise<void> {
    await orAbort(this.#opened, this.#until(signal));
  }

  /** Resolves once the system has taken all of it, to be called once it is open. Rejects as `open`. */
  async write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const written = new Promise<void>((resolve) => {
      // A failure ends the connection, which says so.
      this.#socket.write(bytes, (error) => (error ? undefined : resolve()));
    });
    await orAbort(written, this.#until(signal));
  }

  /** Resolves once it has stood for so long. Rejects as `open`. */
  async stand(ms: number, signal: AbortSignal): Promise<void> {
    const until = this.#until(signal);
    until.throwIfAborted();
    if (ms > 0) await sleep(this.#deps, ms, until);
    this.#usedMs = this.#deps.elapsedMs();
  }

  /** At once; what was not sent yet is not. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Once all that was written is sent. */
  close(): void {
    this.#socket.destroySoon();
  }

  #until(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#ended.signal]);
  }
}
