// One request → status, headers and body: direct, without proxy or redirect.
import type { Agent, IncomingMessage } from 'node:http';
import packageJson from '../../package.json' with { type: 'json' };
import { BridgeError } from '../errors.ts';
import { readBody, sendRequest, UnaskedUpgrade } from '../net/http-exchange.ts';
import { type Deps, deadline } from '../time/clock.ts';
import { networkError, notTheService } from './faults.ts';
import type { Transport, TransportAnswer, TransportRequest } from './transport.ts';

/** Of a good document (behaviour 4.2). */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Names the program in the logs of the service and of the machine. */
const USER_AGENT = `scheduled-events-bridge/${packageJson.version}`;

/** Shorter than servers keep an idle connection, so that hardly ever a request meets one just closed: what fails is not sent again before the rhythm says so. */
const IDLE_MS = 4000;

export interface HttpTransport {
  readonly send: Transport;
  /** Refuses new requests, lets running ones end, then closes the kept connection. Idempotent. */
  close(): void;
}

/** The real transport; opens nothing before its first request and then keeps one connection. */
export function createHttpTransport(deps: Pick<Deps, 'after'>): HttpTransport {
  let agent: Agent | undefined;
  let running = 0;
  let closed = false;

  const send: Transport = async (request, signal) => {
    if (closed)
      throw new BridgeError('BRIDGE_METADATA_CLOSED', 'the connection to the metadata service was closed; nothing is sent any more');
    signal.throwIfAborted();
    // An agent of our own knows no proxy, whatever HTTP_PROXY and NODE_USE_ENV_PROXY say.
    agent ??= new (process.getBuiltinModule('node:http').Agent)({ keepAlive: true, maxFreeSockets: 1, timeout: IDLE_MS });
    const limit = deadline(deps, request.timeoutMs, () => timeout(request), signal);
    running += 1;
    try {
      return await exchange(request, agent, limit.signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : networkError(error, request.url);
    } finally {
      limit.cancel();
      running -= 1;
      if (closed && running === 0) agent.destroy();
    }
  };

  return {
    send,
    close: () => {
      closed = true;
      if (running === 0) agent?.destroy();
    },
  };
}

function timeout(request: TransportRequest): BridgeError {
  const { origin } = new URL(request.url);
  return new BridgeError(
    'BRIDGE_METADATA_TIMEOUT',
    `the metadata service at ${origin} gave no complete answer within ${request.timeoutMs / 1000} s; its first answer can take 2 minutes, ` +
      'and without a route to it (host networking, the primary network interface) none ever comes',
  );
}

async function exchange({ method, url, body, ...request }: TransportRequest, agent: Agent, signal: AbortSignal): Promise<TransportAnswer> {
  const headers = { 'User-Agent': USER_AGENT, ...request.headers };
  return await sendRequest({ method, url, headers, body, agent }, signal, async (incoming) => {
    const bytes = await readBody(incoming, MAX_BODY_BYTES);
    if (bytes === null) throw tooLarge(url);
    return { status: incoming.statusCode ?? 0, headers: firstValues(incoming), body: bytes };
  }).catch((error: unknown) => {
    throw error instanceof UnaskedUpgrade ? notTheService(url, 'wants to change the protocol') : error;
  });
}

function tooLarge(url: string): BridgeError {
  return new BridgeError('BRIDGE_METADATA_TOO_LARGE', `the answer of ${new URL(url).origin} is larger than 4 MiB: check metadata.endpoint`);
}

function firstValues(incoming: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(incoming.headersDistinct).map(([name, values]) => [name, values?.[0]]));
}
