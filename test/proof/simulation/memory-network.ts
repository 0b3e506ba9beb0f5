// Listeners of bridges in this process → reached in memory, so that answers need no real time.
import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';

type OnConnection = (socket: Duplex) => void;

/** One end of a connection. */
class MemorySocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  other: MemorySocket | null = null;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.other?.push(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.other?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.other?.destroyed === false) this.other.push(null);
    done(error);
  }

  resetAndDestroy(): this {
    this.other?.destroy();
    return this.destroy();
  }
}

class MemoryListener extends EventEmitter {
  listening = false;
  readonly #onConnection: OnConnection;
  readonly #open = new Set<MemorySocket>();
  #port = 0;
  #closed: (() => void) | null = null;

  constructor(onConnection: OnConnection) {
    super();
    this.#onConnection = onConnection;
  }

  listen(_where: object, done: () => void): this {
    this.#port = freePort();
    listeners.set(this.#port, this);
    this.listening = true;
    process.nextTick(done);
    return this;
  }

  address(): { port: number } {
    return { port: this.#port };
  }

  close(done: () => void): this {
    this.listening = false;
    listeners.delete(this.#port);
    this.#closed = done;
    this.#settle();
    return this;
  }

  connect(): MemorySocket {
    const [here, there] = [new MemorySocket({ allowHalfOpen: true }), new MemorySocket({ allowHalfOpen: true })];
    here.other = there;
    there.other = here;
    this.#open.add(here);
    here.once('close', () => {
      this.#open.delete(here);
      this.#settle();
    });
    this.#onConnection(here);
    return there;
  }

  #settle(): void {
    if (this.#closed !== null && this.#open.size === 0) process.nextTick(this.#closed);
    if (this.#open.size === 0) this.#closed = null;
  }
}

const listeners = new Map<number, MemoryListener>();
/** A URL with port 80 has no port, and none has one above 65,535: a long run uses the ports again. */
const PORTS = { first: 10_000, last: 59_999 } as const;
let nextPort: number = PORTS.first;

function freePort(): number {
  const port = nextPort;
  nextPort = port === PORTS.last ? PORTS.first : port + 1;
  return listeners.has(port) ? freePort() : port;
}

/** From now on, every listener of this process is one in memory. For processes that only simulate. */
export function listenInMemory(): void {
  const net = process.getBuiltinModule('node:net') as unknown as { createServer: unknown };
  net.createServer = (_options: object, onConnection: OnConnection) => new MemoryListener(onConnection);
}

export interface MemoryAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Asks a listener over a connection of its own; null if nothing listens or the connection ends without an answer. */
export function askInMemory(
  url: string,
  method: string,
  path: string,
  request: { readonly token?: string; readonly body?: object },
): Promise<MemoryAnswer | null> {
  const listener = listeners.get(Number(new URL(url).port));
  if (listener === undefined) return Promise.resolve(null);
  const socket = listener.connect();
  const body = request.body === undefined ? '' : JSON.stringify(request.body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    ...(request.token === undefined ? [] : [`Authorization: Bearer ${request.token}`]),
    ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.once('close', () => resolve(null));
    socket.once('end', () => {
      resolve(readAnswer(Buffer.concat(parts).toString()));
      socket.destroy();
    });
  });
}

function readAnswer(text: string): MemoryAnswer | null {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (status === undefined) return null;
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  return { status: Number(status), body: body === '' ? null : JSON.parse(body) };
}
