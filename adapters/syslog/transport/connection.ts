// Bytes → one socket to a syslog server, and whether that stays open.
import type { Socket } from 'node:net';
import { type Deps, orAbort, sleep } from '../../../src/time/clock.ts';
import { answeredFault, closedFault, type SyslogTarget, syslogFault } from '../syslog-fault.ts';

/** Ends when the server sends data or closes: a syslog server never answers. */
export class Connection {
  readonly #socket: Socket;
  readonly #opened: Promise<void>;
  readonly #ended = new AbortController();
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  #usedMs: number;

  /** @param opened resolves when bytes may be written */
  constructor(socket: Socket, opened: Promise<void>, target: SyslogTarget, deps: Pick<Deps, 'after' | 'elapsedMs'>) {
    this.#socket = socket;
    this.#opened = opened;
    this.#deps = deps;
    this.#usedMs = deps.elapsedMs();
    opened.catch(() => undefined);
    const end = (reason: unknown) => {
      this.#ended.abort(reason);
      socket.destroy();
    };
    socket.on('error', (error) => end(syslogFault(error, target)));
    socket.on('data', () => end(answeredFault(target)));
    for (const event of ['end', 'close']) socket.on(event, () => end(closedFault(target)));
  }

  get hasEnded(): boolean {
    return this.#ended.signal.aborted || this.#socket.destroyed;
  }

  /** Milliseconds since it was created, or last known to be open. */
  get idleMs(): number {
    return this.#deps.elapsedMs() - this.#usedMs;
  }

  /** Resolves when bytes may be written. Rejects with the signal's reason, or with the cause of the connection's end. */
  async open(signal: AbortSignal): Promise<void> {
    await orAbort(this.#opened, this.#until(signal));
  }

  /** Resolves when the system has taken all bytes. Call it after `open`. Rejects as `open` does. */
  async write(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const written = new Promise<void>((resolve) => {
      // After a failure, the end of the connection rejects.
      this.#socket.write(bytes, (error) => (error ? undefined : resolve()));
    });
    await orAbort(written, this.#until(signal));
  }

  /** Resolves if the connection stays open for `ms`. Rejects as `open` does. */
  async settle(ms: number, signal: AbortSignal): Promise<void> {
    const until = this.#until(signal);
    until.throwIfAborted();
    if (ms > 0) await sleep(this.#deps, ms, until);
    this.#usedMs = this.#deps.elapsedMs();
  }

  /** Closes at once, and drops unsent bytes. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes when all written bytes are sent. */
  close(): void {
    this.#socket.destroySoon();
  }

  #until(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#ended.signal]);
  }
}
