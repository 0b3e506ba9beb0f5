// Configuration → the stream of polls, and a fresh document on demand.
import type { Logger } from 'pino';
import { filter, firstValueFrom, fromEvent, map, merge, type Observable, Subject, tap } from 'rxjs';
import type { Config } from '../config/config.ts';
import { BridgeError } from '../errors.ts';
import { isAwake, MetadataClient, type MetadataTimes } from '../metadata/client.ts';
import { discoverEndpoint, probeBy, readOptionAddress } from '../metadata/discovery.ts';
import { createHttpTransport } from '../metadata/http-transport.ts';
import { createPoller, type Poller } from '../metadata/poll.ts';
import { PollSchedule } from '../metadata/poll-schedule.ts';
import { RequestRate } from '../metadata/request-rate.ts';
import type { Transport } from '../metadata/transport.ts';
import type { PostResult } from '../model/approvals.ts';
import type { Instant, PollResult } from '../model/events.ts';
import { type CancelTimer, type Deps, now } from '../time/clock.ts';

export interface MetadataSourceParts {
  readonly config: Pick<Config, 'metadata'>;
  readonly deps: Deps;
  readonly logger: Logger;
  /** HTTP on a connection of its own by default. */
  readonly transport?: Transport | undefined;
  /** When a process before this one read its last good document. */
  readonly storedGoodAt: Instant | null;
  /** A poll begins. */
  readonly onPoll?: () => void;
  /** A GET leaves, of a poll or for the VM's identity. */
  readonly onRequest?: () => void;
}

/** Without a good document for so long the bridge is blind, unless `firstTimeout` applies. */
const BLIND_AFTER_MS = 60_000;

/** Opens nothing before its first request. */
export class MetadataSource {
  readonly client: MetadataClient;
  /** What leaves for the service. */
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
    const transport = (parts.transport ?? http?.send) as Transport;
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

  /** Every poll; polls while there is a subscriber. */
  get polls$(): Observable<PollResult> {
    return this.#poller.results$.pipe(
      tap((poll) => {
        this.#last = poll;
        if (poll.kind === 'document') this.#lastGoodPollAt = poll.at;
      }),
    );
  }

  /** Why the last poll brought no document; null where it brought one. */
  get lastFailure(): string | null {
    return this.#last?.kind === 'failure' ? this.#last.error.message : null;
  }

  /** When this process last read a good document; null before the first. */
  get lastGoodPollAt(): Instant | null {
    return this.#lastGoodPollAt;
  }

  /** How long without a good document counts as blind; `firstTimeout` where none of the last 24 h is known. */
  get blindAfterMs(): number {
    const isFirst = !isAwake(this.#lastGoodAt, now(this.#parts.deps));
    return isFirst ? this.#times.firstTimeoutMs : BLIND_AFTER_MS;
  }

  get #lastGoodAt(): Instant | null {
    return this.#lastGoodPollAt ?? this.#parts.storedGoodAt;
  }

  /** Other times from now on. A shorter interval holds for the poll that is waited for, too; a back-off is not cut short. */
  reload(times: MetadataTimes): void {
    this.#times = times;
    this.client.adjust(times);
    this.rate.pollEvery(times.pollIntervalMs);
    this.#schedule.intervalMs = times.pollIntervalMs;
    if (this.#last?.kind === 'document') this.#poller.startWithin(times.pollIntervalMs);
  }

  /** To be called with each poll once its changes are committed. */
  handled(poll: PollResult): void {
    this.#handled$.next(poll);
  }

  /**
   * Resolves when the answer to a request begun after this call has been handled. Asks at once where the service answers and takes one more
   * request; else in the rhythm that its last answer asks for. One request serves all who call before it leaves. Rejects only on abort.
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

  /** One request with all these StartRequests. Where the service is asked too often no other one is sent for as long as it says. */
  async post(eventIds: readonly string[], signal: AbortSignal): Promise<PostResult> {
    this.rate.sent('POST');
    const result = await this.client.post(eventIds, signal);
    const isTooOften = result.kind === 'again' && result.error instanceof BridgeError && result.error.status === 429;
    if (isTooOften) this.rate.rest(result.delayMs);
    return result;
  }

  /** Behind all who ask in this turn, so that its request begins after each of their calls. */
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

function discoverBy(transport: Transport, logger: Logger): (signal: AbortSignal) => Promise<string> {
  return async (signal) => {
    const endpoint = await discoverEndpoint({ probe: probeBy(transport), optionAddress: () => readOptionAddress() }, signal);
    logger.info({ area: 'metadata', endpoint }, 'found the metadata service');
    return endpoint;
  };
}
