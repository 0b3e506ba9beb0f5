// Messages of one key, in order → sends on one link of one client, and the result of each.
import type { ServiceBusMessage, ServiceBusSender } from '@azure/service-bus';
import { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { deadline, orAbort } from '../../../src/time/clock.ts';
import type { Outcome } from '../../adapter.ts';
import type { NamespaceAccess, Target } from '../connection/access.ts';
import { BusClient, type BusClientDeps } from '../connection/service-bus-client.ts';
import {
  busTimeoutFault,
  connectionFault,
  type FaultPlace,
  serviceBusFault,
  tooLargeFault,
} from '../service-bus-fault.ts';
import { leastBytes } from './message-encoder.ts';

/** Every entity accepts a message of this size. */
const ALWAYS_ACCEPTED_BYTES = 64 * 1024;

interface SenderOptions {
  /** Queue or topic. */
  readonly entity: string;
  /** Milliseconds for one send, including its connection. */
  readonly timeout: number;
  readonly place: FaultPlace;
  readonly access: NamespaceAccess;
}

/** A client with its single link. */
interface SenderLink {
  readonly target: Target;
  readonly bus: BusClient;
  readonly sender: ServiceBusSender;
  users: number;
  isRetired: boolean;
  /** Whether the service has answered on the link. */
  isProven: boolean;
}

/** The number of messages in one send, and their common outcome. */
interface Sent {
  readonly count: number;
  readonly outcome: Outcome;
}

export class BusSender {
  readonly #options: SenderOptions;
  readonly #deps: BusClientDeps;
  readonly #closings = new Set<Promise<void>>();
  #link: Promise<SenderLink> | null = null;

  constructor(options: SenderOptions, deps: BusClientDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Sends the messages in as few transfers as possible, one after the other, and resolves with one outcome for each
   * message. After a failure, the later messages share its outcome, to keep the order. A single refused message is
   * skipped. @throws only the signal's reason
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

  /** Connects, presents the token and attaches the link; sends nothing. @throws BridgeError, or the signal's reason */
  async attach(signal: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(signal, async ({ sender }, abortSignal) => {
      await sender.createMessageBatch({ abortSignal });
      return 'accepted';
    });
    if (outcome !== 'accepted') throw outcome;
  }

  /** Closes the links. No send may be running. Never rejects. */
  async close(): Promise<void> {
    const link = await this.#link?.catch(() => null);
    this.#link = null;
    if (link) this.#retire(link);
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
      const limit =
        bytes <= ALWAYS_ACCEPTED_BYTES ? bytes : (await sender.createMessageBatch({ abortSignal })).maxSizeInBytes;
      if (bytes > limit) return tooLargeFault(this.#options.place, bytes, limit);
      await sender.sendMessages(first, { abortSignal });
      return 'accepted';
    });
    return { count, outcome };
  }

  /** Runs one operation with the time limit. Rejects only if `signal` aborts. */
  async #attempt(
    signal: AbortSignal,
    work: (link: SenderLink, abortSignal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    const { timeout, place } = this.#options;
    using limit = deadline(this.#deps, timeout, () => busTimeoutFault(place, formatDuration(timeout)), signal);
    let link: SenderLink | null = null;
    try {
      link = await orAbort(this.#acquire(), limit.signal);
      link.users += 1;
      const outcome = await this.#use(link, limit.signal, work);
      link.isProven = true;
      return outcome;
    } catch (error) {
      if (link && this.#isUseless(link, limit.signal)) this.#retire(link);
      if (signal.aborted) throw signal.reason;
      return serviceBusFault(error, place);
    } finally {
      if (link) this.#release(link);
    }
  }

  /**
   * Runs an operation and ends it if the connection is lost or the signal aborts, which the SDK's promises do not
   * always do.
   */
  async #use(
    link: SenderLink,
    until: AbortSignal,
    work: (link: SenderLink, abortSignal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { lost } = link.bus;
    const ending = new AbortController();
    const end = () => ending.abort(lost.aborted ? connectionFault(lost.reason, this.#options.place) : until.reason);
    if (lost.aborted || until.aborted) end();
    lost.addEventListener('abort', end, { once: true });
    until.addEventListener('abort', end, { once: true });
    try {
      return await orAbort(work(link, ending.signal), ending.signal);
    } finally {
      lost.removeEventListener('abort', end);
      until.removeEventListener('abort', end);
    }
  }

  #isUseless({ bus, isProven }: SenderLink, limited: AbortSignal): boolean {
    // After a time-out or an abort without any answer of the service, the SDK may hang while connecting.
    return bus.lost.aborted || (limited.aborted && (limited.reason instanceof BridgeError || !isProven));
  }

  /** Returns the current link, or a new one if it is lost or the credentials changed. */
  async #acquire(): Promise<SenderLink> {
    const target = this.#options.access.target();
    const link = await this.#link?.catch(() => null);
    if (link && (link.bus.lost.aborted || link.target !== target)) this.#retire(link);
    this.#link ??= this.#open(target);
    return await this.#link;
  }

  async #open(target: Target): Promise<SenderLink> {
    try {
      const { access, timeout, entity } = this.#options;
      const bus = await BusClient.create(target, access.connector(target), timeout, this.#deps);
      return { target, bus, sender: bus.client.createSender(entity), users: 0, isRetired: false, isProven: false };
    } catch (error) {
      this.#link = null;
      throw error;
    }
  }

  /** Excludes a link from new sends, and closes it after its running sends. */
  #retire(link: SenderLink): void {
    if (link.isRetired) return;
    link.isRetired = true;
    this.#link = null;
    if (link.users === 0) this.#end(link);
  }

  #release(link: SenderLink): void {
    link.users -= 1;
    if (link.isRetired && link.users === 0) this.#end(link);
  }

  #end({ bus }: SenderLink): void {
    const closing: Promise<void> = bus.close().finally(() => this.#closings.delete(closing));
    this.#closings.add(closing);
  }
}
