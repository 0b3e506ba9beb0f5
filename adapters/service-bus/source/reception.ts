// One call of `receive` → a client of its own, from connecting to closing, and what ended it.
import { formatDuration } from '../../../src/formats/durations.ts';
import { deadline, orAbort, sleep } from '../../../src/time/clock.ts';
import { Running } from '../../../src/time/running.ts';
import type { ApprovalSourceDeps, TakeMessage } from '../../adapter.ts';
import type { NamespaceAccess } from '../connection/access.ts';
import type { Connect } from '../connection/connector.ts';
import { BusClient } from '../connection/service-bus-client.ts';
import { connectionFault, timeoutFault } from '../service-bus-fault.ts';
import type { Probed } from './link-probe.ts';
import { sourceFault } from './source-fault.ts';

/** After the end, for the verdict on what is being taken: a pause before a message is given back lasts longer. */
const VERDICT_MS = 300;
/** After the end, for settling; the bridge gives a source two seconds in all. */
const LEAVE_MS = 1000;
/** So long the service is asked to wait for a session with a message; the SDK gives an attach up after a minute. */
export const SESSION_WAIT_MS = 35_000;

/** Attaches links and hands over what comes on them, until `stopping`. */
export type Stream = (bus: BusClient, reception: Reception) => Promise<void>;

export interface ReceptionOptions extends Probed {
  readonly access: NamespaceAccess;
  /** Milliseconds for each operation, and for all that comes before the first message. */
  readonly timeout: number;
  readonly take: TakeMessage;
  readonly ready: () => void;
  /** Ends the reception, at the caller's request. */
  readonly stop: AbortSignal;
}

/** What the links of one call share. */
export class Reception {
  readonly options: ReceptionOptions;
  readonly deps: ApprovalSourceDeps;
  /** From its abort on no message is taken. */
  readonly stopping: AbortSignal;
  readonly #failure = Promise.withResolvers<never>();
  readonly #failed = new AbortController();
  readonly #graceOver = new AbortController();
  readonly #connectionLost = new AbortController();
  /** From its abort on the connection is cut. */
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

  /** From its abort on no verdict is waited for. */
  get graceOver(): AbortSignal {
    return this.#graceOver.signal;
  }

  /** From its abort on nothing can be settled. */
  get connectionLost(): AbortSignal {
    return this.#connectionLost.signal;
  }

  /** Never resolves. @throws BridgeError, or what `take` threw, unchanged */
  async run(stream: Stream): Promise<never> {
    this.#read(stream).catch((error: unknown) => this.lose(error));
    return await this.#failure.promise;
  }

  /** Takes no more, settles what is decided and says goodbye, all within a second, and ends the connection. Never rejects. */
  async leave(): Promise<void> {
    this.#cancelLimit();
    this.#failed.abort();
    const timer = new AbortController();
    const after = (delayMs: number, run: () => void) => void sleep(this.deps, delayMs, timer.signal).then(run, () => undefined);
    after(VERDICT_MS, () => this.#graceOver.abort());
    after(LEAVE_MS, () => this.#cut.abort());
    // What is not attached yet, the SDK does not let go of.
    if (!this.#isAttached || this.connectionLost.aborted) this.#cut.abort();
    await orAbort(this.#running.ended(), this.#cut.signal).catch(() => undefined);
    this.#connectionLost.abort();
    const bus = await this.#opening?.catch(() => null);
    await bus?.close();
    timer.abort();
    this.#cut.abort();
  }

  /** Messages can come now. Called again after an idle link was reattached. */
  attached(): void {
    this.#cancelLimit();
    if (!this.#isAttached && !this.stopping.aborted) this.options.ready();
    this.#isAttached = true;
  }

  /** Ends the call with this error, as it is; what was decided is settled still. */
  fail(error: unknown): void {
    this.#failure.reject(error);
    this.#failed.abort();
  }

  /** Ends the call because the link, or the connection, is of no use any more. */
  lose(error: unknown): void {
    if (this.connectionLost.aborted) return;
    const fault = sourceFault(error, this.options.place);
    this.#connectionLost.abort(fault);
    this.fail(fault);
  }

  /** What has to end before the connection does. */
  track<T>(work: Promise<T>): Promise<T> {
    return this.#running.track(work);
  }

  /**
   * One operation within its time limit, `moreMs` longer where it waits for something; the SDK's promises do not end with the connection.
   * @throws what it throws, or BridgeError BRIDGE_SERVICE_BUS_TIMEOUT
   */
  async inTime<T>(work: () => Promise<T>, moreMs = 0): Promise<T> {
    const { timeout, place } = this.options;
    const limit = deadline(this.deps, timeout + moreMs, () => timeoutFault(place, formatDuration(timeout)), this.connectionLost);
    try {
      limit.signal.throwIfAborted();
      return await orAbort(work(), limit.signal);
    } finally {
      limit.cancel();
    }
  }

  async #read(stream: Stream): Promise<void> {
    const { access, sessions, place, timeout } = this.options;
    this.#cancelLimit = this.deps.after(timeout, () => this.lose(timeoutFault(place, formatDuration(timeout))));
    const target = access.target();
    this.#opening = BusClient.create(target, this.#mortal(access.connector(target)), sessions ? SESSION_WAIT_MS : timeout, this.deps);
    const bus = await this.#opening;
    const { lost } = bus;
    lost.addEventListener('abort', () => this.lose(connectionFault(lost.reason, place)), { once: true });
    if (!this.stopping.aborted) await stream(bus, this);
  }

  /** Connections that end with this call. */
  #mortal(connect: Connect): Connect {
    const cut = this.#cut.signal;
    return async (signal) => {
      const stream = await connect(AbortSignal.any([signal, cut]));
      cut.addEventListener('abort', () => stream.destroy(), { once: true });
      return stream;
    };
  }
}
