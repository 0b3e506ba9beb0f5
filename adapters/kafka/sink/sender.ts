// Records → requests over a link, one at a time for each partition; replaces a failed link.
import { BridgeError } from '../../../src/errors.ts';
import { type CancelTimer, type Deps, orAbort } from '../../../src/time/clock.ts';
import { kafkaTimeoutFault } from '../kafka-fault.ts';
import type { KafkaOperation } from '../protocol-meanings.ts';
import { Mutex } from './mutex.ts';
import { pausableDeadline } from './pausable-deadline.ts';
import { type LinkOptions, ProducerLink } from './producer-link.ts';
import type { EncodedRecord } from './record-encoder.ts';

export interface KafkaSenderOptions extends LinkOptions {
  /** A link is closed after this idle time. */
  readonly idleMs: number;
}

interface PartitionQueue {
  readonly turns: Mutex;
  /** Resolves when no unanswered request can arrive any more. Newer records must wait for it. */
  clear: Promise<void>;
}

/**
 * Sends the records of a partition in the order of the calls. With `idempotent`, one request at a time is in flight
 * over all partitions, because kafkajs's sequence numbers are wrong otherwise.
 */
export class KafkaSender {
  readonly #options: KafkaSenderOptions;
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  readonly #queues = new Map<number, PartitionQueue>();
  readonly #shared: PartitionQueue = newQueue();
  #link: ProducerLink | null = null;
  #cancelIdle: CancelTimer | null = null;
  #running = 0;
  /** Whether any link had records accepted. */
  #hasWorked = false;

  constructor(options: KafkaSenderOptions, deps: Pick<Deps, 'after' | 'elapsedMs'>) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Resolves with the partitioner of the Java client. Connects if necessary. Rejects with the signal's reason.
   * @throws BridgeError
   */
  async choosePartition(signal: AbortSignal): Promise<(key: string) => number> {
    return await this.#busy(async () => {
      const link = await this.#open(signal);
      return (key) => link.choosePartition(key);
    });
  }

  /** Sends all records in one request. Rejects at once with the signal's reason. @throws BridgeError */
  async send(partition: number, records: readonly EncodedRecord[], signal: AbortSignal): Promise<void> {
    const queue = this.#options.idempotent ? this.#shared : this.#queueOf(partition);
    await this.#busy(async () => {
      await queue.turns.enter(signal);
      try {
        await this.#sendNow(queue, partition, records, signal);
      } finally {
        queue.turns.leave();
      }
    });
  }

  /** Closes the connections; disconnects properly if no request is in flight. Never rejects. */
  async close(): Promise<void> {
    this.#cancelIdle?.();
    const link = this.#link;
    this.#link = null;
    await link?.close();
  }

  async #sendNow(
    queue: PartitionQueue,
    partition: number,
    records: readonly EncodedRecord[],
    signal: AbortSignal,
  ): Promise<void> {
    await orAbort(queue.clear, signal);
    const link = await this.#open(signal);
    using limit = this.#limit(link, 'produce', signal);
    try {
      await link.send(partition, records, limit.signal);
    } catch (error) {
      if (link.isRetired) queue.clear = link.gone;
      // The waiting requests would time out too.
      if (error instanceof BridgeError && error.status === 'timeout') queue.turns.failWaiting(error);
      throw error;
    }
  }

  async #open(signal: AbortSignal): Promise<ProducerLink> {
    if (this.#link?.isOpen) return this.#link;
    if (this.#link === null || this.#link.isRetired) {
      this.#hasWorked ||= this.#link?.hasWorked ?? false;
      this.#link = new ProducerLink(this.#options, this.#deps, this.#hasWorked);
    }
    const link = this.#link;
    using limit = this.#limit(link, 'connect', signal);
    try {
      await orAbort(link.open(), limit.signal);
      return link;
    } catch (error) {
      if (!signal.aborted) link.retire();
      throw error;
    }
  }

  /** Returns a limit that does not count the pauses of brokers. */
  #limit(link: ProducerLink, operation: KafkaOperation, signal: AbortSignal) {
    const { timeoutMs } = this.#options;
    const reason = () => kafkaTimeoutFault(link.context(operation));
    return pausableDeadline(this.#deps, { limitMs: timeoutMs, heldUntilMs: () => link.heldUntilMs, reason }, signal);
  }

  /** Runs `work` and starts the idle timer when nothing is running any more. */
  async #busy<T>(work: () => Promise<T>): Promise<T> {
    this.#cancelIdle?.();
    this.#cancelIdle = null;
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#cancelIdle = this.#deps.after(this.#options.idleMs, () => void this.close());
    }
  }

  #queueOf(partition: number): PartitionQueue {
    const known = this.#queues.get(partition);
    if (known) return known;
    const queue = newQueue();
    this.#queues.set(partition, queue);
    return queue;
  }
}

function newQueue(): PartitionQueue {
  return { turns: new Mutex(), clear: Promise.resolve() };
}
