// A web-standard Request of a webhook → calls of the handlers, and the Response.
import { messageOf } from '../../errors.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { CloudEvent } from '../event.ts';
import type { WebRequest, WebResponse } from '../web-types.ts';
import { dispatcherOn, type HandledBy } from './dispatcher.ts';
import { memoryHandledStore } from './handled-store.ts';
import { type DeliveryMode, MODES, readHttp } from './http-event.ts';
import { problemFor, problemResponse } from './problem.ts';
import { signatureVerifier, type Verify } from './signature.ts';
import { expectSigned } from './signed-binary.ts';

interface HandshakeOptions {
  /** The origins that may deliver, as DNS names; `*` is any. If absent, OPTIONS is answered 405. */
  readonly allowedOrigins?: readonly string[];
  /** Deliveries a minute; `*`, which is no limit, if absent. */
  readonly allowedRate?: number | '*';
}

interface Checks extends HandshakeOptions {
  /** `whsec_…` or `whpk_…` of the sink; several while one is being replaced. Required, unless `unsigned` is true. */
  readonly secrets?: string | readonly string[];
  /** True lets everyone who knows the URL deliver. */
  readonly unsigned?: boolean;
  /**
   * The accepted modes; all three if absent. The sender chooses the mode of a delivery. In structured and batch mode
   * all of an event is signed, in binary mode only its data and id. So name the mode of your sink.
   */
  readonly modes?: readonly DeliveryMode[];
  /**
   * The accepted `source` attributes, as the bridges write them; any if absent. In binary mode the source is not
   * signed, so only this list rejects a copy with another source.
   */
  readonly sources?: readonly string[];
  /** How far the timestamp of a delivery may be from this machine's clock; 5 minutes if absent. */
  readonly toleranceMs?: number;
  /** 1 MiB if absent. */
  readonly maxBodyBytes?: number;
  /**
   * `handled`, the default: 2xx once the handlers have ended, so that the bridge retries failed events. `received`: 2xx
   * at once; an event that fails, or is cut off by a crash, does not come again.
   */
  readonly answer?: 'handled' | 'received';
  /**
   * Called for each event that failed and, with null, for each request that was refused. If absent, the process emits a
   * warning. Must not throw.
   */
  readonly onError?: (error: unknown, event: CloudEvent | null) => void;
}

export type ReceiverOptions = Checks & HandledBy;

/** Answers every request and never rejects. */
export type Receiver = (request: WebRequest) => Promise<WebResponse>;

const MIB = 1024 * 1024;
const TOLERANCE_MS = 300_000;

/** @throws ConsumerError `usage` if neither `secrets` nor `unsigned: true` is given, or an option is not valid */
export function receiverOn(options: ReceiverOptions, clock: Clock): Receiver {
  const { maxBodyBytes = MIB, allowedOrigins, answer = 'handled', onError = warn } = options;
  const modes = modesOf(options);
  const expectSources = sourceCheckOf(options);
  const verify = verifierFor(options, clock);
  const dispatcher =
    options.dispatcher ??
    dispatcherOn(options.handlers, options.store ?? memoryHandledStore({}, clock), options.typePrefix);

  const read = async (request: Request): Promise<Read> => {
    const body = await readRequestBody(request, maxBodyBytes);
    const webhookId = verify?.((name) => request.headers.get(name), body);
    const { mode, events } = readHttp(request.headers, body, { ...dispatcher, modes });
    expectSources(events);
    const isSigned = webhookId !== undefined;
    if (isSigned && mode === 'binary')
      for (const event of events) expectSigned(event, body, webhookId, dispatcher.typePrefix);
    return { events, isSourceProved: !(isSigned && mode === 'binary') };
  };

  const answerFor = async ({ events, isSourceProved }: Read): Promise<Response> => {
    const handled = dispatcher.handleAll(events, onError, { isSourceProved }).then(() => done(), problemFor);
    return answer === 'received' ? done() : await handled;
  };

  return async (given) => {
    const request = given as Request;
    if (request.method === 'OPTIONS' && allowedOrigins !== undefined) return answerHandshake(request, options);
    if (request.method !== 'POST')
      return problemResponse(405, 'method-not-allowed', 'The method is not allowed', 'send a POST', { Allow: 'POST' });
    try {
      return await answerFor(await read(request));
    } catch (error) {
      onError(error, null);
      return problemFor(error);
    }
  };
}

