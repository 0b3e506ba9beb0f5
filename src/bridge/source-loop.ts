// One approval source → its messages, received again with back-off after each failure.
import type { Logger } from 'pino';
import type { ApprovalMessage, ApprovalSource, MessageVerdict } from '../../adapters/approval-source.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { MessageOrigin } from '../approvals/inbox/inbox.ts';
import { BridgeError, isStoreFault, messageOf } from '../errors.ts';
import { backoffMs } from '../time/backoff.ts';
import { type Deps, orAbort, sleep } from '../time/clock.ts';
import { disposeInTime, Running } from '../time/dispose.ts';

/** If a source received for this long before it failed, its back-off starts from the beginning. */
const STEADY_MS = 10_000;

/** A source as the bridge uses it. Disposal aborts running calls, then closes. It may be called twice. */
export interface ManagedSource extends Omit<ApprovalSource, 'close'>, AsyncDisposable {}

export interface SourceLoopParts {
  readonly source: ManagedSource;
  readonly origin: MessageOrigin;
  readonly approvals: Pick<Approvals, 'take' | 'ready'>;
  readonly deps: Deps;
  /** Bound to the source's name. */
  readonly logger: Logger;
  /** After its abort, no message is taken. */
  readonly stop: AbortSignal;
}

export class SourceLoop {
  readonly #parts: SourceLoopParts;
  readonly #running: Promise<void>;
  #isUp = false;
  #isFaultLogged = false;
  #failures = 0;

  /** Receives at once. If other bridges can take the messages, receives only when this bridge can handle them. */
  constructor(parts: SourceLoopParts) {
    this.#parts = parts;
    this.#running = this.#run();
  }

  /** Whether messages can arrive now. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Must be called after `stop` has aborted. Never rejects, and waits for 2 s at most. */
  async close(): Promise<void> {
    const { source, deps, logger } = this.#parts;
    const ended = this.#running.then(() => source[Symbol.asyncDispose]());
    const failed = (reason: string) => logger.warn({ reason }, 'an approval source was not closed cleanly');
    await disposeInTime({ [Symbol.asyncDispose]: () => ended }, deps, failed);
  }

  async #run(): Promise<void> {
    const { origin, approvals, stop } = this.#parts;
    if (origin.canGiveBack) await orAbort(approvals.ready, stop).catch(() => {});
    while (!stop.aborted) await this.#untilFailure();
  }

  async #untilFailure(): Promise<void> {
    const { source, origin, approvals, deps, stop } = this.#parts;
    const sinceMs = deps.elapsedMs();
    const take = async (message: ApprovalMessage): Promise<MessageVerdict> => {
      stop.throwIfAborted();
      return await approvals.take(origin, message);
    };
    const error = await source
      .receive(take, stop, () => this.#ready())
      .then(endedByItself, (reason: unknown) => reason);
    this.#isUp = false;
    if (stop.aborted) return;
    this.#failures = deps.elapsedMs() - sinceMs >= STEADY_MS ? 1 : this.#failures + 1;
    this.#logFault(error);
    const disposition = (error instanceof BridgeError && error.disposition) || 'retry';
    const pauseMs = backoffMs({ failures: this.#failures, disposition, longEnded: false }, deps.random());
    await sleep(deps, pauseMs, stop).catch(() => {});
  }

  #ready(): void {
    if (this.#parts.stop.aborted) return;
    this.#isUp = true;
    if (this.#isFaultLogged) this.#parts.logger.info('the source receives approvals again');
    this.#isFaultLogged = false;
  }

  /** Logs once per outage of the source. The committer logs faults of the store. */
  #logFault(error: unknown): void {
    const { logger } = this.#parts;
    const isNew = !isStoreFault(error) && !this.#isFaultLogged;
    if (isNew)
      logger.warn({ err: error }, 'the source cannot receive approvals: the bridge retries, at most 10 s apart');
    else logger.debug({ reason: messageOf(error) }, 'the source cannot receive approvals: the bridge retries');
    this.#isFaultLogged ||= isNew;
  }
}

function endedByItself(): BridgeError {
  return new BridgeError('BRIDGE_INTERNAL', 'the source ended without an error');
}

/** @param name its name in the configuration, for messages */
export function manageSource(source: ApprovalSource, name: string): ManagedSource {
  const running = new Running();
  const closing = new AbortController();
  let closed: Promise<void> | null = null;
  const run = async <T>(signal: AbortSignal, work: (stop: AbortSignal) => Promise<T>): Promise<T> => {
    const stop = AbortSignal.any([signal, closing.signal]);
    stop.throwIfAborted();
    try {
      return await running.track(work(stop));
    } catch (error) {
      throw stop.aborted ? stop.reason : error;
    }
  };
  return {
    canGiveBack: source.canGiveBack,
    check: (signal) => run(signal, (stop) => source.check(stop)),
    receive: (take, signal, ready) => run(signal, (stop) => source.receive(take, stop, ready)),
    [Symbol.asyncDispose]: () => {
      closing.abort(stopping(name));
      closed ??= running.ended().then(() => source.close());
      return closed;
    },
  };
}

function stopping(name: string): BridgeError {
  const message = `source ${name} is closed: the bridge is stopping`;
  return new BridgeError('BRIDGE_ADAPTER_CLOSED', message, { disposition: 'retry', scope: 'sink' });
}
