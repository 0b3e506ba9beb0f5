// One call of `receive` → a client of its own, from connecting to closing, and what ended it.
import { formatDuration } from '../../../src/formats/durations.ts';
import { deadline, orAbort, sleep } from '../../../src/time/clock.ts';
import { Running } from '../../../src/time/running.ts';
import type { ApprovalSourceDeps } from '../../adapter.ts';
import type { Access } from '../connection/access.ts';
import type { Connect } from '../connection/connector.ts';
import { BusClient } from '../connection/service-bus-client.ts';
import { connectionFault, timeoutFault } from '../service-bus-fault.ts';
import type { Line, Take } from './link-messages.ts';
import type { Probed } from './link-probe.ts';
import { streamMessages } from './message-stream.ts';
import { SESSION_WAIT_MS, streamSessions } from './session-stream.ts';
import { sourceFault } from './source-fault.ts';

/** After the end, for the verdict on what is being taken: a pause before a message is given back lasts longer. */
const VERDICT_MS = 300;
/** After the end, for settling; the bridge gives a source two seconds in all. */
const LEAVE_MS = 1000;

export interface ReceptionOptions extends Probed {
  readonly access: Access;
  /** Milliseconds for each operation, and for all that comes before the first message. */
  readonly timeout: number;
  readonly take: Take;
  readonly ready: () => void;
  /** Ends the reception, at the caller's request. */
  readonly stop: AbortSignal;
}

export class Reception {
  readonly #options: ReceptionOptions;
  readonly #deps: ApprovalSourceDeps;
  readonly #failure = Promise.withResolvers<never>();
  readonly #failed = new AbortController();
  readonly #hurry = new AbortController();
  readonly #dead = new AbortController();
  readonly #gone = new AbortController();
  readonly #running = new Running();
  #opening: Promise<BusClient> | null = null;
  #cancelLimit = () => {};
  #isAttached = false;

  constructor(options: ReceptionOptions, deps: ApprovalSourceDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#failure.promise.catch(() => undefined);
  }

  /** Never resolves. @throws BridgeError, or what `take` threw, unchanged */
  async run(): Promise<never> {
    this.#read().catch((error: unknown) => this.#die(error));
    return await this.#failure.promise;
  }

  /** Takes no more, settles what is decided and says goodbye, all within a second, and ends the connection. Never rejects. */
  async leave(): Promise<void> {
    this.#cancelLimit();
    this.#failed.abort();
    const timer = new AbortController();
    const after = (delayMs: number, run: () => void) => void sleep(this.#deps, delayMs, timer.signal).then(run, () => undefined);
    after(VERDICT_MS, () => this.#hurry.abort());
    after(LEAVE_MS, () => this.#gone.abort());
    // What is not attached yet, the SDK does not let go of.
    if (!this.#isAttached || this.#dead.signal.aborted) this.#gone.abort();
    await orAbort(this.#running.ended(), this.#gone.signal).catch(() => undefined);
    this.#dead.abort();
    const bus = await this.#opening?.catch(() => null);
    await bus?.close();
    timer.abort();
    this.#gone.abort();
  }

  async #read(): Promise<void> {
    const { access, entity, sessions, place, timeout, take, stop } = this.#options;
    this.#cancelLimit = this.#deps.after(timeout, () => this.#die(timeoutFault(place, formatDuration(timeout))));
    const target = access.target();
    this.#opening = BusClient.create(target, this.#mortal(access.connector(target)), sessions ? SESSION_WAIT_MS : timeout, this.#deps);
    const bus = await this.#opening;
    const { lost } = bus;
    lost.addEventListener('abort', () => this.#die(connectionFault(lost.reason, place)), { once: true });
    const line: Line = {
      bus,
      entity,
      take,
      logger: this.#deps.logger,
      over: AbortSignal.any([stop, this.#failed.signal]),
      hurry: this.#hurry.signal,
      dead: this.#dead.signal,
      givesBack: () => stop.aborted,
      attached: () => this.#attached(),
      fail: (error) => this.#fail(error),
      die: (error) => this.#die(error),
      track: (work) => this.#running.track(work),
      inTime: (work, moreMs) => this.#inTime(work, moreMs),
    };
    if (line.over.aborted) return;
    if (sessions) await streamSessions(line, this.#options, this.#deps);
    else streamMessages(line, this.#deps);
  }

  /** Connections that end with this call. */
  #mortal(connect: Connect): Connect {
    const gone = this.#gone.signal;
    return async (signal) => {
      const stream = await connect(AbortSignal.any([signal, gone]));
      gone.addEventListener('abort', () => stream.destroy(), { once: true });
      return stream;
    };
  }

  /** Called again after an idle link was reattached. */
  #attached(): void {
    const { stop, ready } = this.#options;
    this.#cancelLimit();
    if (!this.#isAttached && !stop.aborted && !this.#failed.signal.aborted) ready();
    this.#isAttached = true;
  }

  #fail(error: unknown): void {
    this.#failure.reject(error);
    this.#failed.abort();
  }

  #die(error: unknown): void {
    if (this.#dead.signal.aborted) return;
    const fault = sourceFault(error, this.#options.place);
    this.#dead.abort(fault);
    this.#fail(fault);
  }

  /** The SDK's promises do not end with the connection. */
  async #inTime<T>(work: () => Promise<T>, moreMs = 0): Promise<T> {
    const { timeout, place } = this.#options;
    const limit = deadline(this.#deps, timeout + moreMs, () => timeoutFault(place, formatDuration(timeout)), this.#dead.signal);
    try {
      limit.signal.throwIfAborted();
      return await orAbort(work(), limit.signal);
    } finally {
      limit.cancel();
    }
  }
}
