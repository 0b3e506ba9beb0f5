// An address and a request handler → HTTP on a socket, with the delays, resets and cuts of faults.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BridgeError, messageOf } from '../errors.ts';
import { ownUrlHost } from '../formats/url-host.ts';
import type { ClientConnection } from '../net/guard.ts';
import { GuardedServer, type ListenAddress, receiveBody } from '../net/guarded-server.ts';
import { isLoopback, isOwnHost } from '../net/private-addresses.ts';
import type { Deps } from '../time/clock.ts';
import { answerProblem, type SimAnswer, type SimRequest } from './answer.ts';
import { rfc1123 } from './events/event.ts';
import type { VirtualTimers } from './events/virtual-clock.ts';
import type { AnswerOutcome } from './journal.ts';

export type RequestHandler = (
  request: SimRequest,
  client: Pick<Client, 'address' | 'closed' | 'onEnd'>,
) => SimAnswer | Promise<SimAnswer>;

export interface Listener extends AsyncDisposable {
  /** `http://HOST:PORT`. */
  readonly url: string;
}

const LONGEST_BODY = 1024 * 1024;
/** Longer than any poll interval, so that a poll does not use a connection that the server is about to close. */
const KEEP_ALIVE_MS = 65_000;

/**
 * The `Host` of unmodified clients whose requests are forwarded to this port. It is safe to allow: no web page has this
 * host.
 */
const REAL_HOST = '169.254.169.254';

/** Listens and answers requests. @throws BridgeError BRIDGE_SIMULATOR_LISTEN if the address is not available */
export async function listen(address: ListenAddress, handler: RequestHandler, parts: ListenerParts): Promise<Listener> {
  const waiting = new Set<Client>();
  const hosts = [address.host, REAL_HOST, ...(parts.allowHosts ?? [])];
  const server = new GuardedServer({
    keepAliveMs: KEEP_ALIVE_MS,
    // A load test may open all connections from one address.
    mostWaiting: Number.POSITIVE_INFINITY,
    onDropped: () => {},
    onFailed: () => {},
    deps: parts.deps,
    handle: async (request, response, connection) => {
      const client = new Client(response, connection, waiting);
      const isElsewhere = isLoopback(listening.address) && isMisdirected(request, hosts);
      // The client disconnected before its request was complete or its answer was ready.
      await answer(request, response, isElsewhere ? misdirected : handler, parts, client).catch(() =>
        response.destroy(),
      );
    },
  });
  const listening = await server.listen(address).catch((cause) => {
    const at = `${address.host}:${address.port}`;
    const message = `the simulator cannot listen on ${at} (${messageOf(cause)}); free the port or choose another with --listen`;
    throw new BridgeError('BRIDGE_SIMULATOR_LISTEN', message, { cause });
  });
  const dispose = () => {
    for (const client of waiting) client.leave();
    return server.close(0);
  };
  return { url: urlOf(listening), [Symbol.asyncDispose]: dispose };
}

/**
 * Detects DNS rebinding: a web page can resolve its own name to a loopback address and then send requests there, with
 * that name in `Host`. Beyond loopback every client that reaches the port may send requests. A request without `Host`
 * does not come from a browser.
 */
function isMisdirected({ headers: { host } }: IncomingMessage, hosts: readonly string[]): boolean {
  return host !== undefined && !hosts.some((own) => isOwnHost(host, own));
}

function misdirected(): SimAnswer {
  const detail =
    'The Host header does not name this simulator: use a loopback address or the host of --listen in the URL, or allow the name with --allow-host.';
  return answerProblem({ status: 421, detail });
}

interface ListenerParts {
  /** Additional names that requests on loopback may have in `Host`. */
  readonly allowHosts?: readonly string[];
  /** Delays in real time. */
  readonly deps: Pick<Deps, 'after'>;
  /** Delays until a simulated time. */
  readonly timers: VirtualTimers;
  /** The time for the `Date` header, in milliseconds since 1970. Default: this machine's clock. */
  readonly dateMs?: () => number;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handler: RequestHandler,
  parts: ListenerParts,
  client: Client,
): Promise<void> {
  const body = await receiveBody(request, client.connection, LONGEST_BODY);
  const answer = body ? await handler(toSimRequest(request, body), client) : tooLarge();
  if (answer.delayMs !== undefined || answer.notBeforeMs !== undefined) await due(answer, parts, client.closed);
  if (!response.destroyed) send(response, answer, client, parts.dateMs?.());
}

