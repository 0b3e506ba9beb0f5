// An HTTP upgrade to $servicebus/websocket (AMQPWSB10) → a stream of its payload.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';

/** RFC 6455, section 1.3. */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [CONTINUATION, BINARY, CLOSE, PING, PONG] = [0x0, 0x2, 0x8, 0x9, 0xa];

/** Answers the handshake; null, and the socket ended with a status, where it is another path or protocol. */
export function acceptWebSocket({ url, headers }: IncomingMessage, socket: Duplex): Duplex | null {
  socket.on('error', () => {});
  const key = headers['sec-websocket-key'];
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
  const status =
    url?.toLowerCase() !== '/$servicebus/websocket'
      ? 404
      : key === undefined || !protocols.includes('AMQPWSB10')
        ? 400
        : 101;
  if (status !== 101) {
    socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    return null;
  }
  const accept = createHash('sha1').update(`${key}${HANDSHAKE_GUID}`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: AMQPWSB10\r\n\r\n`,
  );
  return new WebSocketStream(socket);
}

/** The server's side of one WebSocket: binary messages joined to a stream (RFC 6455, section 5). */
class WebSocketStream extends Duplex {
  readonly #socket: Duplex;
  #received = Buffer.alloc(0);

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(frame(BINARY, chunk), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(frame(CLOSE, Buffer.from([0x03, 0xe8])), () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (let read = unframe(this.#received); read; read = unframe(this.#received)) {
      this.#received = this.#received.subarray(read.length);
      if (read.opcode === BINARY || read.opcode === CONTINUATION) this.push(read.payload);
      else if (read.opcode === PING) this.#socket.write(frame(PONG, read.payload));
      else if (read.opcode === CLOSE) this.push(null);
    }
  }
}

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

interface ReadFrame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly length: number;
}

/** The first whole frame, unmasked; null while it is not here yet. */
function unframe(bytes: Buffer): ReadFrame | null {
  if (bytes.length < 2) return null;
  const short = bytes.readUInt8(1) & 0x7f;
  const maskAt = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < maskAt + 4) return null;
  const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const start = maskAt + 4;
  if (bytes.length < start + size) return null;
  const mask = bytes.subarray(maskAt, start);
  const payload = Buffer.from(bytes.subarray(start, start + size));
  for (let index = 0; index < size; index += 1) payload[index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0);
  return { opcode: bytes.readUInt8() & 0x0f, payload, length: start + size };
}
