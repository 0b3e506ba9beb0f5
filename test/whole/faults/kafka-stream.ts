// A store, a lane and a Kafka sink on the real clock → whether a topic holds what was attempted.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Outcome } from '../../../adapters/adapter.ts';
import { Lane } from '../../../src/delivery/lane.ts';
import type { LaneStatus } from '../../../src/delivery/lane-report.ts';
import type { ManagedAdapter } from '../../../src/delivery/managed-adapter.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { type Outbox, openOutbox } from '../../../src/outbox/outbox.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { createSink } from '../../adapters/kafka/start-kafka.ts';
import { sampleDelivery } from '../../adapters/sample-deliveries.ts';
import { type ReadRecord, readTopic } from '../../far-sides/kafka/records.ts';
import { poll } from '../../support/poll.ts';
import { entry, sinks, temporaryFolder } from '../../virtual/outbox-fixture.ts';

const SINK = 'stream';
/** Of a key, before the first is accepted: so that batches hold several of one key. */
const QUEUED_AT_ONCE = 3;
/** Of the longest wait: full jitter that always draws a little. */
const LITTLE = 0.03;

/** One call of the adapter, as far as one key is concerned. */
interface Attempt {
  /** Of CloudEvents, in order. */
  readonly ids: readonly string[];
  /** Null where the call was aborted. */
  readonly outcome: Outcome | null;
}

export interface StreamOptions {
  /** Of the sink, beside its type. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** 20 by default. */
  readonly keys?: number;
}

/**
 * Changes go out for each key in order, a new one for each that is accepted, so that something is always on its way.
 */
export class Stream {
  readonly #t: TestContext;
  readonly #outbox: Outbox;
  readonly #keys: readonly string[];
  readonly #attempts = new Map<string, Attempt[]>();
  readonly #queued = new Map<string, number>();
  #lane: Lane | undefined;
  #left = 0;
  /** Changes that the sink accepted so far. */
  accepted = 0;

  private constructor(t: TestContext, outbox: Outbox, keys: number) {
    this.#t = t;
    this.#outbox = outbox;
    this.#keys = Array.from({ length: keys }, (_, index) => `key-${index}`);
  }

  /** Opens a store and starts a lane over it. */
  static start(t: TestContext, { keys = 20, ...setup }: StreamOptions): Stream {
    const outbox = openOutbox(join(temporaryFolder(t), 'store'), {
      deps: systemDeps(),
      lock: true,
      synchronous: 'OFF',
    });
    outbox.sinks.sync(sinks(SINK));
    const stream = new Stream(t, outbox, keys);
    t.after(async () => {
      await stream.#lane?.close(0);
      outbox.close();
    });
    stream.#deliver(setup);
    return stream;
  }