/** Resolves when the answer is due, or when its client disconnects. */
function due({ delayMs, notBeforeMs }: SimAnswer, { deps, timers }: ListenerParts, closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const delay = () => (delayMs === undefined ? resolve() : cancels.push(deps.after(delayMs, resolve)));
    const cancels: (() => void)[] = [];
    closed.addEventListener('abort', () => {
      for (const cancel of cancels) cancel();
      resolve();
    });
    if (notBeforeMs === undefined) delay();
    else cancels.push(timers.at(notBeforeMs, delay));
  });
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${ownUrlHost(address)}:${port}`;
}

function toSimRequest(request: IncomingMessage, body: Uint8Array): SimRequest {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return { method: request.method ?? '', url: request.url ?? '', headers, body };
}

function tooLarge(): SimAnswer {
  return answerProblem({ status: 413, detail: `The body is too large: the limit is ${LONGEST_BODY} bytes.` });
}

function send(response: ServerResponse, answer: SimAnswer, client: Client, dateMs: number | undefined): void {
  if (answer.reset) {
    client.sent('reset');
    client.connection.close();
    return;
  }
  try {
    client.sent(write(response, answer, dateMs));
  } catch {
    // A fault can set headers that Node cannot send, such as Trailer. The client then gets a closed connection.
    client.sent('reset');
    response.destroy();
  }
}

function write(
  response: ServerResponse,
  { status, headers, body, truncate }: SimAnswer,
  dateMs: number | undefined,
): 'answered' | 'truncated' {
  const date: Record<string, string> =
    dateMs === undefined || headers['date'] !== undefined ? {} : { Date: rfc1123(dateMs) };
  const length: Record<string, number> = status === 204 || status === 304 ? {} : { 'content-length': body.length };
  response.writeHead(status, { ...date, ...length, ...headers });
  if (truncate === undefined || truncate >= body.length) {
    response.end(body);
    return 'answered';
  }
  response.flushHeaders();
  if (truncate > 0) response.write(body.subarray(0, truncate));
  response.socket?.destroySoon();
  return 'truncated';
}

/** A client that waits for an answer. Its connection is watched only if a caller asks for `closed` or `onEnd`. */
export class Client {
  readonly connection: ClientConnection;
  readonly #response: ServerResponse;
  readonly #waiting: Set<Client>;
  #closed: AbortController | null = null;
  /** What the simulator sent; null before it sends anything. */
  #sent: Exclude<AnswerOutcome, 'gave-up'> | null = null;

  /** @param waiting the clients that the listener notifies when it closes */
  constructor(response: ServerResponse, connection: ClientConnection, waiting: Set<Client>) {
    this.#response = response;
    this.connection = connection;
    this.#waiting = waiting;
  }

  /** The client's IP address. */
  get address(): string {
    return this.connection.address.replace(/^::ffff:(?=\d+\.)/i, '');
  }

  /** Aborts when the client disconnects, when it has its answer, or when the listener closes. */
  get closed(): AbortSignal {
    if (!this.#closed) {
      this.#closed = new AbortController();
      this.#waiting.add(this);
      if (this.#response.destroyed) this.leave();
      else this.#response.once('close', () => this.leave());
    }
    return this.#closed.signal;
  }

  /** Reports the answer's outcome, once. */
  onEnd(report: (outcome: AnswerOutcome) => void): void {
    const end = () => report(this.#outcome());
    if (this.#response.destroyed) end();
    else this.#response.once('close', end);
  }

  /** Call it when an answer begins; the connection's end shows whether the client received all of it. */
  sent(outcome: Exclude<AnswerOutcome, 'gave-up'>): void {
    this.#sent = outcome;
  }

  leave(): void {
    this.#waiting.delete(this);
    this.#closed?.abort();
  }

  #outcome(): AnswerOutcome {
    if (this.#sent === null) return 'gave-up';
    return this.#sent === 'answered' && !this.#response.writableFinished ? 'gave-up' : this.#sent;
  }
}
