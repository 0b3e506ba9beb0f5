// A server → one socket to an allowed address, bytes sent to it, and whether it stays open.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { connectTls } from '../../../src/net/open-socket.ts';
import { checkedLookup, checkLiteral } from '../../../src/net/private-addresses.ts';
import { type Deps, orAbort, sleep } from '../../../src/time/clock.ts';
import { answeredFault, closedFault, type SyslogTarget, syslogFault } from '../syslog-fault.ts';
import { serverGuard, type TransportParts } from './transport.ts';

export interface TlsParts {
  /**
   * Returns the TLS files as a context. Null: the default authorities, and no client certificate.
   * @throws BridgeError if the files cannot be used
   */
  readonly context: () => SecureContext | null;
  /** Replaces the server's host in the check of its certificate. */
  readonly serverName: string | undefined;
}

/**
 * Starts to connect. The socket emits `error` and `close` as usual.
 * @throws BridgeError if the address is forbidden or the TLS files cannot be used
 */
export function openSocket({ target, resolve }: Pick<TransportParts, 'target' | 'resolve'>, tls: TlsParts): Socket {
  const { server } = target;
  const net = process.getBuiltinModule('node:net');
  if (server.transport === 'unix') return net.connect({ path: server.path });
  const guard = serverGuard(target);
  checkLiteral(guard, server.host);
  const to = { host: server.host, port: server.port, lookup: checkedLookup(guard, resolve) };
  const socket = server.transport === 'tls' ? connectTls(to, tls.context(), tls.serverName) : net.connect(to);
  // Most messages are short, and none should wait for the next.
  return socket.setNoDelay(true);
}

/** Ends when the server sends data or closes: a syslog server never answers. */
export class SyslogConnection {
  readonly #socket: Socket;
  /** Resolves when bytes may be written: with TLS, after the server is verified. */
  readonly #opened: Promise<unknown>;
  readonly #ended = new AbortController();
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  #usedMs: number;

  constructor(socket: Socket, target: SyslogTarget, deps: Pick<Deps, 'after' | 'elapsedMs'>) {
    this.#socket = socket;
    this.#opened = once(socket, target.server.transport === 'tls' ? 'secureConnect' : 'connect');
    this.#deps = deps;
    this.#usedMs = deps.elapsedMs();
    this.#opened.catch(() => undefined);
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

  /**
   * Resolves when bytes may be written. Rejects with the signal's reason, or with the cause of the connection's end.
   */
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
