// Options and a transport → a client of the metadata service: document, StartRequests, instance.
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import { VersionChoice } from '../model/api-versions.ts';
import type { PostResult } from '../model/approvals.ts';
import type { Instant, PollResult, ScheduledEventsDocument } from '../model/events.ts';
import { isDrill } from '../model/ids.ts';
import { ageMs, type Deps, now } from '../time/clock.ts';
import { parseDocument } from './document.ts';
import {
  MISCONFIGURED_STATUSES,
  mayHaveArrived,
  networkError,
  notTheService,
  resultLabel,
  statusError,
} from './faults.ts';
import { createHttpTransport } from './http-transport.ts';
import { INSTANCE_API_VERSION, type InstanceAnswer, parseInstance } from './instance.ts';
import type { MetadataOptions } from './options.ts';
import { PollSchedule } from './poll.ts';
import type { MetadataTransport, TransportAnswer, TransportRequest } from './transport.ts';

const DAY_MS = 86_400_000;

/** The options that a reload can change. */
export type MetadataTimes = Pick<MetadataOptions, 'pollIntervalMs' | 'timeoutMs' | 'firstTimeoutMs'>;

export interface MetadataClientOptions extends MetadataTimes {
  /**
   * The base address, such as `http://169.254.169.254`, or a function that finds it: called for each request until it
   * resolves once.
   */
  readonly endpoint: string | ((signal: AbortSignal) => Promise<string>);
  /** An api-version or `newest`. */
  readonly apiVersion: string;
  /** Returns the stored time of the last good document. */
  readonly lastGoodAt?: () => Instant | null;
}

interface MetadataClientDeps extends Pick<Deps, 'wallMs' | 'elapsedMs' | 'after' | 'random'> {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** By default HTTP on a dedicated connection. */
  readonly transport?: MetadataTransport;
  /** Called when a GET is sent. */
  readonly onGet?: () => void;
}

/** Connects on first use; no method retries. */
export class MetadataClient {
  #options: MetadataClientOptions;
  readonly #deps: MetadataClientDeps;
  readonly #send: MetadataTransport;
  readonly #closeTransport: () => void;
  readonly #versions: VersionChoice;
  readonly #postSchedule: PollSchedule;
  #base: string | undefined;
  #path = { version: '', path: '' };
  #last: { readonly body: Uint8Array; readonly document: ScheduledEventsDocument } | undefined;
  #lastGoodAt: Instant | null = null;
  #reported: string | null = null;

  constructor(options: MetadataClientOptions, deps: MetadataClientDeps) {
    this.#options = options;
    this.#deps = deps;
    const own = deps.transport ? { send: deps.transport, close: () => {} } : createHttpTransport(deps);
    this.#send = own.send;
    this.#closeTransport = own.close;
    this.#versions = new VersionChoice(options.apiVersion);
    this.#postSchedule = new PollSchedule({ intervalMs: options.pollIntervalMs, random: deps.random });
  }

  /** Changes the times from the next request on. */
  adjust({ pollIntervalMs, timeoutMs, firstTimeoutMs }: MetadataTimes): void {
    this.#options = { ...this.#options, pollIntervalMs, timeoutMs, firstTimeoutMs };
    this.#postSchedule.intervalMs = pollIntervalMs;
  }

