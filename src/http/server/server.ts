// Address, certificate and routes → a bounded HTTP server that closes without cutting answers off.
import type { Logger } from 'pino';
import { BridgeError, codeOf, messageOf } from '../../errors.ts';
import type { GuardOptions } from '../../net/guard.ts';
import { GuardedServer, type ListenAddress } from '../../net/guarded-server.ts';
import { nameAdvice } from '../../net/network-codes.ts';
import type { Deps } from '../../time/clock.ts';
import { createDispatch } from '../dispatch.ts';
import type { ServerTls } from '../options.ts';
import type { Route } from '../route.ts';
import { TlsHandshakes } from './tls-handshakes.ts';

/** How long answers under way may take once the server closes. */
const CLOSE_MS = 5000;
const KEEP_ALIVE_MS = 5000;
const MOST_WAITING = 256;

export interface HttpServerParts {
  /** The key of the configuration that `listen` came from, for messages: `http.listen` or `http.health`. */
  readonly setting: string;
  /** Port 0: any free one. */
  readonly listen: ListenAddress;
  /** Null for plain HTTP. */
  readonly tls: ServerTls | null;
  readonly routes: readonly Route[];
  readonly onDropped: GuardOptions['onDropped'];
  readonly deps: Pick<Deps, 'after' | 'wallMs' | 'elapsedMs'>;
  readonly logger: Logger;
}

interface HttpServer extends AsyncDisposable {
  readonly port: number;
}

/** Starts to listen. @throws BridgeError BRIDGE_HTTP_LISTEN, BRIDGE_HTTP_TLS */
export async function openHttpServer(parts: HttpServerParts): Promise<HttpServer> {
  const { setting, listen, tls, routes, onDropped, deps, logger } = parts;
  const secured =
    tls && new TlsHandshakes({ tls, setting, onOtherAuthorities: () => server.closeQuiet(), deps, logger });
  const server = new GuardedServer({
    keepAliveMs: KEEP_ALIVE_MS,
    mostWaiting: MOST_WAITING,
    onDropped,
    deps,
    handle: createDispatch({
      isLast: (socket) => !server.isListening || secured?.isOutdated(socket) === true,
      certificateOf: (socket) => secured?.certificateOf(socket) ?? null,
      ...{ routes, deps, logger },
    }),
    ...(secured && { secure: (tcp, begin) => secured.begin(tcp, begin) }),
    onFailed: (error) => logger.error({ err: error }, `${setting}: the HTTP server failed`),
  });
  const { port } = await server.listen(listen).catch((cause) => {
    throw listenError(cause, `${listen.host}:${listen.port}`, setting);
  });
  return { port, [Symbol.asyncDispose]: () => server.close(CLOSE_MS) };
}

function listenError(cause: unknown, address: string, setting: string): BridgeError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there. Stop it, or choose another port',
    EACCES: 'this user may not. Choose a port above 1023, or give the right to',
    EADDRNOTAVAIL: 'this machine has no such address. Choose one that it has',
  };
  const code = codeOf(cause) ?? '';
  const reason = reasons[code] ?? `${nameAdvice(code, cause) ?? messageOf(cause)}. Choose another address`;
  return new BridgeError('BRIDGE_HTTP_LISTEN', `Cannot listen on ${address} (${setting}): ${reason}.`, { cause });
}