interface Read {
  readonly events: readonly CloudEvent[];
  /** False if the delivery is signed and its source is not. */
  readonly isSourceProved: boolean;
}

function done(): Response {
  return new Response(null, { status: 204 });
}

/** @throws ConsumerError `usage` for an unknown mode, or an empty list */
function modesOf({ modes = MODES }: Checks): readonly DeliveryMode[] {
  if (Array.isArray(modes) && modes.length > 0 && modes.every((mode) => MODES.includes(mode))) return modes;
  throw new ConsumerError('usage', `modes must be a list of at least one of ${MODES.join(', ')}`);
}

/** @throws ConsumerError `usage` for a list that is empty or not valid */
function sourceCheckOf({ sources }: Checks): (events: readonly CloudEvent[]) => void {
  if (sources === undefined) return () => {};
  const isUsable =
    Array.isArray(sources) &&
    sources.length > 0 &&
    sources.every((source) => typeof source === 'string' && source !== '');
  if (!isUsable)
    throw new ConsumerError(
      'usage',
      'sources must be a list of at least one source, such as /subscriptions/S/resourcegroups/G',
    );
  const known = new Set<string>(sources);
  return (events) => {
    if (!events.every(({ source }) => known.has(source)))
      throw new ConsumerError(
        'source',
        'the source of this event is not in sources: check cloudevents.source of the bridge',
      );
  };
}

function verifierFor(
  { secrets = [], unsigned = false, toleranceMs = TOLERANCE_MS }: Checks,
  clock: Clock,
): Verify | undefined {
  const given = typeof secrets === 'string' ? [secrets] : secrets;
  if (unsigned && given.length > 0) throw new ConsumerError('usage', 'give either secrets or unsigned: true');
  if (unsigned) return undefined;
  if (given.length > 0) return signatureVerifier({ secrets: given, toleranceMs }, clock);
  throw new ConsumerError(
    'usage',
    'a receiver needs the secrets of the sink; unsigned: true lets everyone who knows the URL deliver',
  );
}

/** @throws ConsumerError `too-large`; `body-read` if the body was read before */
async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.bodyUsed)
    throw new ConsumerError('body-read', 'the body was read before: mount the receiver before any body parser');
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    chunks.push(value);
    size += value.byteLength;
    if (size > maxBytes) {
      // Cancelling would close the connection before the answer is sent.
      reader.releaseLock();
      throw tooLarge(maxBytes);
    }
  }
}

function tooLarge(maxBytes: number): ConsumerError {
  return new ConsumerError(
    'too-large',
    `the delivery has more than ${maxBytes} bytes: lower maxBatch of the sink, or raise maxBodyBytes of the receiver`,
  );
}

function answerHandshake(request: Request, options: HandshakeOptions): Response {
  const headers = consentFor(request.headers.get('webhook-request-origin'), options);
  if (headers !== null) return new Response(null, { status: 204, headers });
  return problemResponse(403, 'origin', 'This origin may not deliver', 'name it in allowedOrigins of the receiver', {
    Allow: 'POST',
  });
}

/**
 * Returns the headers of the consent, or null for an origin that may not deliver (CloudEvents webhook spec 1.0.2,
 * section 4).
 */
function consentFor(
  origin: string | null,
  { allowedOrigins = [], allowedRate = '*' }: HandshakeOptions,
): Record<string, string> | null {
  if (origin === null || origin === '') return null;
  const isAllowed = allowedOrigins.some((allowed) => allowed === '*' || allowed.toLowerCase() === origin.toLowerCase());
  return isAllowed
    ? { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': String(allowedRate), Allow: 'POST' }
    : null;
}

function warn(error: unknown, event: CloudEvent | null): void {
  const what = event === null ? 'a delivery' : `the event ${event.id}`;
  process.emitWarning(`${what} was not handled: ${messageOf(error)}`, 'ScheduledEventsConsumer');
}
