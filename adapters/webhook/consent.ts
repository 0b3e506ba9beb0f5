// The handshake options and a receiver → its consent and its rate.
import * as v from 'valibot';
import { BridgeError, codeOf, messageOf } from '../../src/errors.ts';
import { toRfc3339Seconds } from '../../src/formats/dates.ts';
import { type EntriesOf, flag } from '../../src/schema/pieces.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { Answer } from '../http/failures.ts';

/** A domain name (RFC 1123, section 2.1), without a dot at its end. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const NAME_FAULT = 'must be a DNS name such as bridge.example.com, without scheme, port or path';
const RATE_FAULT = 'must be a whole number of requests a minute, 1 or more';

export const consentEntries = {
  handshake: flag(
    false,
    'Ask the receiver for its consent (an OPTIONS request) before the first delivery; needs origin. Default false.',
  ),
  origin: v.exactOptional(
    v.pipe(
      v.string(NAME_FAULT),
      v.regex(DNS_NAME, NAME_FAULT),
      v.description(
        'The DNS name of the sending system, not of this machine; every request sends it as WebHook-Request-Origin. Default none.',
      ),
    ),
  ),
  ratePerMinute: v.exactOptional(
    v.pipe(
      v.number(RATE_FAULT),
      v.safeInteger(RATE_FAULT),
      v.minValue(1, RATE_FAULT),
      v.description(
        "Maximum number of requests in any 60 s. With a handshake the bridge requests this rate, and the receiver's answer decides. Default no limit.",
      ),
    ),
  ),
};

type ConsentOptions = EntriesOf<typeof consentEntries>;

export const ORIGIN_FAULT =
  'is missing: a handshake needs it. Set the DNS name of the sending system, such as bridge.example.com, the same on all its machines';

/** Without consent, the bridge asks again at the latest after this time (behaviour 5.15). */
const ASK_WITHIN_MS = 10_000;

/** Codes of answers that put the consent in doubt. */
const REJECTIONS: ReadonlySet<string> = new Set(['BRIDGE_SINK_MISCONFIGURED', 'BRIDGE_SINK_GONE']);

export interface Consent {
  /**
   * Whether `ask` must succeed before a delivery.
   * @throws BridgeError BRIDGE_STORE_* if the stored consent cannot be read
   */
  readonly isNeeded: boolean;
  /** Maximum number of requests in any 60 s; null: no limit now; undefined: never a limit. @throws like `isNeeded` */
  readonly perMinute: number | null | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Asks the receiver, and stores its consent. Rejects with the signal's reason, the request's error, or BridgeError
   * BRIDGE_WEBHOOK_NO_CONSENT.
   */
  ask(signal: AbortSignal): Promise<void>;
  /**
   * Asks without storing the answer. Resolves with a description of it, or null without a handshake. Rejects like
   * `ask`.
   */
  probe(signal: AbortSignal): Promise<string | null>;
  /** Reports a failed delivery. A rejected delivery puts the consent in doubt. */
  failed(error: unknown): void;
}

interface ConsentParts {
  readonly deps: Pick<AdapterDeps, 'wallMs' | 'logger' | 'memory'>;
  /** The name of the sink, with scheme and host, for messages. */
  readonly who: string;
  /** Sends OPTIONS with these headers to the exact URL of the deliveries. */
  readonly options: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Answer>;
}

/** Returns the consent of a sink. The options must be checked: a handshake has its origin. */
export function consentOf(options: ConsentOptions, parts: ConsentParts): Consent {
  return options.handshake ? new Handshake(options, parts) : withoutHandshake(options);
}

/** Returns a consent that never asks; the configured rate is the limit. */
function withoutHandshake({ origin, ratePerMinute }: ConsentOptions): Consent {
  return {
    isNeeded: false,
    perMinute: ratePerMinute,
    headers: originHeader(origin),
    ask: () => Promise.resolve(),
    probe: () => Promise.resolve(null),
    failed: () => undefined,
  };
}

/**
 * Returns the fault of a failed handshake: it concerns the whole sink, and the lane retries soon, however old the queue
 * is.
 */
export function handshakeFault(error: BridgeError): BridgeError {
  const { code, message, disposition = 'retry', status, cause } = error;
  const text = code === 'BRIDGE_WEBHOOK_NO_CONSENT' ? message : `the request for consent failed: ${message}`;
  return new BridgeError(code, text, { cause, disposition, scope: 'sink', retryWithinMs: ASK_WITHIN_MS, status });
}

/** A receiver's consent, as stored. */
interface Grant {
  readonly origin: string;
  /** Null: no limit. */
  readonly perMinute: number | null;
  /** RFC 3339. */
  readonly at: string;
}

interface ConsentAnswer extends Pick<Grant, 'perMinute'> {
  /** Whether the answer has a valid rate. If not, the requested rate applies. */
  readonly rate: 'named' | 'missing' | 'unreadable';
}

