// A port → a TCP or TLS connection that sends and reads what a test wants, byte for byte.
import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';
import tls from 'node:tls';
import { poll } from './poll.ts';

export interface RawOptions {
  /** One of the host's own, such as 127.0.0.2. */
  readonly localAddress?: string;
  readonly isTls?: boolean;
}

export class RawConnection {
  readonly socket: net.Socket;
  /** All that came. */
  text = '';
  isClosed = false;
  readonly #options: RawOptions;

  constructor(port: number, options: RawOptions = {}) {
    const { localAddress } = options;
    const target = { host: '127.0.0.1', port, ...(localAddress !== undefined && { localAddress }) };
    this.#options = options;
    this.socket = options.isTls ? tls.connect({ ...target, rejectUnauthorized: false }) : net.connect(target);
    // A reset is one way in which it may end.
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    this.socket.pause();
  }

  async connected(): Promise<this> {
    await once(this.socket, this.#options.isTls ? 'secureConnect' : 'connect');
    return this;
  }

  send(text: string | Uint8Array): this {
    this.socket.write(text);
    return this;
  }

  /** Reads from now on. */
  read(): this {
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      this.text += text;
    });
    this.socket.resume();
    return this;
  }

  /** Resolves once so many answers have begun. */
  async answers(count: number): Promise<void> {
    await poll(() => this.text.split('HTTP/1.1 ').length > count, `${count} answers`);
  }

  async closed(): Promise<void> {
    await poll(() => this.isClosed, 'the end of a connection');
  }
}

/** Connected, and gone behind the test. */
export async function rawConnections(
  t: TestContext,
  count: number,
  port: number,
  options?: RawOptions,
): Promise<RawConnection[]> {
  const made = Array.from({ length: count }, () => new RawConnection(port, options));
  t.after(() => {
    for (const { socket } of made) socket.destroy();
  });
  return Promise.all(made.map((connection) => connection.connected()));
}

export async function rawConnection(t: TestContext, port: number, options?: RawOptions): Promise<RawConnection> {
  const [connection] = await rawConnections(t, 1, port, options);
  return connection as RawConnection;
}
