// A target and how to reach it → the agent that a request goes through, and a connection to see whether one could be made.
import type { Agent, ClientRequestArgs } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import { checkedLookup, type Resolve } from '../../src/net/checked-lookup.ts';
import type { ProxyServer } from '../../src/net/proxy-connect.ts';
import { judgeProxy, proxyUrl } from '../../src/net/proxy-url.ts';
import { TlsFiles } from '../../src/net/tls-files.ts';
import type { Deps } from '../../src/time/clock.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { hostOf, type RequestExtras, serverNameOf } from './exchange.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { targetGuard } from './target-guard.ts';
import { touch } from './touch.ts';

/** Shorter than servers keep an idle connection (5 s with node, more elsewhere), so that hardly ever a request meets one just closed. */
const IDLE_MS = 4000;

export interface Connections {
  /** The same one as long as certificates stay what they are. @throws BridgeError BRIDGE_WEBHOOK_TLS_FILES */
  agent(): Agent;
  /** Connects as a request would, TLS included, and sends none. Rejects with the signal's reason, a BridgeError, or what node throws. */
  touch(signal: AbortSignal): Promise<void>;
  /** Ends idle connections. */
  close(): void;
}

interface ConnectionParts {
  readonly url: URL;
  /** Hands on checked addresses alone. */
  readonly lookup: LookupFunction;
  /** At once. */
  readonly sockets: number;
  readonly deps: Pick<Deps, 'after'>;
  readonly tls?: {
    /** Another object once the files changed; null: what the machine trusts, and no certificate of our own. */
    readonly context: () => SecureContext | null;
    /** In place of the url's host. */
    readonly serverName: string | null;
  };
  readonly proxy?: ProxyServer | null;
}

/** Connects at the first request. */
function connectionsTo(parts: ConnectionParts): Connections {
  let current: { readonly agent: Agent; readonly context: SecureContext | null } | null = null;
  const agent = () => {
    const context = parts.tls?.context() ?? null;
    if (current === null || current.context !== context) {
      if (current !== null) retire(current.agent);
      current = { agent: createAgent(parts, context), context };
    }
    return current.agent;
  };
  return {
    agent,
    touch: async (signal) => await touch(agent(), parts, signal),
    close: () => current?.agent.destroy(),
  };
}

/** The same, with what a sink's `tls` and `proxy` say; its secrets are open. */
export function configuredConnections(
  { tls, proxy }: ConnectionOptions,
  {
    deps,
    resolve,
    ...to
  }: Pick<ConnectionParts, 'url' | 'lookup' | 'sockets'> & { readonly deps: AdapterDeps; readonly resolve?: Resolve | undefined },
): Connections {
  const files =
    tls === undefined ? null : new TlsFiles(tls, { owner: `sinks.${deps.name}`, section: 'tls', code: 'BRIDGE_WEBHOOK_TLS_FILES' }, deps);
  const context = () => files?.context() ?? null;
  return connectionsTo({
    ...to,
    deps,
    tls: { context, serverName: tls?.serverName ?? null },
    proxy: proxy === undefined ? null : configuredProxy(proxyUrl(proxy), deps.name, context, resolve),
  });
}

function configuredProxy(url: URL, sink: string, trust: ProxyServer['trust'], resolve: Resolve | undefined): ProxyServer {
  const guard = targetGuard({ sink, origin: `the proxy ${url.origin}`, judge: judgeProxy, key: 'proxy' });
  return { url, who: `sink ${sink}: the proxy ${url.origin}`, lookup: checkedLookup(guard, resolve), trust };
}

/** A keep-alive agent of our own: the environment's proxy settings reach the global one alone. */
function createAgent({ url, sockets, tls, proxy }: ConnectionParts, context: SecureContext | null): Agent {
  const options = { keepAlive: true, maxSockets: sockets, maxFreeSockets: sockets, timeout: IDLE_MS };
  if (url.protocol !== 'https:') return through(proxy, new (process.getBuiltinModule('node:http').Agent)(options));
  const secure = {
    ...options,
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    servername: tls?.serverName ?? serverNameOf(hostOf(url)),
    ...(context && { secureContext: context }),
  };
  return through(proxy, new (process.getBuiltinModule('node:https').Agent)(secure));
}

/** Lets an agent connect through a proxy; TLS is then spoken with the target, inside the tunnel. */
function through(proxy: ProxyServer | null | undefined, agent: Agent): Agent {
  if (!proxy) return agent;
  const direct = agent.createConnection.bind(agent);
  const isSecure = agent instanceof process.getBuiltinModule('node:https').Agent;
  agent.createConnection = (options: ClientRequestArgs & Partial<RequestExtras>, done) => {
    const { host, port, lookup, until } = options;
    if (!host || !port || !lookup || !until || !done) throw new TypeError('a request through a proxy names its target, look-up and signal');
    openTunnel(proxy, { host, port: Number(port), lookup, signal: until }).then(
      (socket) => done(null, isSecure ? (direct({ ...options, socket } as ClientRequestArgs) ?? socket) : socket),
      (error: Error) => done(error, null as never),
    );
    return undefined;
  };
  return agent;
}

/** No request goes through it any more: idle connections close now, those in use when their request is done. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