  /**
   * Reads the document once. Rejects only when `signal` aborts. While the body's bytes stay the same, so does the
   * document object.
   */
  async poll(signal: AbortSignal): Promise<PollResult> {
    const startedMs = this.#deps.elapsedMs();
    try {
      const { document, date } = await this.#read(signal);
      const at = now(this.#deps);
      this.#lastGoodAt = at;
      this.#report(null);
      return { kind: 'document', at, durationMs: this.#deps.elapsedMs() - startedMs, document, date };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = asFault(thrown);
      this.#report(error);
      const durationMs = this.#deps.elapsedMs() - startedMs;
      return { kind: 'failure', at: now(this.#deps), durationMs, error, result: resultLabel(error) };
    }
  }

  /** Starts events: one POST for all of them. Rejects only when `signal` aborts. */
  async post(eventIds: readonly string[], signal: AbortSignal): Promise<PostResult> {
    // The last check, for every caller: a drill is never sent to the metadata service.
    if (eventIds.some(isDrill))
      throw new BridgeError('BRIDGE_USAGE', 'a drill exists only in its bridge: approve it with --bridge');
    const startedMs = this.#deps.elapsedMs();
    const body = JSON.stringify({ StartRequests: eventIds.map((EventId) => ({ EventId })) });
    try {
      const answer = await this.#events('POST', this.#versions.current, signal, body);
      // The service accepts with any body or none; a page is from a proxy or a captive portal.
      if (isPage(answer.body)) throw notTheService(await this.#findBase(signal), 'to a StartRequest is HTML or XML');
      this.#postSchedule.next(null, 0);
      return { kind: 'accepted' };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = asFault(thrown);
      if (typeof error.status === 'number' && MISCONFIGURED_STATUSES.has(error.status))
        return { kind: 'refused', status: error.status, error };
      const delayMs = this.#postSchedule.next(error, this.#deps.elapsedMs() - startedMs);
      return { kind: 'again', error, delayMs, mayHaveArrived: mayHaveArrived(error) };
    }
  }

  /** Requests the instance route once. Rejects only when `signal` aborts. */
  async instance(signal: AbortSignal): Promise<InstanceAnswer> {
    try {
      const path = `/metadata/instance?api-version=${INSTANCE_API_VERSION}`;
      const answer = await this.#request(
        { method: 'GET', headers: {}, timeoutMs: this.#options.timeoutMs },
        path,
        signal,
      );
      return { kind: 'known', ...parseInstance(answer.body) };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = asFault(thrown);
      return error.status === 404 || error.status === 405
        ? { kind: 'absent', status: error.status }
        : { kind: 'failed', error };
    }
  }

  /**
   * Refuses new requests and closes the connection once the running ones have ended. A transport that was passed in
   * stays open. Idempotent.
   */
  close(): void {
    this.#closeTransport();
  }

  async #read(
    signal: AbortSignal,
  ): Promise<{ readonly document: ScheduledEventsDocument; readonly date: string | undefined }> {
    let first: BridgeError | undefined;
    for (const version of this.#versions.candidates()) {
      try {
        const answer = await this.#events('GET', version, signal);
        const document = this.#parse(answer.body, version);
        this.#versions.accepted(version);
        return { document, date: answer.headers['date'] };
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        const error = asFault(thrown);
        first ??= error;
        if (error.status !== 404 && error.status !== 400) break;
        this.#versions.rejected(version);
      }
    }
    throw first;
  }

  #parse(body: Uint8Array, version: string): ScheduledEventsDocument {
    if (this.#last?.document.apiVersion === version && Buffer.compare(this.#last.body, body) === 0)
      return this.#last.document;
    const document = parseDocument(body, version);
    this.#last = { body, document };
    return document;
  }

  #events(method: 'GET' | 'POST', version: string, signal: AbortSignal, body?: string): Promise<TransportAnswer> {
    const timeoutMs = this.#isAwake() ? this.#options.timeoutMs : this.#options.firstTimeoutMs;
    if (this.#path.version !== version)
      this.#path = { version, path: `/metadata/scheduledevents?api-version=${encodeURIComponent(version)}` };
    const { path } = this.#path;
    const headers: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    return this.#request({ method, headers, timeoutMs, ...(body !== undefined && { body }) }, path, signal);
  }

  /** Returns an answer with status 200. @throws BridgeError for anything else */
  async #request(request: Omit<TransportRequest, 'url'>, path: string, signal: AbortSignal): Promise<TransportAnswer> {
    const url = `${this.#base ?? (await this.#findBase(signal))}${path}`;
    if (request.method === 'GET') this.#deps.onGet?.();
    try {
      const answer = await this.#send({ ...request, url, headers: { ...request.headers, Metadata: 'true' } }, signal);
      if (answer.status === 200) return answer;
      throw statusError(answer, url, this.#deps.wallMs(), request.method);
    } catch (thrown) {
      throw signal.aborted ? signal.reason : networkError(thrown, url);
    }
  }

  async #findBase(signal: AbortSignal): Promise<string> {
    const { endpoint } = this.#options;
    this.#base ??= (typeof endpoint === 'string' ? endpoint : await endpoint(signal)).replace(/(?<!\/)\/+$/, '');
    return this.#base;
  }

  /** Whether the last good document is so recent that Azure cannot have disabled the service since. */
  #isAwake(): boolean {
    const last = this.#lastGoodAt ?? this.#options.lastGoodAt?.() ?? null;
    return isAwake(last, now(this.#deps));
  }

  /** Logs one line for each change of the kind of failure, not for each poll. */
  #report(error: BridgeError | null): void {
    const result = error && resultLabel(error);
    if (result === this.#reported) return;
    this.#reported = result;
    if (!error) this.#deps.logger.info('the metadata service is reachable again');
    else
      this.#deps.logger[MISCONFIGURED_STATUSES.has(error.status) ? 'error' : 'warn'](
        { result, code: error.code },
        error.message,
      );
  }
}

function asFault(thrown: unknown): BridgeError {
  return thrown instanceof BridgeError
    ? thrown
    : new BridgeError('BRIDGE_INTERNAL', 'a request to the metadata service failed because of a bug in the bridge', {
        cause: thrown,
      });
}

/**
 * Whether the service, last read at `lastGoodAt`, must still be enabled at `at` (protocol 1.4); otherwise
 * `firstTimeout` applies.
 */
export function isAwake(lastGoodAt: Instant | null, at: Instant): boolean {
  return lastGoodAt !== null && Math.abs(ageMs(lastGoodAt, at)) <= DAY_MS;
}

function isPage(body: Uint8Array): boolean {
  return new TextDecoder().decode(body).trimStart().startsWith('<');
}
