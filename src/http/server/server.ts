// Address, certificate and routes → a bounded HTTP server that closes without cutting answers off.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BridgeError, codeOf, messageOf } from '../../errors.ts';
import type { DropReason } from '../../model/problems.ts';
import type { Deps } from '../../time/clock.ts';
import type { ListenAddress } from '../options.ts';
import { Connections } from './connections.ts';
import { createNodeServer, type NodeServerParts } from './node-server.ts';

/** How long answers under way may take once the server closes. */
const CLOSE_MS = 5000;

export interface HttpServerParts extends Omit<NodeServerParts, 'connections'> {
  /** Port 0: any free one. */
  readonly listen: ListenAddress;
  /** A connection was dropped, of this address or IPv6 network. */
  readonly onDropped?: (network: string, reason: DropReason) => void;
}

export interface HttpServer extends AsyncDisposable {
  /** Resolves once it listens. @throws BridgeError BRIDGE_HTTP_LISTEN, BRIDGE_HTTP_TLS */
  start(): Promise<{ readonly port: number }>;
}

/** Opens nothing before `start`. */
export function createHttpServer(parts: HttpServerParts): HttpServer {
  const connections = new Connections(parts.deps, parts.onDropped ?? (() => {}));
  let server: Server | null = null;
  return {
    async start() {
      server = createNodeServer({ ...parts, connections });
      const { port } = await listen(server, parts);
      server.on('error', (error) => parts.logger.error({ err: error }, `${parts.setting}: the HTTP server failed`));
      return { port };
    },
    async [Symbol.asyncDispose]() {
      if (server !== null) await close(server, connections, parts.deps);
    },
  };
}

function listen(server: Server, { listen: { host, port }, setting }: HttpServerParts): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(listenError(cause, `${host}:${port}`, setting)));
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve(server.address() as AddressInfo);
    });
  });
}

function listenError(cause: Error, address: string, setting: string): BridgeError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there. Stop it, or choose another port',
    EACCES: 'this user may not. Choose a port above 1023, or give the right to',
    EADDRNOTAVAIL: 'this machine has no such address. Choose one that it has',
    ENOTFOUND: 'the name does not resolve. Give an IP address',
  };
  const reason = reasons[codeOf(cause) ?? ''] ?? `${messageOf(cause)}. Choose another address`;
  return new BridgeError('BRIDGE_HTTP_LISTEN', `Cannot listen on ${address} (${setting}): ${reason}.`, { cause });
}

async function close(server: Server, connections: Connections, deps: Pick<Deps, 'after'>): Promise<void> {
  if (!server.listening) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  connections.closeQuiet();
  const cancel = deps.after(CLOSE_MS, () => connections.closeAll());
  await promise;
  cancel();
}
