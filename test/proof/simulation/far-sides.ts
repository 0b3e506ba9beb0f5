// Deliveries of one machine → its far sides in memory, which fail as their trouble says.
import * as v from 'valibot';
import type { Adapter, AdapterDefinition, Outcome } from '../../../adapters/adapter.ts';
import { BridgeError, type BridgeErrorDetails } from '../../../src/errors.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { MachineClock } from '../../virtual/machine-clock.ts';
import { Chance } from './chance.ts';
import type { KillMoment, SinkTrouble } from './history.ts';
import type { Observations } from './observation.ts';

const options = v.strictObject({
  inFlight: v.number(),
  batch: v.number(),
  label: v.string(),
  approve: v.exactOptional(v.string()),
  hold: v.optional(v.boolean(), false),
});

/** The machine around the far sides. */
export interface FarSideDeps {
  readonly clock: MachineClock;
  readonly nowMs: () => number;
  readonly seed: string;
  readonly see: (observation: FarSideObservation) => void;
  /** A moment at which a kill may find the process. */
  readonly moment: (moment: KillMoment) => void;
}

type FarSideObservation =
  Extract<
    Parameters<Observations['add']>[0],
    { readonly kind: 'arrival' | 'receipt' | 'refusal' | 'prepared' }
  > extends infer Each
    ? Each extends unknown
      ? Omit<Each, 'atMs' | 'wallMs' | 'machine'>
      : never
    : never;

interface Trouble {
  readonly kind: SinkTrouble;
  readonly untilMs: number;
}

export class FarSides {
  readonly #deps: FarSideDeps;
  readonly #troubles = new Map<string, Trouble>();
  /** How often each CloudEvent came to each sink, so that every attempt has luck of its own. */
  readonly #attempts = new Map<string, number>();

  constructor(deps: FarSideDeps) {
    this.#deps = deps;
  }

  trouble(sink: string, kind: SinkTrouble, forMs: number): void {
    this.#troubles.set(sink, { kind, untilMs: this.#deps.nowMs() + forMs });
  }

  heal(): void {
    this.#troubles.clear();
  }

  /** The adapter `memory` as one process has it: once `killed` aborts, nothing that it sends arrives. */
  definition(killed: AbortSignal): AdapterDefinition<v.InferOutput<typeof options>> {
    return {
      type: 'memory',
      options,
      approverOf: ({ approve, hold }) => (approve === undefined ? null : { name: approve, holds: hold }),
      create: ({ inFlight, batch, approve }, { name }) => ({
        limits: { inFlight, batch, batchBytes: 1024 * 1024 },
        check: async () => null,
        deliver: (rows, signal) => this.#deliver(name, rows, approve !== undefined, AbortSignal.any([signal, killed])),
        close: () => undefined,
      }),
    };
  }

  async #deliver(
    sink: string,
    rows: readonly Delivery[],
    isApproving: boolean,
    signal: AbortSignal,
  ): ReturnType<Adapter['deliver']> {
    this.#deps.moment('call');
    signal.throwIfAborted();
    const outcomes: Outcome[] = [];
    // A batch is one request: it is away, slow or silent as a whole.
    const chance = this.#chanceOf(sink, rows[0] as Delivery);
    const trouble = this.#troubleOf(sink);
    if (trouble === 'hanging') await silence(signal);
    const waitMs = trouble === 'slow' ? chance.between(100, 8000) : isApproving ? chance.between(500, 20_000) : 0;
    const isEarly = chance.is(0.5);
    if (waitMs > 0 && !isEarly) await sleep(this.#deps.clock, waitMs, signal);
    const ofAll = trouble === 'refusing' && rows.length > 1 ? this.#answerToAll(sink, rows, chance) : null;
    if (ofAll !== null) return rows.map(() => ofAll);
    // After one that failed, no later one of its key is sent, as the contract of adapters asks.
    const failed = new Map<string, BridgeError>();
    for (const row of rows) {
      const outcome = failed.get(row.partitionKey) ?? this.#outcome(sink, row, trouble, isApproving);
      if (outcome instanceof BridgeError) failed.set(row.partitionKey, failure({ disposition: 'retry', status: 503 }));
      outcomes.push(outcome);
    }
    this.#deps.moment('arrival');
    signal.throwIfAborted();
    if (waitMs > 0 && isEarly) await sleep(this.#deps.clock, waitMs, signal);
    // The wait and the kill may end in one moment.
    signal.throwIfAborted();
    const taken = rows.filter((_row, place) => !(outcomes[place] instanceof BridgeError)).map(({ id }) => id);
    if (taken.length > 0) this.#deps.see({ kind: 'receipt', sink, ids: taken });
    return outcomes;
  }

  #outcome(sink: string, row: Delivery, trouble: SinkTrouble | null, isApproving: boolean): Outcome {
    const chance = this.#chanceOf(sink, row, 'row');
    if (trouble === 'refusing' && this.#isRefused(sink, row)) {
      this.#deps.see({ kind: 'refusal', sink, id: row.id });
      return failure({ disposition: 'refused', status: 422 });
    }
    if (trouble === 'away') return failure({ disposition: 'retry', scope: 'sink', status: 'ECONNREFUSED' });
    if (trouble === 'misconfigured') return failure({ disposition: 'misconfigured', scope: 'sink', status: 404 });
    if (trouble === 'throttled' && chance.is(0.5))
      return failure({ disposition: 'retry', status: 429, retryAfterMs: chance.between(0, 30_000) });
    if (trouble === 'failing' && chance.is(0.6)) return failure({ disposition: 'retry', status: 503 });
    const text = new TextDecoder().decode(row.bytes);
    this.#deps.see({ kind: 'arrival', sink, id: row.id, partitionKey: row.partitionKey, text });
    if (trouble === 'answer-lost' && chance.is(0.6)) return failure({ disposition: 'retry', status: 'ECONNRESET' });
    const approves = isApproving && (row.change === 'scheduled' || row.change === 'updated') && chance.is(0.85);
    if (approves) this.#deps.see({ kind: 'prepared', sink, id: row.id });
    return approves ? { result: 'accepted', approves } : 'accepted';
  }

  /** As a webhook in batch mode: one bad member refuses the whole batch, if the far side is not overloaded. */
  #answerToAll(sink: string, rows: readonly Delivery[], chance: Chance): BridgeError | null {
    if (chance.is(0.3)) return failure({ disposition: 'retry', status: 503 });
    return rows.some((row) => this.#isRefused(sink, row)) ? failure({ disposition: 'refused', status: 400 }) : null;
  }

  /** The same at every attempt: a refusal is for good. */
  #isRefused(sink: string, { id }: Delivery): boolean {
    return new Chance(this.#deps.seed, sink, id).is(0.5);
  }

  #troubleOf(sink: string): SinkTrouble | null {
    const trouble = this.#troubles.get(sink);
    return trouble !== undefined && this.#deps.nowMs() < trouble.untilMs ? trouble.kind : null;
  }

  #chanceOf(sink: string, { id }: Delivery, what = 'call'): Chance {
    const key = `${sink} ${id} ${what}`;
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    return new Chance(this.#deps.seed, key, attempt);
  }
}

function failure(details: BridgeErrorDetails): BridgeError {
  return new BridgeError('BRIDGE_DELIVERY_FAILED', 'the far side failed', details);
}

function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
