// Configuration and bridge → the main HTTP listener and, if configured, the health listener.

import type { Logger } from 'pino';
import { touches } from '../config/changes.ts';
import type { Config } from '../config/config.ts';
import { urlHost } from '../formats/url-host.ts';
import { type BridgePorts, bridgeRoutes } from '../http/bridge-routes.ts';
import { Callers, ConfiguredCallers } from '../http/callers.ts';
import { consoleRoutes } from '../http/console-routes.ts';
import { type HealthPorts, healthRoutes } from '../http/health-routes.ts';
import { DropLog } from '../http/server/drop-log.ts';
import { type HttpServerParts, openHttpServer } from '../http/server/server.ts';
import type { Streams } from '../http/stream/streams.ts';
import type { DropReason } from '../model/problems.ts';
import { isLoopback } from '../net/private-addresses.ts';
import type { Deps } from '../time/clock.ts';

const SECOND_MS = 1000;

interface HttpInterfaceParts
  extends HealthPorts,
    Pick<BridgePorts, 'events' | 'approvals' | 'reload' | 'operations' | 'drills' | 'asyncApi'> {
  readonly config: Pick<Config, 'http' | 'approvals'>;
  /** A request to `/v1/*` had no valid credentials. */
  readonly onUnauthorized: () => void;
  readonly onConnectionDropped: (reason: DropReason) => void;
  readonly streams: Streams;
  readonly deps: Deps;
  readonly logger: Logger;
}

export interface HttpInterface extends AsyncDisposable {
  /** `http://HOST:PORT` of `http.listen`, `https://` with `http.tls`. */
  readonly url: string;
  /** Applies other callers from the next request on. The addresses stay. */
  reload(config: Pick<Config, 'http' | 'approvals'>, paths: readonly string[]): void;
}

/** Starts to listen. @throws BridgeError BRIDGE_HTTP_LISTEN, BRIDGE_HTTP_TLS; then nothing stays open */
export async function openHttpInterface(parts: HttpInterfaceParts): Promise<HttpInterface> {
  const { config, deps } = parts;
  const { listen, tls, health } = config.http;
  const logger = parts.logger.child({ area: 'http' });
  const known = new ConfiguredCallers(config, deps, logger);
  let hasConsole = config.http.console;
  const servers: AsyncDisposable[] = [];
  // Concurrently, because each waits for answers under way.
  const closeServers = () => Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  const dropLog = new DropLog(deps, logger);
  const start = async (server: Pick<HttpServerParts, 'setting' | 'listen' | 'tls' | 'routes'>) => {
    const onDropped = (network: string, reason: DropReason) => {
      parts.onConnectionDropped(reason);
      dropLog.dropped(server.setting, network, reason);
    };
    const opened = await openHttpServer({ ...server, onDropped, deps, logger });
    servers.push(opened);
    return opened;
  };
  try {
    const ports: HealthPorts = {
      readiness: parts.readiness,
      drain: parts.drain,
      metrics: onceASecond(() => metricsBytes(parts), deps),
    };
    const { port } = await start({
      setting: 'http.listen',
      listen,
      tls,
      routes: mainRoutes(parts, known, ports, () => hasConsole),
    });
    const healthOnly = healthRoutes(ports, async () => false);
    if (health !== null) await start({ setting: 'http.health', listen: health, tls: null, routes: healthOnly });
    const url = `${tls ? 'https' : 'http'}://${urlHost(listen.host)}:${port}`;
    logger.info({ url }, 'listening');
    if (tls === null && !isLoopback(listen.host))
      logger.warn(
        'http.listen is not a loopback address and has no TLS, which http.allowInsecure allows: tokens are sent in clear text',
      );
    const reload = (next: Pick<Config, 'http' | 'approvals'>, paths: readonly string[]) => {
      known.reload(next, (path) => touches(paths, path));
      hasConsole = next.http.console;
      parts.streams.judgeAll();
    };
    const close = async () => {
      // Otherwise the servers would wait for its readers.
      parts.streams.close();
      await closeServers();
    };
    return { url, reload, [Symbol.asyncDispose]: close };
  } catch (error) {
    await closeServers();
    throw error;
  }
}

/** As bytes, which all readers share. */
async function metricsBytes(ports: Pick<HealthPorts, 'metrics'>) {
  const { contentType, body } = await ports.metrics();
  return { contentType, body: Buffer.from(body) };
}

function mainRoutes(
  parts: HttpInterfaceParts,
  known: ConfiguredCallers,
  ports: HealthPorts,
  hasConsole: () => boolean,
) {
  const { config, events, approvals, reload, operations, drills, streams, asyncApi, onUnauthorized, deps } = parts;
  const logger = parts.logger.child({ area: 'http' });
  const { host } = config.http.listen;
  const onFlood = (address: string) =>
    logger.warn(
      { address },
      'too many requests without a valid token from this address: answering 429; valid tokens are not affected',
    );
  const callers = new Callers({
    known,
    requireToken: !isLoopback(host),
    host,
    deps,
    onRefused: onUnauthorized,
    onFlood,
  });
  const served: BridgePorts = { ...ports, events, approvals, reload, operations, drills, streams, asyncApi };
  return [...bridgeRoutes(served, callers), ...consoleRoutes(hasConsole, callers)];
}

/** Makes an expensive result at most once a second: callers within a second get the same one. */
export function onceASecond<T>(make: () => Promise<T>, deps: Pick<Deps, 'elapsedMs'>): () => Promise<T> {
  let made: { readonly sinceMs: number; readonly result: Promise<T> } | null = null;
  let isRunning = false;
  return () => {
    const nowMs = deps.elapsedMs();
    if (made !== null && (isRunning || nowMs - made.sinceMs < SECOND_MS)) return made.result;
    isRunning = true;
    const result = make().finally(() => {
      isRunning = false;
    });
    made = { sinceMs: nowMs, result };
    return result;
  };
}
