// Deliveries → POSTs to one URL, each accepted by a 2xx alone.
import type { LookupFunction } from 'node:net';
import { unencodable } from '../../src/cloudevents/unencodable.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import type { Delivery } from '../../src/model/events.ts';
import { checkedLookup, checkLiteral, type Resolve } from '../../src/net/checked-lookup.ts';
import { addressJudge } from '../../src/net/private-addresses.ts';
import { deadline } from '../../src/time/clock.ts';
import type { Adapter, AdapterDeps, AdapterLimits, Outcome, Preparation } from '../adapter.ts';
import { type Connections, configuredConnections } from './connections.ts';
import { type Consent, consentOf, handshakeFault, type OptionsAnswer } from './consent.ts';
import type { ConsentOptions } from './consent-options.ts';
import { bodyLimits, type Encode, type EncodedRequest, encoder } from './encoder.ts';
import { hostOf, type Reply, type Request, send, USER_AGENT } from './exchange.ts';
import { networkFault, timeoutFault } from './network-fault.ts';
import { type Authorization, authorizationOf } from './oauth/authorization.ts';
import { type Sign, signer } from './signer.ts';
import { signingKeys } from './signing-options.ts';
import { outcomeOf } from './status-outcome.ts';
import { type TargetGuard, targetGuard } from './target-guard.ts';
import { templateEncoder } from './template/template-encoder.ts';
import type { Target, WebhookOptions } from './webhook-options.ts';

const IN_FLIGHT = 16;
/** What the CloudEvents webhook specification (section 2.2) lets a receiver answer to what it took. */
const USUAL: ReadonlySet<number> = new Set([200, 201, 202, 204]);

export interface WebhookAdapterOptions
  extends ConsentOptions,
    Pick<
      WebhookOptions,
      'timeout' | 'allowPrivate' | 'mode' | 'maxBatch' | 'maxBatchBytes' | 'secrets' | 'tls' | 'proxy' | 'oauth2' | 'body'
    > {
  readonly target: Target;
}

/** What the options make of a request; each part knows one concern. */
export interface WebhookParts {
  readonly encode: (...batch: Parameters<Encode>) => EncodedRequest | Promise<EncodedRequest>;
  readonly sign: Sign;
  readonly consent: Consent;
  readonly authorization: Authorization;
  readonly connections: Connections;
}

