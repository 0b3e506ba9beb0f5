// A kind of approval source in memory → what its readers did with each message.
import * as v from 'valibot';
import type {
  ApprovalMessage,
  ApprovalSource,
  ApprovalSourceDefinition,
  MessageVerdict,
} from '../../adapters/approval-source.ts';
import { BridgeError } from '../../src/errors.ts';
import { secret } from '../../src/schema/pieces.ts';

const options = v.strictObject({
  readers: v.optional(v.picklist(['each', 'one']), 'each'),
  giveBack: v.optional(
    v.pipe(v.boolean(), v.description('Whether a message can go back to the other readers.')),
    false,
  ),
  password: v.exactOptional(secret()),
  /** What is read from; without it, what no other source reads. */
  topic: v.exactOptional(v.string()),
  /** Options that cannot work together, which shows only when the source is made. */
  broken: v.optional(v.boolean(), false),
});

type Options = v.InferOutput<typeof options>;

interface Held extends ApprovalMessage {
  deliveries: number;
  verdict: MessageVerdict | null;
}

/** Where the messages of one source stand. */
export class MemoryBroker {
  /** While it is set, nothing can be received or checked. */
  fault: BridgeError | null = null;
  /** False: what a reader makes of a message never arrives here, so the message comes again to the next reader. */
  settles = true;
  /** Called for each verdict that arrives here. */
  onVerdict: (message: ApprovalMessage, verdict: MessageVerdict) => void = () => {};
  /** When `receive` was called, in virtual wall time. */
  readonly receives: number[] = [];
  /** Whose id each source was made with. */
  readonly observerIds: string[] = [];
  /** How many readers are open. */
  open = 0;
  readonly #wallMs: () => number;
  readonly #held: Held[] = [];
  readonly #wakes = new Set<() => void>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** An object is sent as its JSON. Returns the message's id. */
  send(body: object | string | Uint8Array | null, more: Partial<ApprovalMessage> = {}): string {
    const offset = this.#held.length;
    const bytes =
      body === null || body instanceof Uint8Array
        ? body
        : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
    const message = {
      id: `0/${offset}`,
      place: { topic: 'approvals', partition: 0, offset },
      body: bytes,
      sentMs: this.#wallMs(),
      ...more,
    };
    this.#held.push({ ...message, deliveries: 0, verdict: null });
    this.wake();
    return message.id;
  }

  /** Approvals of these events. */
  approve(...eventIds: readonly string[]): string {
    return this.send({ StartRequests: eventIds.map((EventId) => ({ EventId })) });
  }

  /**
   * What was said of each message, in the order in which they were sent: `settle`, `giveBack`, the reason of a refusal,
   * or null.
   */
  get verdicts(): readonly (string | null)[] {
    return this.#held.map(({ verdict }) =>
      verdict !== null && typeof verdict === 'object' ? verdict.reason : verdict,
    );
  }

  get deliveries(): readonly number[] {
    return this.#held.map(({ deliveries }) => deliveries);
  }

  /** Readers look again at what there is, and at the fault. */
  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** The first that is unsettled and not in `seen`. */
  next(seen: ReadonlySet<Held>): Held | undefined {
    return this.#held.find((held) => (held.verdict === null || held.verdict === 'giveBack') && !seen.has(held));
  }

  /** Resolves at the next `wake`. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakes.delete(wake);
        resolve();
      };
      this.#wakes.add(wake);
    });
  }

  /** How `receive` works: one message at a time, in order; one that was given back comes again. */
  async read(
    take: (message: ApprovalMessage) => Promise<MessageVerdict>,
    gone: AbortSignal,
    ready: () => void,
  ): Promise<void> {
    this.receives.push(this.#wallMs());
    const seen = new Set<Held>();
    if (this.fault === null) ready();
    while (this.fault === null && !gone.aborted) {
      const held = this.next(seen);
      if (held === undefined) await this.changed();
      else {
        held.deliveries += 1;
        const verdict = await take(held);
        if (this.settles) held.verdict = verdict;
        if (this.settles) this.onVerdict(held, verdict);
        if (verdict !== 'giveBack') seen.add(held);
      }
    }
    throw this.fault ?? gone.reason;
  }
}

/** The brokers by the sources' names. */
export class MemorySources {
  readonly #brokers = new Map<string, MemoryBroker>();
  readonly #wallMs: () => number;

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  broker(name: string): MemoryBroker {
    const broker = this.#brokers.get(name) ?? new MemoryBroker(this.#wallMs);
    this.#brokers.set(name, broker);
    return broker;
  }

  /** The source of the adapter `memory` as one process has it: once `killed` aborts, it takes and settles nothing. */
  definition(killed: AbortSignal): ApprovalSourceDefinition<Options> {
    return {
      options,
      readersOf: ({ readers }) => readers,
      streamsOf: ({ topic }) => (topic === undefined ? [] : [topic]),
      create: ({ giveBack, broken }, { name, observerId }) => {
        if (broken) throw new BridgeError('BRIDGE_CONFIG_INVALID', `approvals.sources.${name} is broken`);
        return memorySource(this.broker(name), { giveBack, observerId, killed });
      },
    };
  }
}

function memorySource(
  broker: MemoryBroker,
  {
    giveBack,
    observerId,
    killed,
  }: { readonly giveBack: boolean; readonly observerId: string; readonly killed: AbortSignal },
): ApprovalSource {
  return {
    canGiveBack: giveBack,
    check: async () => {
      if (broker.fault) throw broker.fault;
      return `as ${observerId}`;
    },
    receive: async (take, signal, ready) => {
      killed.throwIfAborted();
      broker.observerIds.push(observerId);
      broker.open += 1;
      const gone = AbortSignal.any([signal, killed]);
      const taken = async (message: ApprovalMessage) => {
        gone.throwIfAborted();
        const verdict = await take(message);
        // A process that was killed meanwhile tells the broker nothing.
        if (killed.aborted) return new Promise<never>(() => {});
        return verdict;
      };
      try {
        await Promise.race([broker.read(taken, gone, ready), rejectedBy(gone)]);
      } finally {
        broker.open -= 1;
      }
    },
    close: () => {},
  };
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** What a source throws that is away. */
export function sourceAway(message = 'the broker is away'): BridgeError {
  return new BridgeError('BRIDGE_DELIVERY_FAILED', message, { disposition: 'retry' });
}
