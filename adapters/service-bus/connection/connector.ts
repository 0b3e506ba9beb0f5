// A namespace and its options → connections: TCP or TLS, through a proxy, in a WebSocket.
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { connectTls, untilOpen } from '../../../src/net/open-socket.ts';
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
    const socket = isSecure
      ? connectTls({ host, ...(tunnel === null ? { port } : { socket: tunnel }) }, trust())
      : process.getBuiltinModule('node:net').connect({ host, port });
    socket.setNoDelay(true).setKeepAlive(true);
    await untilOpen(socket, isSecure ? 'secureConnect' : 'connect', signal);
    if (transport === 'amqp') return socket;
    return await openWebSocket(socket, { authority: showEndpoint(endpoint), ...WEBSOCKET, who }, signal);
  };
}
