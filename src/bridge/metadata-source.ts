// Configuration → the stream of polls, a fresh document on demand, how far the clock is off.
import type { Logger } from 'pino';
import { filter, firstValueFrom, fromEvent, map, merge, type Observable, Subject, tap } from 'rxjs';
import type { Config } from '../config/config.ts';
import { ClockOffset } from '../diagnosis/clock.ts';
import { BridgeError } from '../errors.ts';
import { isAwake, MetadataClient, type MetadataTimes } from '../metadata/client.ts';
import { discoverEndpoint, probeBy, readOptionAddress } from '../metadata/discovery.ts';
import { createHttpTransport } from '../metadata/http-transport.ts';
import { createPoller, type Poller, PollSchedule } from '../metadata/poll.ts';
import { RequestRate } from '../metadata/request-rate.ts';
import type { MetadataTransport } from '../metadata/transport.ts';
import type { PostResult } from '../model/approvals.ts';
import type { Instant, PollResult } from '../model/events.ts';
import { type CancelTimer, type Deps, now } from '../time/clock.ts';

interface MetadataSourceParts {
  readonly config: Pick<Config, 'metadata'>;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Default: HTTP on a separate connection. */
  readonly transport?: MetadataTransport | undefined;
  /** When an earlier process read its last good document. */
  readonly storedGoodAt: Instant | null;
  readonly onPoll?: () => void;
  /** The bridge sends a GET, for a poll or for the VM's identity. */
  readonly onRequest?: () => void;
}

/** After this time without a good document, the bridge is blind, unless `firstTimeout` applies. */
const BLIND_AFTER_MS = 60_000;

/** Opens nothing before its first request. */
export class MetadataSource {
  readonly client: MetadataClient;
  readonly rate: RequestRate;
  readonly #parts: MetadataSourceParts;
  readonly #poller: Poller;
  readonly #schedule: PollSchedule;
  #times: MetadataTimes;
  readonly #handled$ = new Subject<PollResult>();
  readonly #close: () => void;
  #cancelRead: CancelTimer = () => {};
  #last: PollResult | null = null;
  #lastGoodPollAt: Instant | null = null;

