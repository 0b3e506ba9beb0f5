// Deliveries → POSTs to one URL, each accepted by a 2xx alone.
import type { Agent } from 'node:http';
import type { LookupFunction } from 'node:net';
import { STRUCTURED_CONTENT_TYPE } from '../../src/cloudevents/structured.ts';
import { formatDuration } from '../../src/durations.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model.ts';
import { addressJudge } from '../../src/private-addresses.ts';
import { deadline } from '../../src/time.ts';
import type { Adapter, AdapterDeps, Outcome } from '../adapter.ts';
import { checkedLookup, checkLiteral, type Guard, type Resolve } from './checked-lookup.ts';
import { createAgent, hostOf, post, touch } from './exchange.ts';
import { networkFault, timeoutFault } from './network-fault.ts';
import { outcomeOf } from './status-outcome.ts';
import type { Target, WebhookOptions } from './webhook-options.ts';

const IN_FLIGHT = 16;

export interface WebhookAdapterOptions extends Pick<WebhookOptions, 'timeout' | 'allowPrivate'> {
  readonly target: Target;
}

/** Posts each delivery's bytes as they are, under the same `webhook-id` at every attempt. Connects at the first delivery. */
export class WebhookAdapter implements Adapter {
  readonly limits = { inFlight: IN_FLIGHT, batch: 1, batchBytes: Number.MAX_SAFE_INTEGER };
  readonly #options: WebhookAdapterOptions;
  readonly #deps: AdapterDeps;
  readonly #guard: Guard;
  readonly #lookup: LookupFunction;
  /** How messages name the sink: never more of the URL than scheme and host. */
  readonly #who: string;
  readonly #running = new Set<Promise<unknown>>();
  #agent: Agent | null = null;
  #disposal: Promise<void> | null = null;

  constructor(options: WebhookAdapterOptions, deps: AdapterDeps, resolve?: Resolve) {
    this.#options = options;
    this.#deps = deps;
    const { origin } = options.target;
    this.#who = `sink ${deps.name}: ${origin}`;
    this.#guard = { sink: deps.name, origin, judge: addressJudge(options.allowPrivate) };
    this.#lookup = checkedLookup(this.#guard, resolve);
  }

  /** Resolves the name, judges its addresses and opens a connection, TLS included; sends no request. */
  async check(signal: AbortSignal): Promise<void> {
    const failure = await this.#attempt(signal, async (limited) => {
      await touch(this.#options.target.url, this.#lookup, limited);
      return 'accepted';
    });
    if (failure !== 'accepted') throw failure;
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const delivery of batch) outcomes.push(await this.#attempt(signal, (limited) => this.#post(delivery, limited)));
    return outcomes;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= Promise.allSettled(this.#running).then(() => this.#agent?.destroy());
    return this.#disposal;
  }

  async #post(delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
    const { url, headers } = this.#options.target;
    this.#agent ??= createAgent(url, IN_FLIGHT);
    const answer = await post(
      {
        url,
        headers: { ...defaults, ...lowerCased(headers), ...framing(delivery) },
        body: delivery.bytes,
        agent: this.#agent,
        lookup: this.#lookup,
      },
      this.#deps,
      signal,
    );
    return outcomeOf(answer, this.#who, this.#deps.wallMs());
  }

  /** Runs `work` under the time limit; only an abort from outside rejects. */
  async #attempt(signal: AbortSignal, work: (limited: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    signal.throwIfAborted();
    if (this.#disposal !== null) return this.#closed();
    const { timeout, target } = this.#options;
    const limit = deadline(this.#deps, timeout, () => timeoutFault(this.#who, formatDuration(timeout)), signal);
    try {
      checkLiteral(this.#guard, hostOf(target.url));
      const running = work(limit.signal);
      this.#running.add(running);
      return await running.finally(() => this.#running.delete(running));
    } catch (error) {
      if (signal.aborted && error === signal.reason) throw error;
      return networkFault(error, this.#who);
    } finally {
      limit.cancel();
    }
  }

  #closed(): BridgeError {
    const message = `sink ${this.#deps.name} is closed: the bridge is stopping, and delivers this after its next start`;
    return new BridgeError('BRIDGE_ADAPTER_CLOSED', message, { disposition: 'retry', scope: 'sink' });
  }
}

const defaults = { 'user-agent': 'scheduled-events-bridge' };

function framing(delivery: Delivery): Record<string, string | number> {
  return {
    'content-type': `${STRUCTURED_CONTENT_TYPE}; charset=utf-8`,
    'content-length': delivery.bytes.byteLength,
    'webhook-id': delivery.id,
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
