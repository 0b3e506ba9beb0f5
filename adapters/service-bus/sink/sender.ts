// Messages of one key, in order → sends on one link of one client, and the result of each.
import type { ServiceBusMessage, ServiceBusSender } from '@azure/service-bus';
import { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { deadline, orAbort } from '../../../src/time/clock.ts';
import type { Outcome } from '../../adapter.ts';
import type { NamespaceAccess, Target } from '../connection/access.ts';
import { BusClient, type BusClientDeps } from '../connection/service-bus-client.ts';
import { connectionFault, type FaultPlace, serviceBusFault, timeoutFault, tooLargeFault } from '../service-bus-fault.ts';
import { leastBytes } from './message-encoder.ts';

/** Every entity takes so much, so that nothing has to be asked. */
const SURELY_FITS_BYTES = 64 * 1024;

export interface SenderOptions {
  /** Queue or topic. */
  readonly entity: string;
  /** Milliseconds for one send, its connection included. */
  readonly timeout: number;
  readonly place: FaultPlace;
  readonly access: NamespaceAccess;
}

/** A client and its one link. */
interface Line {
  readonly target: Target;
  readonly bus: BusClient;
  readonly sender: ServiceBusSender;
  users: number;
  isRetired: boolean;
  /** The service has answered on it. */
  isProven: boolean;
}

/** The messages that one send took, from the front, and the outcome of all of them. */
interface Sent {
  readonly count: number;
  readonly outcome: Outcome;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #deps: BusClientDeps;
  readonly #closings = new Set<Promise<void>>();
  #line: Promise<Line> | null = null;

  constructor(options: SenderOptions, deps: BusClientDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * One outcome for each message. As few sends as they fit into, one after the other; once one failed, the rest share its outcome, so that
   * nothing passes it. A message that is refused alone is passed. @throws the signal's reason alone.
   */
  async send(messages: readonly ServiceBusMessage[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    while (outcomes.length < messages.length) {
      const { count, outcome } = await this.#sendNext(messages.slice(outcomes.length), signal);
      const isPassed = !(outcome instanceof BridgeError) || (count === 1 && outcome.disposition === 'refused');
      const settled = isPassed ? count : messages.length - outcomes.length;
      outcomes.push(...Array.from({ length: settled }, () => outcome));
    }
    return outcomes;
  }

  /** Connects, shows the token and attaches the link; sends nothing. @throws BridgeError, or the signal's reason. */
  async attach(signal: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(signal, async ({ sender }, abortSignal) => {
      await sender.createMessageBatch({ abortSignal });
      return 'accepted';
    });
    if (outcome !== 'accepted') throw outcome;
  }

  /** Nothing may be running. Never rejects. */
  async close(): Promise<void> {
    const line = await this.#line?.catch(() => null);
    this.#line = null;
    if (line) this.#retire(line);
    await Promise.all(this.#closings);
  }

  async #sendNext(messages: readonly ServiceBusMessage[], signal: AbortSignal): Promise<Sent> {
    let count = 1;
    const outcome = await this.#attempt(signal, async ({ sender }, abortSignal) => {
      const [first] = messages;
      if (first === undefined) return 'accepted';
      if (messages.length > 1) {
        const batch = await sender.createMessageBatch({ abortSignal });
        const misfit = messages.findIndex((message) => !batch.tryAddMessage(message));
        if (batch.count > 1) {
          count = misfit === -1 ? messages.length : misfit;
          await sender.sendMessages(batch, { abortSignal });
          return 'accepted';
        }
      }
      const bytes = leastBytes(first);
      const limit = bytes <= SURELY_FITS_BYTES ? bytes : (await sender.createMessageBatch({ abortSignal })).maxSizeInBytes;
      if (bytes > limit) return tooLargeFault(this.#options.place, bytes, limit);
      await sender.sendMessages(first, { abortSignal });
      return 'accepted';
    });
    return { count, outcome };
  }

  /** One operation under the time limit; only an abort from outside rejects. */
  async #attempt(signal: AbortSignal, work: (line: Line, abortSignal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    signal.throwIfAborted();
    const { timeout, place } = this.#options;
    const limit = deadline(this.#deps, timeout, () => timeoutFault(place, formatDuration(timeout)), signal);
    let line: Line | null = null;
    try {
      line = await orAbort(this.#take(), limit.signal);
      line.users += 1;
      const outcome = await this.#use(line, limit.signal, work);
      line.isProven = true;
      return outcome;
    } catch (error) {
      if (line && this.#isUseless(line, limit.signal)) this.#retire(line);
      if (signal.aborted) throw signal.reason;
      return serviceBusFault(error, place);
    } finally {
      limit.cancel();
      if (line) this.#release(line);
    }
  }

  /** The SDK's promises do not end with the connection, nor always with the signal. */
  async #use(line: Line, until: AbortSignal, work: (line: Line, abortSignal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    const { lost } = line.bus;
    const ending = new AbortController();
    const end = () => ending.abort(lost.aborted ? connectionFault(lost.reason, this.#options.place) : until.reason);
    if (lost.aborted || until.aborted) end();
    lost.addEventListener('abort', end, { once: true });
    until.addEventListener('abort', end, { once: true });
    try {
      return await orAbort(work(line, ending.signal), ending.signal);
    } finally {
      lost.removeEventListener('abort', end);
      until.removeEventListener('abort', end);
    }
  }

  #isUseless({ bus, isProven }: Line, limited: AbortSignal): boolean {
    // A time limit passed or an abort came: where the service never answered, the SDK may be stuck in the middle of connecting.
    return bus.lost.aborted || (limited.aborted && (limited.reason instanceof BridgeError || !isProven));
  }

  /** The line there is, or a new one where it is gone or for other credentials. */
  async #take(): Promise<Line> {
    const target = this.#options.access.target();
    const line = await this.#line?.catch(() => null);
    if (line && (line.bus.lost.aborted || line.target !== target)) this.#retire(line);
    this.#line ??= this.#open(target);
    return await this.#line;
  }

  async #open(target: Target): Promise<Line> {
    try {
      const { access, timeout, entity } = this.#options;
      const bus = await BusClient.create(target, access.connector(target), timeout, this.#deps);
      return { target, bus, sender: bus.client.createSender(entity), users: 0, isRetired: false, isProven: false };
    } catch (error) {
      this.#line = null;
      throw error;
    }
  }

  /** New sends get another one; those that run on it end first. */
  #retire(line: Line): void {
    if (line.isRetired) return;
    line.isRetired = true;
    this.#line = null;
    if (line.users === 0) this.#end(line);
  }

  #release(line: Line): void {
    line.users -= 1;
    if (line.isRetired && line.users === 0) this.#end(line);
  }

  #end({ bus }: Line): void {
    const closing: Promise<void> = bus.close().finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
  }
}
