// Messages → one connection at a time, framed, accepted once it has stood for a while after them.
import { deadline } from '../../../src/time/clock.ts';
import type { Outcome } from '../../adapter.ts';
import { timeoutFault } from '../syslog-fault.ts';
import { Connection } from './connection.ts';
import { opened, openSocket, type TlsParts } from './open-socket.ts';
import type { Transport, TransportParts } from './transport.ts';

/** How messages are told apart (RFC 6587, sections 3.4.1 and 3.4.2). */
export type Framing = 'counted' | 'lines';

export interface StreamParts extends TransportParts {
  readonly tls: TlsParts;
  readonly framing: Framing;
  readonly settleMs: number;
}

/**
 * A connection that was silent for longer may have been forgotten on its way: a load balancer of Azure drops it after four minutes
 * without a word, and what is written then is lost. A new one shows that the server is there.
 */
const IDLE_MS = 30_000;
const SENT: Readonly<Record<Framing, string>> = {
  counted: 'each message is sent behind its length',
  lines: 'each message is sent with a line feed behind it',
};
const LOST_OTHERWISE = 'a server that expects the other framing loses it and says nothing: run a drill, and look for it there';
/** How long a server may take to say that it does not want our certificate: in TLS 1.3 it says so after the handshake. */
const OBJECTION_MS = 500;

/** Connects at the first message. Whoever sends meanwhile shares the connection, in the order of the calls. */
export class Stream implements Transport {
  readonly #parts: StreamParts;
  #current: Connection | null = null;
  #sending = 0;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** All are accepted, or none is. */
  async send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const connection = this.#connection();
    const bytes = Buffer.concat(messages.flatMap((message) => framed(message, this.#parts.framing)));
    this.#sending += 1;
    try {
      await this.#inTime(connection, signal, async (limited) => {
        await connection.open(limited);
        await connection.write(bytes, limited);
      });
      await connection.stand(this.#parts.settleMs, signal);
    } finally {
      this.#sending -= 1;
    }
    return messages.map(() => 'accepted');
  }

  /** By a connection of its own, which has to stand for as long as after a message. Whether the framing is right shows with a message alone. */
  async check(signal: AbortSignal): Promise<string> {
    const connection = this.#connect();
    try {
      await this.#inTime(connection, signal, (limited) => connection.open(limited));
      await connection.stand(Math.max(this.#parts.settleMs, OBJECTION_MS), signal);
    } finally {
      connection.destroy();
    }
    return `${SENT[this.#parts.framing]} (framing: ${this.#parts.framing}); ${LOST_OTHERWISE}`;
  }

  close(): void {
    this.#current?.close();
  }

  #connection(): Connection {
    const current = this.#current;
    if (current !== null && !current.hasEnded && (this.#sending > 0 || current.idleMs < IDLE_MS)) return current;
    current?.close();
    this.#current = this.#connect();
    return this.#current;
  }

  #connect(): Connection {
    const { place, tls, deps } = this.#parts;
    const socket = openSocket(this.#parts, tls);
    return new Connection(socket, opened(socket, place.server), place, deps);
  }

  /** What a connection did not take in time, it never shall: it ends, and what was under way on it is sent again. */
  async #inTime(connection: Connection, signal: AbortSignal, work: (limited: AbortSignal) => Promise<void>): Promise<void> {
    const { deps, place, timeoutMs } = this.#parts;
    const limit = deadline(deps, timeoutMs, () => timeoutFault(place, timeoutMs), signal);
    try {
      await work(limit.signal);
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      limit.cancel();
    }
  }
}

function framed(message: Uint8Array, framing: Framing): readonly Uint8Array[] {
  return framing === 'lines' ? [message, Buffer.from('\n')] : [Buffer.from(`${message.byteLength} `), message];
}
