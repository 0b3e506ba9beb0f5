// A method, a path and a body → the status and the JSON object that the API server answers.
import type { Agent } from 'node:https';
import { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { isObject, type JsonObject } from '../../../src/formats/json-object.ts';
import { secureContext } from '../../../src/net/certificates.ts';
import { exchange, type HttpAnswer, type HttpRequest, hostOf, serverNameOf } from '../../../src/net/http-exchange.ts';
import { addressJudge, checkedLookup, checkLiteral } from '../../../src/net/private-addresses.ts';
import { deadline } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import { type HttpPlace, networkFault, statusFault, targetGuard, timeoutFault } from '../../http/failures.ts';
import { jsonObject } from '../../http/json-body.ts';
import type { Access } from '../access/access.ts';
import { ClusterAccess, type ClusterDeps, type ClusterOptions } from '../access/cluster-access.ts';
import { placeOf } from '../kubernetes-codes.ts';
import type { KubernetesOptions } from '../kubernetes-options.ts';

/** A list of 50 pods has about 1 MiB, and a pod some 500 values. */
const MOST_BYTES = 4 * 1024 ** 2;
const MOST_VALUES = 100_000;
/** The maximum number of concurrent requests. */
const SOCKETS = 10;
const IDLE_MS = 30_000;
/** The address comes from the cluster, so it may be private. Addresses of the metadata service are never allowed. */
const judge = addressJudge(['0.0.0.0/0', '::/0']);

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Includes the query. */
  readonly path: string;
  readonly body?: object;
  /** Default `application/json`. */
  readonly contentType?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  /** Null if the body is not a JSON object, or has more than 4 MiB or 100,000 values. */
  readonly body: JsonObject | null;
}

/** The options for the address of the API server and the credentials. */
export type ApiOptions = ClusterOptions & Pick<KubernetesOptions, 'timeout'>;
export type ApiDeps = ClusterDeps & Pick<AdapterDeps, 'after' | 'wallMs'>;

interface Connection {
  readonly access: Access;
  readonly agent: Agent;
}

/** Connects at the first request. Does not retry. */
export class ApiClient {
  readonly #access: ClusterAccess;
  readonly #timeoutMs: number;
  readonly #deps: ApiDeps;
  #connection: Connection | null = null;

  constructor(options: ApiOptions, deps: ApiDeps) {
    this.#access = new ClusterAccess(options, deps);
    this.#timeoutMs = options.timeout;
    this.#deps = deps;
  }

  /** Returns the answer with any status. @throws BridgeError if there is no answer, or the signal's reason */
  async ask(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const { access, agent } = await this.#connect();
    const place = this.#place(access);
    using limit = deadline(
      this.#deps,
      this.#timeoutMs,
      () => timeoutFault(place, formatDuration(this.#timeoutMs)),
      signal,
    );
    try {
      const guard = targetGuard(place, judge);
      checkLiteral(guard, hostOf(access.server));
      const answer = await exchange(
        { ...requestOf(request, access), agent, lookup: checkedLookup(guard) },
        MOST_BYTES,
        limit.signal,
      );
      return { status: answer.status, headers: answer.headers, body: jsonObject(answer.body, MOST_VALUES) };
    } catch (error) {
      throw signal.aborted ? signal.reason : networkFault(error, place);
    }
  }

  /** Returns the object of a successful answer. @throws BridgeError by the status table, or the signal's reason */
  async get(request: ApiRequest, signal: AbortSignal): Promise<JsonObject> {
    const answer = await this.ask(request, signal);
    const fault = this.faultOf(answer);
    if (fault !== null) throw fault;
    if (answer.body === null) throw this.unreadable(answer);
    return answer.body;
  }

  /** Returns the error of an answer of `ask` by the status table, or null for a success. */
  faultOf(answer: ApiAnswer): BridgeError | null {
    return statusFault(answer, this.#ownPlace(), this.#deps.wallMs());
  }

  /** Returns the error of a successful answer that is not a Kubernetes object. */
  unreadable({ status }: Pick<ApiAnswer, 'status'>): BridgeError {
    const { sink, target } = this.#ownPlace();
    const message = `sink ${sink}: ${target} answered ${status}, but not with a Kubernetes object: the bridge retries; if this continues, check what answers at this address`;
    return new BridgeError('BRIDGE_KUBERNETES_ANSWER', message, { disposition: 'retry', status });
  }

  /** Closes idle connections. */
  close(): void {
    this.#connection?.agent.destroy();
  }

  async #connect(): Promise<Connection> {
    const access = await this.#access.current();
    if (this.#connection === null || !isSameConnection(this.#connection.access, access)) {
      // Requests that still use the old agent keep their sockets, which close afterwards.
      if (this.#connection !== null) this.#connection.agent.maxFreeSockets = 0;
      this.#connection = { access, agent: agentOf(access) };
    } else if (this.#connection.access !== access) this.#connection = { ...this.#connection, access };
    return this.#connection;
  }

  #place({ server }: Access): HttpPlace {
    return placeOf(this.#deps.name, server.origin);
  }

  #ownPlace(): HttpPlace {
    return placeOf(this.#deps.name, this.#connection?.access.server.origin ?? 'the API server');
  }
}

function requestOf(
  { method, path, body, contentType = 'application/json' }: ApiRequest,
  { server, token }: Access,
): HttpRequest {
  const text = body === undefined ? null : JSON.stringify(body);
  const headers = {
    accept: 'application/json',
    'user-agent': 'scheduled-events-bridge',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(text === null ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }),
  };
  return { method, url: new URL(`${server.pathname.replace(/(?<!\/)\/+$/, '')}${path}`, server), headers, body: text };
}

/** A new token needs no new connection. */
function isSameConnection(one: Access, other: Access): boolean {
  return (
    one.server.href === other.server.href &&
    (['ca', 'cert', 'key', 'serverName'] as const).every((part) => one[part] === other[part])
  );
}

function agentOf({ server, ca, cert, key, serverName }: Access): Agent {
  const context = secureContext({ ca, cert, key });
  if ('fault' in context) throw new Error(`the access ${context.fault}`);
  const { Agent } = process.getBuiltinModule('node:https');
  return new Agent({
    keepAlive: true,
    maxSockets: SOCKETS,
    timeout: IDLE_MS,
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    servername: serverName ?? serverNameOf(hostOf(server)),
    secureContext: context,
  });
}

/** In the form of a ClusterRole: `nodes/status`. */
export interface Right {
  readonly resource: string;
  readonly verb: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
}

/** Every account may make this request for itself. */
export async function isAllowed(
  api: ApiClient,
  { resource, verb, namespace }: Right,
  signal: AbortSignal,
): Promise<boolean> {
  const [name = '', subresource] = resource.split('/');
  const resourceAttributes = {
    group: '',
    resource: name,
    verb,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
  };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  const { status } = await api.get(
    { method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body },
    signal,
  );
  return isObject(status) && status['allowed'] === true;
}
