// A socket → a stream that lets one request at a time through to Node's HTTP server.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { nextTurn } from '../time/fair-queue.ts';
import type { ClientConnection } from './guard.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** How much of the socket's bytes is looked through at once. */
const LOOK_BYTES = 4096;
/**
 * So much of a body at once: behind its end other requests may follow, and Node makes objects of all that it is given.
 */
const BODY_BYTES = 1024;
const NOTHING = Buffer.alloc(0);
/** Node reads so much at once, and keeps it as a whole until the last byte of it is used. */
const READ_BYTES = 64 * 1024;

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Called when all answers before it were taken. */
  readonly begin: () => void;
}

/**
 * Node parses all that one read brought, up to 64 KiB with 2,000 requests, before anything else has its turn. Here each
 * slice ends with the head of a request, a slice goes in once a turn of the event loop, and none while an answer is
 * made or waits to be read.
 */
export class RequestGate extends Duplex {
  readonly connection: ClientConnection;
  readonly #socket: Socket;
  readonly #asked: Asked[] = [];
  #held: Buffer = NOTHING;
  /** Bytes of the requests that are not answered, as far as they went in. */
  #given = 0;
  #isWanted = false;
  #isTurnTaken = false;
  #hasEnded = false;

  constructor(socket: Socket, connection: ClientConnection) {
    super({ allowHalfOpen: true, decodeStrings: false });
    this.#socket = socket;
    this.connection = connection;
    socket.on('readable', () => this.#feedSoon());
    socket.on('end', () => {
      this.#hasEnded = true;
      this.#feedSoon();
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  ask(asked: Asked): void {
    this.#asked.push(asked);
    asked.response.once('close', () => this.#answered());
    if (this.#asked.length === 1) asked.begin();
  }

  /** Ends when all that was written has been taken. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** A request whose body is read asks so for more of it. */
  override resume(): this {
    super.resume();
    this.#feedSoon();
    return this;
  }

  override _read(): void {
    this.#isWanted = true;
    this.#feedSoon();
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _writev(
    chunks: { chunk: string | Buffer; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.cork();
    for (const [index, { chunk, encoding }] of chunks.entries())
      this.#socket.write(chunk, encoding, index === chunks.length - 1 ? done : undefined);
    this.#socket.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #answered(): void {
    this.#asked.shift();
    if (this.#asked.length === 0) this.#given = 0;
    if (this.destroyed) return;
    const [next] = this.#asked;
    if (next === undefined) this.connection.enter('kept');
    else next.begin();
    this.#feedSoon();
  }

  #feedSoon(): void {
    if (this.#isTurnTaken) return;
    this.#isTurnTaken = true;
    nextTurn(() => {
      this.#isTurnTaken = false;
      if (this.destroyed) return;
      if (this.#isWanted) this.#feed();
      this.connection.read(this.#given + this.#held.length + this.#readAhead());
    });
  }

  #feed(): void {
    // Also if nothing may go in, to notice that the caller has gone, unless it sent more before that.
    if (this.#held.length === 0)
      this.#held = this.#socket.read(Math.min(LOOK_BYTES, this.#socket.readableLength)) ?? NOTHING;
    if (this.#held.length === 0) {
      if (this.#hasEnded) this.push(null);
      return;
    }
    const length = this.#allowed();
    if (length === 0) return;
    const slice = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    this.#isWanted = false;
    this.#given += length;
    if (this.#asked.length === 0) this.connection.resume();
    this.push(slice);
  }

  /** The memory of what was read and is not held, in bytes. */
  #readAhead(): number {
    return Math.ceil(this.#socket.readableLength / READ_BYTES) * READ_BYTES;
  }

  /** How many of the bytes that are held may go in. */
  #allowed(): number {
    const [current] = this.#asked;
    if (current === undefined) {
      const at = this.#held.indexOf(END_OF_HEAD);
      return at === -1 ? this.#held.length : at + END_OF_HEAD.length;
    }
    const { request, response } = current;
    const isStopped =
      request.complete || response.writableEnded || request.readableLength >= request.readableHighWaterMark;
    return isStopped ? 0 : Math.min(BODY_BYTES, this.#held.length);
  }
}
