// An open connection → a stream of bytes in the binary messages of a WebSocket on it.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BridgeError, codeOf } from '../../../src/errors.ts';

/** No AMQP frame of ours asks for more. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;
/** For a server that said goodbye, or was told it, to close the connection. */
const CLOSE_MS = 1000;

export interface WebSocketTarget {
  /** Host and, where it is not the usual one, port. */
  readonly authority: string;
  readonly path: string;
  readonly protocol: string;
  /** How messages name the server. */
  readonly who: string;
}

/** Asks for a WebSocket on `socket`, which it owns from then on. Loads `ws`. @throws BridgeError, what node throws, or the signal's reason. */
export async function openWebSocket(socket: Socket, target: WebSocketTarget, signal: AbortSignal): Promise<Duplex> {
  const { WebSocket, createWebSocketStream } = await import('ws');
  const { authority, path, protocol, who } = target;
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // `closeTimeout` is younger than the types of ws.
  const options = { createConnection: () => socket, perMessageDeflate: false, maxPayload: MAX_PAYLOAD_BYTES, closeTimeout: CLOSE_MS };
  // TLS, where there is any, is spoken below it.
  const webSocket = new WebSocket(`ws://${authority}${path}`, [protocol], options);
  webSocket.on('unexpected-response', (_, { statusCode = 0 }) => reject(noWebSocket(who, `answered ${statusCode}`, statusCode)));
  // Those of ws itself have no code: what came is no answer to the handshake.
  webSocket.on('error', (error) => reject(codeOf(error) ? error : noWebSocket(who, 'answered with another protocol', 'handshake')));
  webSocket.on('open', () => {
    const stream = createWebSocketStream(webSocket);
    webSocket.on('message', (_, isBinary) => isBinary || stream.destroy(new Error('received a text message instead of bytes')));
    resolve(stream);
  });
  try {
    return await promise;
  } catch (error) {
    webSocket.terminate();
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function noWebSocket(who: string, what: string, status: number | string): BridgeError {
  const message = `${who} ${what} instead of opening a WebSocket: check whether a proxy or firewall answers instead, or set transport: amqp`;
  return new BridgeError('BRIDGE_SERVICE_BUS_BROKEN', message, { disposition: 'retry', scope: 'sink', status });
}
