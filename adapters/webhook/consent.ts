// The keys of the handshake, and a receiver → whether and how often it may be sent to.
import * as v from 'valibot';
import { BridgeError, codeOf, messageOf } from '../../src/errors.ts';
import { toRfc3339Seconds } from '../../src/formats/dates.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { Answer } from '../http/answer.ts';

/** A domain name (RFC 1123, section 2.1), without a dot at its end. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const NAME_FAULT = 'must be a DNS name such as bridge.example.com, without scheme, port or path';
const RATE_FAULT = 'must be a whole number of requests a minute, 1 or more';

export const consentEntries = {
  handshake: v.pipe(
    v.optional(v.boolean(), false),
    v.description('Ask the receiver for its consent (an OPTIONS request) before the first delivery; needs origin. Default false.'),
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

export interface ConsentOptions {
  readonly handshake: boolean;
  readonly origin?: string;
  readonly ratePerMinute?: number;
}

export const ORIGIN_FAULT =
  'is missing: a handshake needs it. Set the DNS name of the sending system, such as bridge.example.com, the same on all its machines';

/** Whether the handshake knows in whose name it asks. */
export function namesOrigin({ handshake, origin }: ConsentOptions): boolean {
  return !handshake || origin !== undefined;
}

/** Without consent it is asked again so soon at the latest (behaviour 5.15). */
const ASK_WITHIN_MS = 10_000;

/** What the receiver itself answers to a delivery that it does not want from us. */
const TURNED_AWAY: ReadonlySet<string> = new Set(['BRIDGE_WEBHOOK_MISCONFIGURED', 'BRIDGE_WEBHOOK_GONE']);

export interface Consent {
  /** Nothing may be delivered before `ask` went well. @throws BridgeError BRIDGE_STORE_* where what is remembered cannot be read */
  readonly isNeeded: boolean;
  /** Requests in any 60 s; null: no limit now; undefined: never one. @throws as `isNeeded` */
  readonly perMinute: number | null | undefined;
  /** What every delivery carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** Asks, and remembers a yes over restarts. Rejects with the signal's reason, what the request throws, or BridgeError BRIDGE_WEBHOOK_NO_CONSENT. */
  ask(signal: AbortSignal): Promise<void>;
  /** Asks without remembering, and describes what is allowed; null where there is no handshake. Rejects as `ask`. */
  tryOut(signal: AbortSignal): Promise<string | null>;
  /** Why a delivery failed: one that is turned away puts the consent in doubt. */
  failed(error: unknown): void;
}

export interface ConsentParts {
  readonly deps: Pick<AdapterDeps, 'wallMs' | 'logger' | 'memory'>;
  /** Names the sink and shows scheme and host. */
  readonly who: string;
  /** Sends OPTIONS with these headers to the exact URL of the deliveries. */
  readonly options: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Answer>;
}

/** The configuration is checked: a handshake names its origin. */
export function consentOf(options: ConsentOptions, parts: ConsentParts): Consent {
  return options.handshake ? new Handshake(options, parts) : withoutHandshake(options);
}

/** Nobody is asked; the rate is our own limit. */
function withoutHandshake({ origin, ratePerMinute }: ConsentOptions): Consent {
  return {
    isNeeded: false,
    perMinute: ratePerMinute,
    headers: originHeader(origin),
    ask: () => Promise.resolve(),
    tryOut: () => Promise.resolve(null),
    failed: () => undefined,
  };
}

/** A failed handshake, as the lane is to take it: it hits every delivery, and is tried again soon however old the queue is. */
export function handshakeFault(error: BridgeError): BridgeError {
  const { code, message, disposition = 'retry', status, cause } = error;
  const said = code === 'BRIDGE_WEBHOOK_NO_CONSENT' ? message : `the request for consent failed: ${message}`;
  return new BridgeError(code, said, {
    cause,
    disposition,
    scope: 'sink',
    retryWithinMs: ASK_WITHIN_MS,
    ...(status === undefined ? {} : { status }),
  });
}

/** A receiver's yes. */
interface Grant {
  readonly origin: string;
  /** Null: as many as there are. */
  readonly perMinute: number | null;
  /** RFC 3339. */
  readonly at: string;
}

