// One request → status, headers and body, without a proxy and without following redirects.
import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { BridgeError } from '../errors.ts';
import { type HttpRequest, readBody, sendRequest, UnexpectedUpgrade } from '../net/http-exchange.ts';
import type { Deps } from '../time/clock.ts';
import { SharedTimer } from '../time/shared-timer.ts';
import { networkError, notTheService } from './faults.ts';
import type { MetadataTransport, TransportAnswer, TransportRequest } from './transport.ts';

/** The limit of a good document (behaviour 4.2). */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Identifies the program in the logs of the service. */
const USER_AGENT = `scheduled-events-bridge/${packageJson.version}`;

/**
 * Shorter than a server's idle time-out, so that requests rarely meet a closed connection: a failed one is retried only
 * by the schedule.
 */
const IDLE_MS = 4000;

interface HttpTransport {
  readonly send: MetadataTransport;
  /** Refuses new requests, lets running ones end, then closes the kept connection. Idempotent. */
  close(): void;
}

/** Returns a transport that connects at its first request and then keeps one connection. */
export function createHttpTransport(deps: Pick<Deps, 'after' | 'elapsedMs'>): HttpTransport {
  const limits = new SharedTimer(deps);
  let target = targetOf('http://localhost');
  let agent: Agent | undefined;
  let running = 0;
  let endedMs = 0;
  let closed = false;
  const closeAll = () => {
    agent?.destroy();
    limits[Symbol.dispose]();
  };

  const send: MetadataTransport = async (request, signal) => {
    if (closed)
      throw new BridgeError(
        'BRIDGE_METADATA_CLOSED',
        'the client of the metadata service is closed: nothing more is sent',
      );
    signal.throwIfAborted();
    // A dedicated agent ignores HTTP_PROXY and NODE_USE_ENV_PROXY.
    agent ??= new (process.getBuiltinModule('node:http').Agent)({ keepAlive: true, maxFreeSockets: 1 });
    if (deps.elapsedMs() - endedMs > IDLE_MS) closeIdle(agent);
    if (target.url !== request.url) target = targetOf(request.url);
    running += 1;
    try {
      return await exchange(request, { target: target.options, agent }, limits, signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : networkError(error, request.url);
    } finally {
      endedMs = deps.elapsedMs();
      running -= 1;
      if (closed && running === 0) closeAll();
    }
  };

  return {
    send,
    close: () => {
      closed = true;
      if (running === 0) closeAll();
    },
  };
}

/** Parsed once, because all polls use the same URL. */
function targetOf(url: string): { readonly url: string; readonly options: RequestOptions } {
  return { url, options: urlToHttpOptions(new URL(url)) };
}

/** Called before a request instead of by a timer, which would wake the process. */
function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function timeout(url: string, timeoutMs: number): BridgeError {
  const { origin } = new URL(url);
  return new BridgeError(
    'BRIDGE_METADATA_TIMEOUT',
    `the metadata service at ${origin} gave no complete answer within ${timeoutMs / 1000} s; its first answer can take 2 minutes, ` +
      'and without a route to it (host network, primary network interface) no answer ever comes',
  );
}

async function exchange(
  { method, url, body, headers: own, timeoutMs }: TransportRequest,
  connection: Pick<HttpRequest, 'target' | 'agent'>,
  limits: SharedTimer,
  signal: AbortSignal,
): Promise<TransportAnswer> {
  const headers = { 'User-Agent': USER_AGENT, ...own };
  const limit: HttpRequest['limit'] = (pass) => limits.after(timeoutMs, () => pass(timeout(url, timeoutMs)));
  try {
    return await sendRequest({ method, url, headers, body, limit, ...connection }, signal, async (incoming) => {
      const bytes = await readBody(incoming, MAX_BODY_BYTES);
      if (bytes === null) throw tooLarge(url);
      return new Answer(incoming, bytes);
    });
  } catch (error) {
    throw error instanceof UnexpectedUpgrade ? notTheService(url, 'upgrades to another protocol') : error;
  }
}

/** Converts headers only on access. */
class Answer implements TransportAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  readonly #incoming: IncomingMessage;

  constructor(incoming: IncomingMessage, body: Uint8Array) {
    this.status = incoming.statusCode ?? 0;
    this.body = body;
    this.#incoming = incoming;
  }

  // A class, because V8 creates a hidden class for each object literal with a getter, which keeps the answer alive
  // until a full collection.
  get headers(): TransportAnswer['headers'] {
    return firstValues(this.#incoming);
  }
}

function tooLarge(url: string): BridgeError {
  return new BridgeError(
    'BRIDGE_METADATA_TOO_LARGE',
    `the answer of ${new URL(url).origin} is larger than 4 MiB: check metadata.endpoint`,
  );
}

function firstValues(incoming: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(incoming.headersDistinct).map(([name, values]) => [name, values?.[0]]));
}
