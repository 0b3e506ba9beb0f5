// The keys `tls` and `proxy`, and a target → the agent of its requests, and a test connection.
import type { Agent, ClientRequestArgs } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import * as v from 'valibot';
import { hostOf, type RequestExtras, serverNameOf } from '../../src/net/http-exchange.ts';
import { checkedLookup, type Resolve } from '../../src/net/private-addresses.ts';
import { judgeProxy, proxyEntry, proxyFault, proxyUrl } from '../../src/net/proxy-url.ts';
import { TlsFiles } from '../../src/net/tls-files.ts';
import { tlsFaults, tlsSection } from '../../src/net/tls-options.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import type { EntriesOf } from '../../src/schema/pieces.ts';
import type { AdapterDeps } from '../adapter.ts';
import { openCheckedTunnel, type SinkProxy } from './checked-tunnel.ts';
import { type HttpPlace, targetGuard, whoOf } from './failures.ts';

/**
 * Shorter than the idle time-out of servers (5 s with Node, more elsewhere), so that requests rarely meet a connection
 * that was just closed.
 */
const IDLE_MS = 4000;

export const connectionEntries = {
  tls: v.exactOptional(
    v.pipe(
      tlsSection({ shownTo: 'the receiver', host: 'the host of the url' }),
      v.description('TLS of the connection to an https:// url. The files are read again when they change.'),
    ),
  ),
  proxy: proxyEntry(
    'An HTTP proxy that connects to the url by CONNECT: http://host:port. With a user and password only as a secret.',
  ),
};

export type ConnectionOptions = EntriesOf<typeof connectionEntries>;

/**
 * Returns the faults of open files and secrets.
 * @param url null if the URL itself is faulty
 * @param key the key that contains it
 */
export function connectionFaults(
  { tls, proxy }: ConnectionOptions,
  url: URL | null,
  key: string,
): readonly OptionFault[] {
  const faults: OptionFault[] = tls === undefined ? [] : [...tlsFaults(tls, 'tls')];
  if (proxy !== undefined) {
    const fault = proxyFault(proxy);
    if (fault !== null) return [...faults, { key: 'proxy', message: fault }];
  }
  const isTls = url?.protocol !== 'http:' || (proxy !== undefined && proxyUrl(proxy).protocol === 'https:');
  if (tls !== undefined && !isTls)
    faults.push({ key: 'tls', message: `has no effect with an http:// ${key}: use https://, or remove it` });
  return faults;
}

export interface ConnectionParts {
  readonly url: URL;
  readonly place: HttpPlace;
  /** Returns only checked addresses. */
  readonly lookup: LookupFunction;
  /** Maximum number of connections. */
  readonly sockets: number;
  readonly deps: AdapterDeps;
  /** Resolves names instead of the system. */
  readonly resolve?: Resolve | undefined;
}

/** Connects at the first request. */
export class HttpConnections {
  readonly #parts: ConnectionParts;
  readonly #serverName: string;
  readonly #files: TlsFiles | null;
  readonly #proxy: SinkProxy | null;
  #current: { readonly agent: Agent; readonly context: SecureContext | null } | null = null;

  /** The secrets must be open. */
  constructor({ tls, proxy }: ConnectionOptions, parts: ConnectionParts) {
    const { url, place, deps } = parts;
    const owner = { owner: `sinks.${place.sink}`, section: 'tls', code: place.codes.tlsFiles };
    this.#parts = parts;
    this.#serverName = tls?.serverName ?? serverNameOf(hostOf(url));
    this.#files = tls === undefined ? null : new TlsFiles(tls, owner, deps);
    this.#proxy = proxy === undefined ? null : this.#proxyAt(proxyUrl(proxy));
  }

  /** Returns the same agent until the certificates change. @throws BridgeError if the files are unusable */
  agent(): Agent {
    const context = this.#context();
    if (this.#current === null || this.#current.context !== context) {
      if (this.#current !== null) retire(this.#current.agent);
      this.#current = { agent: through(this.#proxy, this.#newAgent(context)), context };
    }
    return this.#current.agent;
  }

  close(): void {
    this.#current?.agent.destroy();
  }

  /** Returns null for the default authorities without a client certificate. */
  #context(): SecureContext | null {
    return this.#files?.context() ?? null;
  }

  #proxyAt(url: URL): SinkProxy {
    const { place, resolve } = this.#parts;
    const own = { ...place, target: `the proxy ${url.origin}`, key: 'proxy' };
    const lookup = checkedLookup(targetGuard(own, judgeProxy), resolve);
    return { place: own, server: { url, who: whoOf(own), lookup, trust: () => this.#context() } };
  }

  /** Creates a separate keep-alive agent: the environment's proxy settings apply only to the global agent. */
  #newAgent(context: SecureContext | null): Agent {
    const { url, sockets } = this.#parts;
    const options = { keepAlive: true, maxSockets: sockets, maxFreeSockets: sockets, timeout: IDLE_MS };
    if (url.protocol !== 'https:') return new (process.getBuiltinModule('node:http').Agent)(options);
    return new (process.getBuiltinModule('node:https').Agent)({
      ...options,
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      servername: this.#serverName,
      ...(context && { secureContext: context }),
    });
  }
}

/** Makes an agent connect through a proxy. TLS is end-to-end with the target, inside the tunnel. */
function through(proxy: SinkProxy | null, agent: Agent): Agent {
  if (!proxy) return agent;
  const direct = agent.createConnection.bind(agent);
  const isSecure = agent instanceof process.getBuiltinModule('node:https').Agent;
  agent.createConnection = (options: ClientRequestArgs & Partial<RequestExtras>, done) => {
    const { host, port, lookup, until } = options;
    if (!host || !port || !lookup || !until || !done)
      throw new TypeError('a request through a proxy needs a host, port, look-up and signal');
    openCheckedTunnel(proxy, { host, port: Number(port), lookup, signal: until }).then(
      (socket) => done(null, isSecure ? (direct({ ...options, socket } as ClientRequestArgs) ?? socket) : socket),
      (error: Error) => done(error, null as never),
    );
    return undefined;
  };
  return agent;
}

/** Closes idle connections now, and the others when their requests are done. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