interface Consented extends Pick<Grant, 'perMinute'> {
  /** Whether the receiver named its rate; if not, and it was asked, the requested one holds. */
  readonly rate: 'named' | 'missing' | 'unreadable';
}

class Handshake implements Consent {
  readonly headers: Readonly<Record<string, string>>;
  readonly #options: ConsentOptions;
  readonly #parts: ConsentParts;
  /** Undefined: not read yet. */
  #grant: Grant | null | undefined;
  #told: string | null = null;

  constructor(options: ConsentOptions, parts: ConsentParts) {
    this.headers = originHeader(options.origin);
    this.#options = options;
    this.#parts = parts;
  }

  get isNeeded(): boolean {
    return this.#known() === null;
  }

  get perMinute(): number | null {
    return this.#known()?.perMinute ?? null;
  }

  async ask(signal: AbortSignal): Promise<void> {
    const answer = await this.#question(signal);
    const { origin = '' } = this.#options;
    this.#grant = { origin, perMinute: answer.perMinute, at: toRfc3339Seconds(this.#parts.deps.wallMs()) };
    this.#remember(JSON.stringify(this.#grant));
    this.#tell(answer);
  }

  async tryOut(signal: AbortSignal): Promise<string> {
    const { perMinute, rate } = await this.#question(signal);
    const asked = rate === 'named' || perMinute === null ? '' : ', as requested: its answer has no valid rate';
    return `it consents to deliveries from ${this.#options.origin}, ${perMinute === null ? 'at any rate' : `at most ${perMinute} a minute`}${asked}`;
  }

  failed(error: unknown): void {
    if (!TURNED_AWAY.has(codeOf(error) ?? '')) return;
    this.#grant = null;
    this.#remember(null);
    this.#parts.deps.logger.debug('the receiver rejected a delivery: the bridge asks for its consent again');
  }

  /** Status codes say nothing (section 4.2). */
  async #question(signal: AbortSignal): Promise<Consented> {
    const { ratePerMinute } = this.#options;
    const rate: Record<string, string> = ratePerMinute === undefined ? {} : { 'webhook-request-rate': String(ratePerMinute) };
    const { status, headers } = await this.#parts.options({ ...this.headers, ...rate }, signal);
    const allowed = textOf(headers['webhook-allowed-origin']);
    if (allowed !== '*' && allowed?.toLowerCase() !== this.#options.origin?.toLowerCase()) throw this.#refused(status, allowed !== null);
    return allowedRate(textOf(headers['webhook-allowed-rate']), ratePerMinute ?? null);
  }

  #refused(status: number, named: boolean): BridgeError {
    const { origin } = this.#options;
    return new BridgeError(
      'BRIDGE_WEBHOOK_NO_CONSENT',
      `${this.#parts.who} does not consent to deliveries from ${origin}: it answered OPTIONS with ${status} and ${named ? 'another' : 'no'} WebHook-Allowed-Origin. Configure it to answer with ${origin} or *, or set handshake: false`,
      // Its status would tell those who look at a dead letter nothing, or worse: 200.
      { disposition: 'misconfigured', scope: 'sink' },
    );
  }

  #known(): Grant | null {
    if (this.#grant === undefined) {
      const text = this.#parts.deps.memory.read();
      const grant = text === null ? null : (JSON.parse(text) as Grant);
      this.#grant = grant?.origin === this.#options.origin ? grant : null;
    }
    return this.#grant;
  }

  #remember(text: string | null): void {
    const { memory, logger } = this.#parts.deps;
    try {
      memory.write(text);
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, "the receiver's consent could not be stored: the bridge may ask again after a restart");
    }
  }

  /** Once for each answer of another kind: a receiver that consents and then turns deliveries away is asked often. */
  #tell({ perMinute, rate }: Consented): void {
    const { logger } = this.#parts.deps;
    const requested = this.#options.ratePerMinute ?? null;
    const lacks = rate === 'unreadable' || (rate === 'missing' && requested !== null);
    const text = lacks ? 'the receiver consents, but its answer has no valid rate: the requested rate applies' : 'the receiver consents';
    const told = `${text} ${perMinute}`;
    logger[told === this.#told ? 'debug' : 'info']({ perMinute }, text);
    this.#told = told;
  }
}

/** Lenient, as many receivers name the origin alone: then what was requested holds. */
function allowedRate(text: string | null, requested: number | null): Consented {
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
