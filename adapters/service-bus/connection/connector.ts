// A namespace and its options → connections: TCP or TLS, through a proxy, in a WebSocket.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { openTunnel, type ProxyServer } from '../../../src/net/proxy-connect.ts';
import { type NamespaceEndpoint, showEndpoint } from '../options/connection-string.ts';
import { openWebSocket } from './websocket-stream.ts';

/** Opens one connection. @throws what Node throws, a BridgeError, or the signal's reason */
export type Connect = (signal: AbortSignal) => Promise<Duplex>;

export type AmqpTransport = 'amqp' | 'websocket';

interface ConnectorOptions {
  readonly endpoint: NamespaceEndpoint;
  readonly transport: AmqpTransport;
  /** False only for the emulator. */
  readonly isSecure: boolean;
  /** Returns the authorities to trust; null: the default. */
  readonly trust: () => SecureContext | null;
  readonly proxy: ProxyServer | null;
  /** The name of the namespace in messages. */
  readonly who: string;
}

const PROXY_FAULTS = { code: 'BRIDGE_SERVICE_BUS_PROXY', target: 'this host and port' } as const;
/** The path and protocol of the SDK's own WebSockets. */
const WEBSOCKET = { path: '/$servicebus/websocket', protocol: 'AMQPWSB10' };

export function connector(options: ConnectorOptions): Connect {
  const { endpoint, transport, isSecure, trust, proxy, who } = options;
  const { host } = endpoint;
  const port = endpoint.port ?? (transport === 'websocket' ? 443 : isSecure ? 5671 : 5672);
  return async (signal) => {
    signal.throwIfAborted();
    const tunnel = proxy === null ? null : await openTunnel(proxy, showEndpoint({ host, port }), PROXY_FAULTS, signal);
    const socket = isSecure ? await secure(tunnel, { host, port }, trust(), signal) : await plain(host, port, signal);
    if (transport === 'amqp') return socket;
    return await openWebSocket(socket, { authority: showEndpoint(endpoint), ...WEBSOCKET, who }, signal);
  };
}

function plain(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return opened(process.getBuiltinModule('node:net').connect({ host, port, noDelay: true, keepAlive: true }), 'connect', signal);
}

function secure(
  tunnel: Socket | null,
  { host, port }: { readonly host: string; readonly port: number },
  trusted: SecureContext | null,
  signal: AbortSignal,
): Promise<Socket> {
  const isName = process.getBuiltinModule('node:net').isIP(host) === 0;
  const socket = process.getBuiltinModule('node:tls').connect({
    ...(tunnel === null ? { port } : { socket: tunnel }),
    host,
    ...(isName && { servername: host }),
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ...(trusted && { secureContext: trusted }),
  });
  socket.setNoDelay(true).setKeepAlive(true);
  return opened(socket, 'secureConnect', signal);
}

/** Resolves when the socket is open. Otherwise destroys it and rejects. */
function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', abort);
      socket.off('error', settle).off('close', closed);
      if (error === undefined) return resolve(socket);
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const abort = () => settle(signal.reason);
    const closed = () => settle(new Error('closed before it was open'));
    signal.addEventListener('abort', abort, { once: true });
    socket
      .once(event, () => settle())
      .on('error', settle)
      .on('close', closed);
  });
}
