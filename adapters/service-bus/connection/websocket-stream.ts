// A connection to a server → a stream of bytes in the binary messages of a WebSocket on it (RFC 6455, client side, with one subprotocol).
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { BridgeError } from '../../../src/errors.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { frame, Opcode, type ReceivedFrame, takeFrames } from './websocket-frames.ts';

const SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export interface WebSocketTarget {
  /** Host and, where it is not the usual one, port. */
  readonly authority: string;
  readonly path: string;
  readonly protocol: string;
  /** How messages name the server. */
  readonly who: string;
}

/** Asks for a WebSocket on `socket`, which it owns from then on. @throws BridgeError, what node throws, or the signal's reason. */
export async function openWebSocket(
  socket: Duplex,
  { authority, path, protocol, who }: WebSocketTarget,
  deps: Pick<Deps, 'random'>,
  signal: AbortSignal,
): Promise<Duplex> {
  const key = randomBytesOf(16, deps).toString('base64');
  const request = process.getBuiltinModule('node:http').request({
    createConnection: () => socket,
    path,
    headers: {
      host: authority,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': protocol,
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  request.on('error', reject);
  request.on('response', ({ statusCode = 0 }) => reject(noWebSocket(who, `answered ${statusCode}`, statusCode)));
  request.on('upgrade', (answer, stream, head) => {
    if (!isAccepted(answer, key, protocol)) return reject(noWebSocket(who, 'answered with another protocol', 'handshake'));
    resolve(new WebSocketStream(stream, head, deps));
  });
  request.end();
  try {
    return await promise;
  } catch (error) {
    request.destroy();
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function isAccepted({ headers }: IncomingMessage, key: string, protocol: string): boolean {
  const accepted = createHash('sha1')
    .update(key + SUFFIX)
    .digest('base64');
  const agreed = headers['sec-websocket-protocol'];
  return headers['sec-websocket-accept'] === accepted && agreed?.toLowerCase() === protocol.toLowerCase();
}

/** Bytes in, binary messages out, and back; texts and broken frames end it with an error. */
class WebSocketStream extends Duplex {
  readonly #socket: Duplex;
  readonly #deps: Pick<Deps, 'random'>;
  #unread: Buffer;
  #ended = false;

  constructor(socket: Duplex, head: Buffer, deps: Pick<Deps, 'random'>) {
    super();
    this.#socket = socket;
    this.#deps = deps;
    this.#unread = head;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => this.#end());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    if (head.length > 0) queueMicrotask(() => this.#receive(Buffer.alloc(0)));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(Opcode.binary, chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    // 1000: a normal closure.
    this.#send(Opcode.close, Buffer.from([0x03, 0xe8]), (error) => {
      this.#socket.end();
      done(error);
    });
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #send(opcode: number, payload: Uint8Array, done?: (error?: Error | null) => void): void {
    this.#socket.write(frame(opcode, payload, randomBytesOf(4, this.#deps)), done);
  }

  #receive(chunk: Buffer): void {
    const taken = takeFrames(this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]));
    if (taken === null) return void this.destroy(new Error('a frame that no WebSocket server may send'));
    this.#unread = taken.rest;
    for (const received of taken.frames) this.#take(received);
  }

  #take({ opcode, payload }: ReceivedFrame): void {
    if (opcode === Opcode.ping) this.#send(Opcode.pong, payload);
    else if (opcode === Opcode.close) this.#end();
    else if (opcode === Opcode.text) this.destroy(new Error('a text where bytes were agreed on'));
    else if (opcode !== Opcode.pong && !this.#ended && payload.length > 0 && !this.push(payload)) this.#socket.pause();
  }

  #end(): void {
    if (!this.#ended) this.push(null);
    this.#ended = true;
  }
}

function randomBytesOf(count: number, { random }: Pick<Deps, 'random'>): Buffer {
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}

function noWebSocket(who: string, what: string, status: number | string): BridgeError {
  const message = `${who} ${what} instead of opening a WebSocket: see whether a proxy or firewall answers in its place, or set transport: amqp`;
  return new BridgeError('BRIDGE_SERVICE_BUS_BROKEN', message, { disposition: 'retry', scope: 'sink', status });
}
