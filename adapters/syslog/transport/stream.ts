// Messages → one framed connection; accepted if it stays open for `settle` afterwards.
import { deadline } from '../../../src/time/clock.ts';
import type { Outcome } from '../../adapter.ts';
import { syslogTimeoutFault } from '../syslog-fault.ts';
import { openSocket, SyslogConnection, type TlsParts } from './connection.ts';
import type { SyslogTransport, TransportParts } from './transport.ts';

/** How the stream separates messages (RFC 6587, sections 3.4.1 and 3.4.2). */
type Framing = 'counted' | 'lines';

interface StreamParts extends TransportParts {
  readonly tls: TlsParts;
  readonly framing: Framing;
  readonly settleMs: number;
}

/**
 * After this silence the stream opens a new connection, which proves that the server is reachable. Azure's load
 * balancer silently drops an idle connection after four minutes, and messages written to it are lost.
 */
const IDLE_MS = 30_000;
const FRAMING_NOTES: Readonly<Record<Framing, string>> = {
  counted: 'the length is sent before each message',
  lines: 'a line feed is sent after each message',
};
const FRAMING_ADVICE =
  'a server that expects the other framing loses every message without an error: run a drill, and search for it there';
/**
 * How long `check` waits for the server to reject the client certificate: in TLS 1.3 that comes after the handshake.
 */
const REJECTION_MS = 500;

/**
 * Sends over one connection, which it opens at the first message. Concurrent calls share the connection, in the order
 * of the calls.
 */
export class Stream implements SyslogTransport {
  readonly #parts: StreamParts;
  #current: SyslogConnection | null = null;
  #sending = 0;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** Accepts all messages or none. */
  async send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const connection = this.#connection();
    const bytes = Buffer.concat(messages.flatMap((message) => framed(message, this.#parts.framing)));
    this.#sending += 1;
    try {
      await this.#withTimeout(connection, signal, async (limited) => {
        await connection.open(limited);
        await connection.write(bytes, limited);
      });
      await connection.settle(this.#parts.settleMs, signal);
    } finally {
      this.#sending -= 1;
    }
    return messages.map(() => 'accepted');
  }

  /**
   * Opens a separate connection, which must stay open for `settle`. Returns a note about the framing, which only a
   * message could test.
   */
  async check(signal: AbortSignal): Promise<string> {
    const connection = this.#connect();
    try {
      await this.#withTimeout(connection, signal, (limited) => connection.open(limited));
      await connection.settle(Math.max(this.#parts.settleMs, REJECTION_MS), signal);
    } finally {
      connection.destroy();
    }
    return `${FRAMING_NOTES[this.#parts.framing]} (framing: ${this.#parts.framing}); ${FRAMING_ADVICE}`;
  }

  close(): void {
    this.#current?.close();
  }

  #connection(): SyslogConnection {
    const current = this.#current;
    if (current !== null && !current.hasEnded && (this.#sending > 0 || current.idleMs < IDLE_MS)) return current;
    current?.close();
    this.#current = this.#connect();
    return this.#current;
  }

  #connect(): SyslogConnection {
    const { target, tls, deps } = this.#parts;
    return new SyslogConnection(openSocket(this.#parts, tls), target, deps);
  }

  /**
   * Closes a connection that did not take the messages in time, so that a late write cannot succeed after they are sent
   * again.
   */
  async #withTimeout(
    connection: SyslogConnection,
    signal: AbortSignal,
    work: (limited: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { deps, target, timeoutMs } = this.#parts;
    using limit = deadline(deps, timeoutMs, () => syslogTimeoutFault(target, timeoutMs), signal);
    try {
      await work(limit.signal);
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }
}

function framed(message: Uint8Array, framing: Framing): readonly Uint8Array[] {
  return framing === 'lines' ? [message, Buffer.from('\n')] : [Buffer.from(`${message.byteLength} `), message];
}