  constructor(parts: MetadataSourceParts) {
    const { deps, config, logger } = parts;
    this.#parts = parts;
    const http = parts.transport ? null : createHttpTransport(deps);
    const transport = (parts.transport ?? http?.send) as MetadataTransport;
    const { endpoint, ...options } = config.metadata;
    const where = endpoint === 'discover' ? discoverBy(transport, logger) : endpoint;
    this.rate = new RequestRate({ pollIntervalMs: options.pollIntervalMs, elapsedMs: deps.elapsedMs });
    this.client = new MetadataClient(
      { ...options, endpoint: where, lastGoodAt: () => this.#lastGoodAt },
      { ...deps, logger: logger.child({ area: 'metadata' }), transport, onGet: () => this.#getLeaves() },
    );
    this.#times = options;
    this.#schedule = new PollSchedule({ intervalMs: options.pollIntervalMs, random: deps.random });
    const poll = (signal: AbortSignal) => {
      parts.onPoll?.();
      return this.client.poll(signal);
    };
    this.#poller = createPoller({ poll, schedule: this.#schedule, deps });
    this.#close = () => http?.close();
  }

  /** Emits every poll. It polls while there is a subscriber. */
  get polls$(): Observable<PollResult> {
    return this.#poller.results$.pipe(
      tap((poll) => {
        this.#last = poll;
        if (poll.kind === 'document') this.#lastGoodPollAt = poll.at;
      }),
    );
  }

  /** Why the last poll returned no document; null if it returned one. */
  get lastFailure(): string | null {
    return this.lastFailed?.error.message ?? null;
  }

  /** The last poll if it returned no document; otherwise null. */
  get lastFailed(): Extract<PollResult, { kind: 'failure' }> | null {
    return this.#last?.kind === 'failure' ? this.#last : null;
  }

  /** When this process last read a good document; null before the first. */
  get lastGoodPollAt(): Instant | null {
    return this.#lastGoodPollAt;
  }

  /**
   * The time without a good document after which the bridge is blind; `firstTimeout` if there was none in the last 24
   * h.
   */
  get blindAfterMs(): number {
    const isFirst = !isAwake(this.#lastGoodAt, now(this.#parts.deps));
    return isFirst ? this.#times.firstTimeoutMs : BLIND_AFTER_MS;
  }

  get #lastGoodAt(): Instant | null {
    return this.#lastGoodPollAt ?? this.#parts.storedGoodAt;
  }

  /** Applies other times. A shorter interval also applies to the next poll, but does not shorten a back-off. */
  reload(times: MetadataTimes): void {
    this.#times = times;
    this.client.adjust(times);
    this.rate.pollEvery(times.pollIntervalMs);
    this.#schedule.intervalMs = times.pollIntervalMs;
    if (this.#last?.kind === 'document') this.#poller.startWithin(times.pollIntervalMs);
  }

  /** Must be called with each poll after its changes are committed. */
  handled(poll: PollResult): void {
    this.#handled$.next(poll);
  }

  /**
   * Resolves when the answer to a request that started after this call has been handled. Sends the request at once if
   * the service answers and the rate allows it, else after the pause that the last answer requires. One request serves
   * all calls before it. Rejects only on abort.
   */
  async read(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const calledMs = this.#parts.deps.elapsedMs();
    const fresh$ = this.#handled$.pipe(filter((poll) => (poll.at.elapsedMs ?? 0) - poll.durationMs >= calledMs));
    const aborted$ = fromEvent(signal, 'abort').pipe(
      map(() => {
        throw signal.reason;
      }),
    );
    const answered = firstValueFrom(merge(fresh$, aborted$));
    if (this.#last?.kind !== 'failure' && this.rate.expectRead()) this.#refreshSoon();
    await answered;
  }

  /**
   * Sends all these StartRequests in one request. After a 429, no other request is sent for as long as the service
   * asks.
   */
  async post(eventIds: readonly string[], signal: AbortSignal): Promise<PostResult> {
    this.rate.sent('POST');
    const result = await this.client.post(eventIds, signal);
    const isTooOften = result.kind === 'again' && result.error instanceof BridgeError && result.error.status === 429;
    if (isTooOften) this.rate.rest(result.delayMs);
    return result;
  }

  /** Runs at the end of this turn, so that one request starts after all calls of the turn. */
  #refreshSoon(): void {
    const inMs = this.rate.readInMs();
    if (inMs > 0) this.#cancelRead = this.#parts.deps.after(inMs, () => this.#poller.refresh());
    else void Promise.resolve().then(() => this.#poller.refresh());
  }

  #getLeaves(): void {
    this.#cancelRead();
    this.rate.sent('GET');
    this.#parts.onRequest?.();
  }

  /** Refuses new requests; the running one may end. */
  close(): void {
    this.#cancelRead();
    this.#close();
  }
}

function discoverBy(transport: MetadataTransport, logger: Logger): (signal: AbortSignal) => Promise<string> {
  return async (signal) => {
    const endpoint = await discoverEndpoint(
      { probe: probeBy(transport), optionAddress: () => readOptionAddress() },
      signal,
    );
    logger.info({ area: 'metadata', endpoint }, 'found the metadata service');
    return endpoint;
  };
}

/** Compares this machine's clock with that of the metadata service at each document. */
export class ClockWatch {
  readonly offset = new ClockOffset();
  readonly #logger: Logger;
  #isOff = false;

  constructor(logger: Logger) {
    this.#logger = logger.child({ area: 'metadata' });
  }

  /** Logs one warning when the clocks are more than 5 s apart, and one line when they agree again. */
  polled(poll: PollResult): void {
    if (poll.kind !== 'document') return;
    this.offset.read(poll.date, poll.at.wallMs);
    const { fault, seconds } = this.offset;
    if ((fault !== null) === this.#isOff) return;
    this.#isOff = fault !== null;
    if (fault !== null) this.#logger.warn({ offsetSeconds: seconds }, fault);
    else this.#logger.info({ offsetSeconds: seconds }, "this machine's clock agrees with the metadata service again");
  }
}
