// The kind `webhook`: options → an adapter that posts CloudEvents to a URL.
import { unencodable } from '../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Resolve } from '../../src/net/private-addresses.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome, Preparation } from '../adapter.ts';
import type { Answer } from '../http/failures.ts';
import { HttpClient } from '../http/http-client.ts';
import { addressFaults, httpTarget } from '../http/http-options.ts';
import { azureAuthorization } from './azure-identity.ts';
import { type Consent, consentOf, handshakeFault } from './consent.ts';
import { bodyLimits, type EncodedRequest, encoder } from './encoder.ts';
import { type Sign, signer, signingKeys } from './signing.ts';
import { templateEncoder } from './template/template-encoder.ts';
import { templateFaults } from './template/template-faults.ts';
import { webhookChannel } from './webhook-channel.ts';
import { type WebhookOptions, webhookOptions, webhookSecretFaults } from './webhook-options.ts';

const IN_FLIGHT = 16;
/** The statuses of success in the CloudEvents webhook specification (section 2.2). */
const USUAL_STATUSES: ReadonlySet<number> = new Set([200, 201, 202, 204]);

/**
 * Posts one delivery or a batch, with the same bytes and `webhook-id` at every attempt. Connects at the first delivery.
 */
export class WebhookAdapter implements Adapter {
  readonly preparation: Preparation;
  readonly #limits: AdapterLimits;
  readonly #deps: AdapterDeps;
  readonly #http: HttpClient;
  readonly #encode: (batch: readonly Delivery[]) => EncodedRequest | Promise<EncodedRequest>;
  readonly #sign: Sign;
  readonly #consent: Consent;

  /** The secrets must be open. @throws BridgeError BRIDGE_CONFIG_INVALID with the key and no value */
  constructor(options: WebhookOptions, deps: AdapterDeps, resolve?: Resolve) {
    const { url, headers } = httpTarget(options, deps.name, webhookSecretFaults(options));
    const target = { url, headers: { ...defaultsFor(url), ...headers } };
    this.#limits = { inFlight: IN_FLIGHT, ...bodyLimits(options) };
    this.#deps = deps;
    const identity = azureAuthorization(options, url.hostname, deps);
    const authorization = identity && { authorization: identity, credentials: 'azure' };
    this.#http = new HttpClient(options, { target, inFlight: IN_FLIGHT, deps, resolve, ...authorization });
    this.#encode = options.body === undefined ? encoder(options, deps.name) : templateEncoder(options.body, deps.name);
    this.#sign = signer(signingKeys(options));
    this.#consent = consentOf(options, {
      deps,
      who: this.#http.who,
      options: (headers, limited) => this.#ask(headers, limited),
    });
    const consent = this.#consent;
    this.preparation = {
      get isNeeded() {
        return consent.isNeeded;
      },
      run: (signal) => this.#handshake(signal),
    };
  }

  get limits(): AdapterLimits {
    const { perMinute } = this.#consent;
    return perMinute === undefined ? this.#limits : { ...this.#limits, perMinute };
  }

  /**
   * Connects, gets a token if `oauth2` or `azure` is configured, asks for consent if `handshake` is set, and sends no
   * event.
   */
  async check(signal: AbortSignal): Promise<string | null> {
    return await this.#http.attempt(signal, async (limited) => {
      return (await this.#consent.probe(limited)) ?? (await this.#http.touch(limited));
    });
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    if (this.#consent.isNeeded) await this.#handshake(signal);
    try {
      await this.#http.attempt(signal, (limited) => this.#post(batch, limited));
    } catch (error) {
      this.#consent.failed(error);
      throw error;
    }
    return batch.map(() => 'accepted');
  }

  close(): void {
    this.#http.close();
  }

  async #handshake(signal: AbortSignal): Promise<void> {
    try {
      await this.#http.attempt(signal, (limited) => this.#consent.ask(limited));
    } catch (error) {
      throw error instanceof BridgeError ? handshakeFault(error) : error;
    }
  }

  async #ask(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    const authorization = await this.#http.authorization(signal);
    return await this.#http.send({ method: 'OPTIONS', headers: { ...authorization, ...headers } }, signal);
  }

  async #post(batch: readonly Delivery[], signal: AbortSignal): Promise<void> {
    const { id, headers: framing, body } = await this.#encoded(batch);
    const authorization = await this.#http.authorization(signal);
    const timestampS = Math.floor(this.#deps.wallMs() / 1000);
    const signature = this.#sign(id, timestampS, body);
    const headers = {
      ...authorization,
      ...this.#consent.headers,
      ...framing,
      'content-length': body.byteLength,
      'webhook-id': id,
      ...(signature === null ? {} : { 'webhook-timestamp': timestampS, 'webhook-signature': signature }),
    };
    const answer = await this.#http.send({ method: 'POST', headers, body }, signal);
    this.#http.accept(answer);
    if (!USUAL_STATUSES.has(answer.status))
      this.#deps.logger.debug({ status: answer.status }, 'delivered; the receiver answered with an unusual status');
  }

  /** @throws BridgeError with disposition `refused` for any error of the encoder */
  async #encoded(batch: readonly Delivery[]): Promise<EncodedRequest> {
    try {
      return await this.#encode(batch);
    } catch (error) {
      throw unencodable(error, this.#deps.name, 'request');
    }
  }
}

/**
 * Returns the default headers. A URL with a token must not be cached (CloudEvents webhook specification 1.0.2, section
 * 3.2).
 */
function defaultsFor({ searchParams }: URL): Record<string, string> {
  return searchParams.has('access_token') ? { 'cache-control': 'no-store' } : {};
}

/**
 * Posts CloudEvents, one or a batch in each request, or a template's body (CloudEvents webhook specification 1.0.2,
 * section 2).
 */
export const webhookSink: AdapterDefinition<WebhookOptions> = {
  type: 'webhook',
  options: webhookOptions,
  secretFaults: (options) => [...webhookSecretFaults(options), ...addressFaults(options)],
  contentFaults: templateFaults,
  channel: webhookChannel,
  create: (options, deps) => new WebhookAdapter(options, deps),
};