class Handshake implements Consent {
  readonly headers: Readonly<Record<string, string>>;
  readonly #options: ConsentOptions;
  readonly #parts: ConsentParts;
  /** Undefined until it is read from the store. */
  #grant: Grant | null | undefined;
  #lastLogged: string | null = null;

  constructor(options: ConsentOptions, parts: ConsentParts) {
    this.headers = originHeader(options.origin);
    this.#options = options;
    this.#parts = parts;
  }

  get isNeeded(): boolean {
    return this.#stored() === null;
  }

  get perMinute(): number | null {
    return this.#stored()?.perMinute ?? null;
  }

  async ask(signal: AbortSignal): Promise<void> {
    const answer = await this.#request(signal);
    const { origin = '' } = this.#options;
    this.#grant = { origin, perMinute: answer.perMinute, at: toRfc3339Seconds(this.#parts.deps.wallMs()) };
    this.#store(JSON.stringify(this.#grant));
    this.#logAnswer(answer);
  }

  async probe(signal: AbortSignal): Promise<string> {
    const { perMinute, rate } = await this.#request(signal);
    const remark = rate === 'named' || perMinute === null ? '' : ', as requested: its answer has no valid rate';
    return `it consents to deliveries from ${this.#options.origin}, ${perMinute === null ? 'at any rate' : `at most ${perMinute} a minute`}${remark}`;
  }

  failed(error: unknown): void {
    if (!REJECTIONS.has(codeOf(error) ?? '')) return;
    this.#grant = null;
    this.#store(null);
    this.#parts.deps.logger.debug('the receiver rejected a delivery: the bridge asks for its consent again');
  }

  /** Sends the request. The status of the answer has no meaning (section 4.2). */
  async #request(signal: AbortSignal): Promise<ConsentAnswer> {
    const { ratePerMinute } = this.#options;
    const rate: Record<string, string> =
      ratePerMinute === undefined ? {} : { 'webhook-request-rate': String(ratePerMinute) };
    const { status, headers } = await this.#parts.options({ ...this.headers, ...rate }, signal);
    const allowed = textOf(headers['webhook-allowed-origin']);
    if (allowed !== '*' && allowed?.toLowerCase() !== this.#options.origin?.toLowerCase())
      throw this.#refused(status, allowed !== null);
    return allowedRate(textOf(headers['webhook-allowed-rate']), ratePerMinute ?? null);
  }

  #refused(status: number, named: boolean): BridgeError {
    const { origin } = this.#options;
    return new BridgeError(
      'BRIDGE_WEBHOOK_NO_CONSENT',
      `${this.#parts.who} does not consent to deliveries from ${origin}: it answered OPTIONS with ${status} and ${named ? 'another' : 'no'} WebHook-Allowed-Origin. Configure it to answer with ${origin} or *, or set handshake: false`,
      // No `status`: a dead letter would show a misleading 200.
      { disposition: 'misconfigured', scope: 'sink' },
    );
  }

  #stored(): Grant | null {
    if (this.#grant === undefined) {
      const text = this.#parts.deps.memory.read();
      const grant = text === null ? null : (JSON.parse(text) as Grant);
      this.#grant = grant?.origin === this.#options.origin ? grant : null;
    }
    return this.#grant;
  }

  #store(text: string | null): void {
    const { memory, logger } = this.#parts.deps;
    try {
      memory.write(text);
    } catch (error) {
      logger.warn(
        { reason: messageOf(error) },
        "the receiver's consent could not be stored: the bridge may ask again after a restart",
      );
    }
  }

  /**
   * Logs an answer at `info` only if it differs from the last: a receiver that consents and then rejects deliveries is
   * asked often.
   */
  #logAnswer({ perMinute, rate }: ConsentAnswer): void {
    const { logger } = this.#parts.deps;
    const requested = this.#options.ratePerMinute ?? null;
    const isInvalid = rate === 'unreadable' || (rate === 'missing' && requested !== null);
    const text = isInvalid
      ? 'the receiver consents, but its answer has no valid rate: the requested rate applies'
      : 'the receiver consents';
    const logged = `${text} ${perMinute}`;
    logger[logged === this.#lastLogged ? 'debug' : 'info']({ perMinute }, text);
    this.#lastLogged = logged;
  }
}

/** Returns the allowed rate. Many receivers send only the origin; the requested rate then applies. */
function allowedRate(text: string | null, requested: number | null): ConsentAnswer {
  if (text === '*') return { perMinute: null, rate: 'named' };
  const perMinute = text !== null && /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : 0;
  if (perMinute > 0) return { perMinute, rate: 'named' };
  return { perMinute: requested, rate: text === null ? 'missing' : 'unreadable' };
}

function originHeader(origin: string | undefined): Record<string, string> {
  return origin === undefined ? {} : { 'webhook-request-origin': origin };
}

function textOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? header.trim() : null;
}