  get status(): LaneStatus {
    assert.ok(this.#lane);
    return this.#lane.status();
  }

  /** What attempts failed with so far. */
  get failures(): BridgeError[] {
    return [...this.#attempts.values()]
      .flat()
      .flatMap(({ outcome }) => (outcome instanceof BridgeError ? [outcome] : []));
  }

  /** Another bridge over the same store, as after a restart with a corrected configuration. */
  async restart(setup: Pick<StreamOptions, 'options' | 'secrets'>): Promise<void> {
    await this.#lane?.close(0);
    this.#deliver(setup);
  }

  /** Lets so many changes more go out. */
  send(count: number): void {
    this.#left += count;
    for (let round = 0; round < QUEUED_AT_ONCE; round++) for (const key of this.#keys) this.#append(key);
    this.#lane?.wake();
  }

  /** Resolves once all that went out is accepted. */
  async done(): Promise<void> {
    try {
      await poll(() => this.#outbox.queue.backlog(SINK).queued === 0, 'the sink to accept all', 40_000);
    } catch (error) {
      throw new Error(
        `${(error as Error).message}: ${this.accepted} were accepted, the sink is ${JSON.stringify(this.status)}`,
      );
    }
    assert.equal(this.#outbox.queue.backlog(SINK).dead, 0, 'nothing was given up');
  }

  /**
   * Reads the topic and fails unless, for each key, it holds what the key's attempts explain, one after the other, and
   * nothing else: an accepted one all of its records, once; one that a broker refused none; one that `mayHaveArrived`
   * all of them or none. So nothing is lost, nothing is out of order, nothing stands behind what was sent later, and
   * only what got no answer is repeated.
   */
  async assertExplained(
    brokers: readonly string[],
    topic: string,
    mayHaveArrived: (failure: BridgeError) => boolean = isUnanswered,
  ): Promise<{ readonly repeats: number }> {
    const records = await readTopic(brokers, topic);
    const partitions = Map.groupBy(records, (record) => String(keyOf(record)));
    for (const key of this.#keys) {
      const log = (partitions.get(key) ?? []).map(idOf);
      const attempts = this.#attempts.get(key) ?? [];
      const expected = Array.from({ length: this.#queued.get(key) ?? 0 }, (_, index) => changeOf(key, index + 1).id);
      assert.deepEqual([...new Set(log)], expected, `all of ${key}, in order`);
      assert.ok(
        explains(attempts, log, mayHaveArrived),
        `${key}: ${JSON.stringify({ log: log.map(brief), attempts: attempts.map(told) })}`,
      );
    }
    assert.equal(partitions.size, this.#keys.length);
    return { repeats: records.length - this.accepted };
  }

  #deliver({ options, secrets = {} }: Pick<StreamOptions, 'options' | 'secrets'>): void {
    const { adapter, deps } = createSink(this.#t, { options, secrets });
    const noted = this.#noted(adapter);
    this.#lane = new Lane({
      name: SINK,
      adapter: noted,
      store: this.#outbox.queue,
      deps: { ...deps, random: () => LITTLE },
      logger: deps.logger,
    });
    this.#lane.start();
  }

  /** The same adapter; what goes in and comes out is written down. */
  #noted(adapter: ManagedAdapter): ManagedAdapter {
    return {
      limits: adapter.limits,
      check: (signal) => adapter.check(signal),
      deliver: async (batch, signal) => {
        const outcomes = await adapter.deliver(batch, signal).catch((error: unknown) => {
          this.#note(batch, null);
          throw error;
        });
        this.#note(batch, outcomes);
        return outcomes;
      },
      [Symbol.asyncDispose]: () => adapter[Symbol.asyncDispose](),
    };
  }

  #note(batch: readonly Delivery[], outcomes: readonly Outcome[] | null): void {
    const members = batch.map(({ id, partitionKey }, index) => ({
      id,
      partitionKey,
      outcome: outcomes?.[index] ?? null,
    }));
    for (const [key, own] of Map.groupBy(members, ({ partitionKey }) => partitionKey)) {
      const results = new Set(own.map(({ outcome }) => outcome));
      assert.equal(results.size, 1, 'the records of a key share a request, and so its outcome');
      this.#attemptsOf(key).push({ ids: own.map(({ id }) => id), outcome: own[0]?.outcome ?? null });
      if (!results.has('accepted')) continue;
      this.accepted += own.length;
      for (const _ of own) this.#append(key);
    }
    this.#lane?.wake();
  }

  #attemptsOf(key: string): Attempt[] {
    const attempts = this.#attempts.get(key) ?? [];
    this.#attempts.set(key, attempts);
    return attempts;
  }

  #append(key: string): void {
    if (this.#left === 0) return;
    this.#left -= 1;
    const place = (this.#queued.get(key) ?? 0) + 1;
    this.#queued.set(key, place);
    const { id, bytes } = changeOf(key, place);
    const now = Date.now();
    // Of today: a broker deletes what is older than a week.
    this.#outbox.transact((transaction) =>
      transaction.append(entry(id, { key, partitionKey: key, bytes, timeMs: now }), [SINK], now),
    );
  }
}

/**
 * Whether no broker said what became of it. Where nothing but a proxy's faults happens, every other failure is an
 * answer of a broker that has it not.
 */
export function isUnanswered({ code }: BridgeError): boolean {
  return code !== 'BRIDGE_KAFKA_UNAVAILABLE';
}

/**
 * Also where a leader answered that is none any more, or had to wait too long for the replicas: some of them may have
 * it.
 */
export function isUncertain(failure: BridgeError): boolean {
  return isUnanswered(failure) || failure.status !== 'NOT_ENOUGH_REPLICAS';
}

function explains(
  attempts: readonly Attempt[],
  log: readonly string[],
  mayHaveArrived: (failure: BridgeError) => boolean,
): boolean {
  /** How much of the log the attempts so far may stand for. */
  let lengths = new Set([0]);
  for (const { ids, outcome } of attempts) {
    const whole = [...lengths]
      .filter((length) => ids.every((id, index) => log[length + index] === id))
      .map((length) => length + ids.length);
    if (outcome === 'accepted') lengths = new Set(whole);
    else if (!(outcome instanceof BridgeError) || mayHaveArrived(outcome)) lengths = new Set([...lengths, ...whole]);
  }
  return lengths.has(log.length);
}

function changeOf(key: string, place: number): Delivery {
  return sampleDelivery({ partitionKey: key, seq: place });
}

function idOf({ headers }: ReadRecord): string {
  return headers.find(([name]) => name === 'ce_id')?.[1] ?? '';
}

function keyOf({ headers }: ReadRecord): string | null | undefined {
  return headers.find(([name]) => name === 'ce_partitionkey')?.[1];
}

function brief(id: string): number {
  return Number.parseInt(id.slice(-8), 16);
}

function told({ ids, outcome }: Attempt): string {
  const what = !(outcome instanceof BridgeError)
    ? outcome === null
      ? 'aborted'
      : 'accepted'
    : `${outcome.code} ${outcome.status}`;
  return `${ids.map(brief).join(' ')}: ${what}`;
}