/** Posts one delivery or a batch of them, the same bytes under the same `webhook-id` at every attempt. Connects at the first delivery. */
export class WebhookAdapter implements Adapter {
  readonly preparation: Preparation;
  readonly #limits: AdapterLimits;
  readonly #options: WebhookAdapterOptions;
  readonly #deps: AdapterDeps;
  readonly #guard: TargetGuard;
  readonly #lookup: LookupFunction;
  readonly #parts: WebhookParts;
  /** How messages name the sink: never more of the URL than scheme and host. */
  readonly #who: string;
  /** Of every request. */
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: WebhookAdapterOptions, deps: AdapterDeps, resolve?: Resolve) {
    this.#limits = { inFlight: IN_FLIGHT, ...bodyLimits(options) };
    this.#options = options;
    this.#deps = deps;
    const { origin, url, headers } = options.target;
    this.#headers = { ...defaultsFor(url), ...lowerCased(headers) };
    this.#who = `sink ${deps.name}: ${origin}`;
    this.#guard = targetGuard({ sink: deps.name, origin, judge: addressJudge(options.allowPrivate) });
    this.#lookup = checkedLookup(this.#guard, resolve);
    this.#parts = {
      encode: options.body === undefined ? encoder(options, deps.name) : templateEncoder(options.body, deps.name),
      sign: signer(signingKeys(options)),
      consent: consentOf(options, { deps, who: this.#who, options: (headers, limited) => this.#ask(headers, limited) }),
      authorization: authorizationOf(options, { deps, judge: this.#guard.judge, resolve }),
      connections: configuredConnections(options, { url, lookup: this.#lookup, sockets: IN_FLIGHT, deps, resolve }),
    };
    const { consent } = this.#parts;
    this.preparation = {
      get isNeeded() {
        return consent.isNeeded;
      },
      run: async (signal) => {
        const asked = await this.#handshake(signal);
        if (asked !== 'accepted') throw asked;
      },
    };
  }

  get limits(): AdapterLimits {
    const { perMinute } = this.#parts.consent;
    return perMinute === undefined ? this.#limits : { ...this.#limits, perMinute };
  }

  /** Resolves the name, judges its addresses and opens a connection, TLS included; asks for consent where there is a handshake and for a token where there is `oauth2`; sends no event. */
  async check(signal: AbortSignal): Promise<string | null> {
    let found: string | null = null;
    const outcome = await this.#attempt(signal, async (limited) => {
      found = await this.#parts.consent.tryOut(limited);
      if (found === null) await this.#parts.connections.touch(limited);
      await this.#parts.authorization.header(limited);
      return 'accepted';
    });
    if (outcome !== 'accepted') throw outcome;
    return found;
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const outcome = await this.#deliver(batch, signal);
    return batch.map(() => outcome);
  }

  close(): void {
    this.#parts.authorization.close();
    this.#parts.connections.close();
  }

  async #deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<Outcome> {
    const { consent } = this.#parts;
    const asked = consent.isNeeded ? await this.#handshake(signal) : 'accepted';
    if (asked !== 'accepted') return asked;
    const outcome = await this.#attempt(signal, (limited) => this.#post(batch, limited));
    consent.delivered(outcome);
    return outcome;
  }

  async #handshake(signal: AbortSignal): Promise<Outcome> {
    const outcome = await this.#attempt(signal, (limited) => this.#parts.consent.ask(limited).then(() => 'accepted'));
    return outcome === 'accepted' ? outcome : handshakeFault(outcome);
  }

  async #ask(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<OptionsAnswer> {
    const token = await this.#parts.authorization.header(signal);
    return await this.#send('OPTIONS', { ...(token === null ? {} : { authorization: token }), ...headers }, null, signal);
  }

  async #post(batch: readonly Delivery[], signal: AbortSignal): Promise<Outcome> {
    const { sign, consent, authorization } = this.#parts;
    const { id, headers: framing, body } = await this.#encode(batch);
    const token = await authorization.header(signal);
    const timestampS = Math.floor(this.#deps.wallMs() / 1000);
    const signature = sign(id, timestampS, body);
    const headers = {
      ...(token === null ? {} : { authorization: token }),
      ...consent.headers,
      ...framing,
      'content-length': body.byteLength,
      'webhook-id': id,
      ...(signature === null ? {} : { 'webhook-timestamp': timestampS, 'webhook-signature': signature }),
    };
    const answer = await this.#send('POST', headers, body, signal);
    const { status } = answer;
    if (status < 300 && !USUAL.has(status))
      this.#deps.logger.debug({ status }, 'delivered, though the receiver answered with an unusual status');
    return outcomeOf(answer, this.#who, this.#deps.wallMs());
  }

  /** `headers` beside the configured ones. */
  async #send(method: Request['method'], headers: Request['headers'], body: Uint8Array | null, signal: AbortSignal): Promise<Reply> {
    const { authorization, connections } = this.#parts;
    const { url } = this.#options.target;
    const all = { ...this.#headers, ...headers };
    const answer = await send({ method, url, headers: all, body, agent: connections.agent(), lookup: this.#lookup }, this.#deps, signal);
    const { authorization: token } = headers;
    if (answer.status === 401 && typeof token === 'string') authorization.refused(token);
    return answer;
  }

  /** @throws BridgeError with disposition `refused`, whatever the encoder threw: the same bytes would fail in the same way at every attempt. */
  async #encode(batch: readonly Delivery[]): Promise<EncodedRequest> {
    try {
      return await this.#parts.encode(batch);
    } catch (error) {
      throw unencodable(error, this.#deps.name, 'request');
    }
  }

  /** Runs `work` under the time limit; only an abort from outside rejects. */
  async #attempt(signal: AbortSignal, work: (limited: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    const { timeout, target } = this.#options;
    const limit = deadline(this.#deps, timeout, () => timeoutFault(this.#who, formatDuration(timeout)), signal);
    try {
      checkLiteral(this.#guard, hostOf(target.url));
      return await work(limit.signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return networkFault(error, this.#who);
    } finally {
      limit.cancel();
    }
  }
}

/** A token in the URL must be in no cache (CloudEvents webhook specification 1.0.2, section 3.2). */
function defaultsFor({ searchParams }: URL): Record<string, string> {
  return { 'user-agent': USER_AGENT, ...(searchParams.has('access_token') ? { 'cache-control': 'no-store' } : {}) };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
