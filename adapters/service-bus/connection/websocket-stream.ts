// An open connection → a byte stream in the binary messages of a WebSocket.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BridgeError, codeOf } from '../../../src/errors.ts';

/** Larger than every AMQP frame of the bridge. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;
/** Time limit for the server to close the connection after a close frame. */
const CLOSE_MS = 1000;

interface WebSocketTarget {
  /** Host, with its port if it is not the default. */
  readonly authority: string;
  readonly path: string;
  readonly protocol: string;
  /** The name of the server in messages. */
  readonly who: string;
}

/**
 * Opens a WebSocket on `socket`, and takes ownership of it. Loads `ws`.
 * @throws BridgeError, what Node throws, or the signal's reason
 */
export async function openWebSocket(socket: Socket, target: WebSocketTarget, signal: AbortSignal): Promise<Duplex> {
  const { WebSocket, createWebSocketStream } = await import('ws');
  const { authority, path, protocol, who } = target;
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // `closeTimeout` is newer than the types of ws.
  const options = {
    createConnection: () => socket,
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    closeTimeout: CLOSE_MS,
  };
  // TLS, if any, is below the WebSocket.
  const webSocket = new WebSocket(`ws://${authority}${path}`, [protocol], options);
  webSocket.on('unexpected-response', (_, { statusCode = 0 }) =>
    reject(noWebSocket(who, `answered ${statusCode}`, statusCode)),
  );
  // Errors of ws have no code: the answer is not a valid handshake.
  webSocket.on('error', (error) =>
    reject(codeOf(error) ? error : noWebSocket(who, 'answered with another protocol', 'handshake')),
  );
  webSocket.on('open', () => {
    const stream = createWebSocketStream(webSocket);
    webSocket.on(
      'message',
      (_, isBinary) => isBinary || stream.destroy(new Error('received a text message instead of bytes')),
    );
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
