// A namespace and credentials → an SDK client with the bridge's sockets, for one connection.
import type { ServiceBusClient, ServiceBusClientOptions } from '@azure/service-bus';
import type { AzureToken } from '../../../src/azure/credential.ts';
import { type Deps, sleep } from '../../../src/time/clock.ts';
import { showEndpoint } from '../options/connection-string.ts';
import type { Target } from './access.ts';
import { AmqpSockets } from './amqp-socket.ts';
import type { Connect } from './connector.ts';

/** The SDK's time limit is longer than the bridge's, because its error has fewer details. */
const SDK_SLACK_MS = 5000;
/** Time limit for closing: if the server does not answer, the SDK's `close` never ends. */
const CLOSE_MS = 2000;
/**
 * The SDK renews a token two minutes before it expires. It would renew a shorter one in a loop, and its timer holds at
 * most 24 days.
 */
const LEAST_RENEWAL_MS = 150_000;
const MOST_RENEWAL_MS = 20 * 86_400_000;

/** The scope of a token, in every cloud. */
export const TOKEN_SCOPE = 'https://servicebus.azure.net/.default';

export type BusClientDeps = Pick<Deps, 'after' | 'wallMs'>;

export class BusClient {
  readonly client: ServiceBusClient;
  /** Aborts with the socket's error if a connection is lost or cannot be opened. The client is then unusable. */
  readonly lost: AbortSignal;
  readonly #sockets: AmqpSockets;
  readonly #deps: BusClientDeps;
  #closing: Promise<void> | null = null;

  private constructor(client: ServiceBusClient, sockets: AmqpSockets, lost: AbortSignal, deps: BusClientDeps) {
    this.client = client;
    this.lost = lost;
    this.#sockets = sockets;
    this.#deps = deps;
  }

  /**
   * Loads the SDK and creates a client without connecting.
   * @param timeoutMs the caller's time limit for one operation
   */
  static async create(target: Target, connect: Connect, timeoutMs: number, deps: BusClientDeps): Promise<BusClient> {
    const { ServiceBusClient: Client } = await import('./sdk.ts');
    const lost = new AbortController();
    const sockets = new AmqpSockets(connect, (error) => lost.abort(error));
    const options: ServiceBusClientOptions = {
      // The lane retries. The delays apply to a receiver that reconnects.
      retryOptions: {
        maxRetries: 0,
        timeoutInMs: timeoutMs + SDK_SLACK_MS,
        retryDelayInMs: 1000,
        maxRetryDelayInMs: 1000,
      },
      webSocketOptions: { webSocket: sockets.Socket },
      userAgentOptions: { userAgentPrefix: 'scheduled-events-bridge' },
    };
    const { credential } = target;
    const own =
      'token' in credential
        ? { getToken: async () => renewable(await credential.token(TOKEN_SCOPE, lost.signal), deps) }
        : credential;
    return new BusClient(new Client(showEndpoint(target.endpoint), own, options), sockets, lost.signal, deps);
  }

  /** Closes links and connection, by force if the server does not answer. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    this.lost.addEventListener('abort', end);
    if (this.lost.aborted) end();
    this.client.close().then(end, end);
    await sleep(this.#deps, CLOSE_MS, ended.signal).catch(() => undefined);
    this.#sockets.cut();
  }
}

/** Returns the token with an expiry that suits the SDK's renewal. */
function renewable(
  { token, expiresAtMs }: AzureToken,
  { wallMs }: Pick<Deps, 'wallMs'>,
): { token: string; expiresOnTimestamp: number } {
  const now = wallMs();
  return { token, expiresOnTimestamp: Math.min(Math.max(expiresAtMs, now + LEAST_RENEWAL_MS), now + MOST_RENEWAL_MS) };
}
