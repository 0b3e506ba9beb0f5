// One call of `receive` → a separate client, from connecting to closing, and the final error.
import { formatDuration } from '../../../src/formats/durations.ts';
import { deadline, orAbort, sleep } from '../../../src/time/clock.ts';
import { Running } from '../../../src/time/dispose.ts';
import type { ApprovalSourceDeps, TakeMessage } from '../../approval-source.ts';
import type { NamespaceAccess } from '../connection/access.ts';
import type { Connect } from '../connection/connector.ts';
import { BusClient } from '../connection/service-bus-client.ts';
import { busTimeoutFault, connectionFault } from '../service-bus-fault.ts';
import type { Probed } from './link-probe.ts';
import { sourceFault } from './source-fault.ts';

/** Time for pending verdicts after the end; the pause before a message is returned is longer. */
const VERDICT_MS = 300;
/** Time for settling after the end; the bridge allows a source two seconds in total. */
const LEAVE_MS = 1000;
/** How long the service waits for a session with a message; the SDK abandons an attach after a minute. */
export const SESSION_WAIT_MS = 35_000;

/** Attaches links and passes on their messages, until `stopping`. */
type ReceiveMessages = (bus: BusClient, reception: Reception) => Promise<void>;

interface ReceptionOptions extends Probed {
  readonly access: NamespaceAccess;
  /** Milliseconds for each operation, and for the start before the first message. */
  readonly timeout: number;
  readonly take: TakeMessage;
  readonly ready: () => void;
  /** Ends the reception when it aborts. */
  readonly stop: AbortSignal;
}

/** The shared state of the links of one call. */
export class Reception {
  readonly options: ReceptionOptions;
  readonly deps: ApprovalSourceDeps;
  /** After its abort no new message is processed. */
  readonly stopping: AbortSignal;
  readonly #failure = Promise.withResolvers<never>();
  readonly #failed = new AbortController();
  readonly #graceOver = new AbortController();
  readonly #connectionLost = new AbortController();
  /** Its abort destroys the connection. */
  readonly #cut = new AbortController();
  readonly #running = new Running();
  #opening: Promise<BusClient> | null = null;
  #cancelLimit = () => {};
  #isAttached = false;

  constructor(options: ReceptionOptions, deps: ApprovalSourceDeps) {
    this.options = options;
    this.deps = deps;
    this.stopping = AbortSignal.any([options.stop, this.#failed.signal]);
    this.#failure.promise.catch(() => undefined);
  }

  /** After its abort pending verdicts are not awaited. */
  get graceOver(): AbortSignal {
    return this.#graceOver.signal;
  }

  /** After its abort nothing can be settled. */
  get connectionLost(): AbortSignal {
    return this.#connectionLost.signal;
  }

  /** Receives messages; never resolves. @throws BridgeError, or the error of `take` unchanged */
  async run(stream: ReceiveMessages): Promise<never> {
    this.#read(stream).catch((error: unknown) => this.lose(error));
    return await this.#failure.promise;
  }

  /** Stops receiving, settles the decided messages within a second, and closes the connection. Never rejects. */
  async leave(): Promise<void> {
    this.#cancelLimit();
    this.#failed.abort();
    const timer = new AbortController();
    const after = (delayMs: number, run: () => void) =>
      void sleep(this.deps, delayMs, timer.signal).then(run, () => undefined);
    after(VERDICT_MS, () => this.#graceOver.abort());
    after(LEAVE_MS, () => this.#cut.abort());
    // The SDK cannot close a link that is not attached yet.
    if (!this.#isAttached || this.connectionLost.aborted) this.#cut.abort();
    await orAbort(this.#running.ended(), this.#cut.signal).catch(() => undefined);
    this.#connectionLost.abort();
    const bus = await this.#opening?.catch(() => null);
    await bus?.close();
    timer.abort();
    this.#cut.abort();
  }

  /** Reports that messages can arrive. Called again after an idle link was reattached. */
  attached(): void {
    this.#cancelLimit();
    if (!this.#isAttached && !this.stopping.aborted) this.options.ready();
    this.#isAttached = true;
  }

  /** Ends the call with this error unchanged. Decided messages are still settled. */
  fail(error: unknown): void {
    this.#failure.reject(error);
    this.#failed.abort();
  }

  /** Ends the call because the link or the connection is lost. */
  lose(error: unknown): void {
    if (this.connectionLost.aborted) return;
    const fault = sourceFault(error, this.options.place);
    this.#connectionLost.abort(fault);
    this.fail(fault);
  }

  /** Registers work that must end before the connection is closed. */
  track<T>(work: Promise<T>): Promise<T> {
    return this.#running.track(work);
  }

  /**
   * Runs one operation with a time limit, and ends it if the connection is lost, which the SDK's promises do not do.
   * @param moreMs added to the limit @throws the operation's error, or BridgeError BRIDGE_SERVICE_BUS_TIMEOUT
   */
  async inTime<T>(work: () => Promise<T>, moreMs = 0): Promise<T> {
    const { timeout, place } = this.options;
    using limit = deadline(
      this.deps,
      timeout + moreMs,
      () => busTimeoutFault(place, formatDuration(timeout)),
      this.connectionLost,
    );
    limit.signal.throwIfAborted();
    return await orAbort(work(), limit.signal);
  }

  async #read(stream: ReceiveMessages): Promise<void> {
    const { access, sessions, place, timeout } = this.options;
    this.#cancelLimit = this.deps.after(timeout, () => this.lose(busTimeoutFault(place, formatDuration(timeout))));
    const target = access.target();
    this.#opening = BusClient.create(
      target,
      this.#untilCut(access.connector(target)),
      sessions ? SESSION_WAIT_MS : timeout,
      this.deps,
    );
    const bus = await this.#opening;
    const { lost } = bus;
    lost.addEventListener('abort', () => this.lose(connectionFault(lost.reason, place)), { once: true });
    if (!this.stopping.aborted) await stream(bus, this);
  }

  /** Returns connections that end with this call. */
  #untilCut(connect: Connect): Connect {
    const cut = this.#cut.signal;
    return async (signal) => {
      const stream = await connect(AbortSignal.any([signal, cut]));
      cut.addEventListener('abort', () => stream.destroy(), { once: true });
      return stream;
    };
  }
}
