// What is known of the VM → its flow: none yet, one by which nothing ends, the whole one.
import type { Logger } from 'pino';
import type { JournalledEntry } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Identity } from './identity.ts';
import type { RunningFlow, RunningFlowParts } from './running-flow.ts';
import type { Sinks } from './sinks.ts';

/** Of what cannot be taken back, so many ids stand in one log line. */
const MOST_IDS = 20;

export interface VmFlowParts {
  readonly identity: Pick<Identity, 'isPresumed' | 'isIdentified' | 'observer' | 'source'>;
  readonly outbox: Pick<Outbox, 'setAside'>;
  readonly sinks: Pick<Sinks, 'close'>;
  readonly create: (more: Pick<RunningFlowParts, 'wasApproved'>) => RunningFlow;
  /** Another flow is there, or null: none any more. */
  readonly onFlow: (flow: RunningFlow | null) => void;
  /** Aborts when the bridge stops. */
  readonly stop: AbortSignal;
  readonly logger: Logger;
}

/** One for each bridge. */
export class VmFlow implements AsyncDisposable {
  readonly #parts: VmFlowParts;
  #flow: RunningFlow | null = null;
  #isConfirmed = false;
  /** What was published while the store was presumed to be this VM's. */
  #published: string[] = [];
  /** Events with an approval in a store that was set aside, by their keys. */
  readonly #approved = new Set<string>();
  #ending: Promise<void> | null = null;

  constructor(parts: VmFlowParts) {
    this.#parts = parts;
  }

  /** Null until documents are handled. */
  get current(): RunningFlow | null {
    return this.#flow;
  }

  /** Null until it is known which VM this is. */
  get drills(): RunningFlow['drills'] | null {
    return this.#isConfirmed ? (this.#flow?.drills ?? null) : null;
  }

  /** Handles documents, if the store may be compared; as far as it may. Harmless where that is so already. @throws BridgeError BRIDGE_STORE_* */
  begin(): void {
    const { identity, logger } = this.#parts;
    if (!identity.isPresumed) return;
    if (this.#flow === null) this.#start();
    if (!identity.isIdentified || this.#isConfirmed) return;
    this.#flow?.confirm();
    this.#isConfirmed = true;
    if (this.#published.length > 0)
      logger.info({ area: 'identity' }, "the store is taken for this VM's own: what has ended is published, too");
    this.#published = [];
  }

  /** These CloudEvents are on disk. */
  committed(entries: readonly JournalledEntry[]): void {
    if (!this.#parts.identity.isIdentified) for (const { id } of entries) this.#published.push(id);
  }

  /** The store is another VM's: nothing of it goes on. `begin` handles documents by the empty store that follows. @throws BridgeError BRIDGE_STORE_* */
  async setAside(vmId: string): Promise<void> {
    const { sinks, outbox, stop, logger } = this.#parts;
    await this.#end();
    await sinks.close(0);
    stop.throwIfAborted();
    const folder = outbox.setAside(`vmId is ${vmId} now`);
    logger.warn(
      { area: 'store', folder },
      'the store was of another VM, as in a copied disk image: it is set aside in this folder, and nothing of it is compared or sent',
    );
    if (this.#published.length === 0) return;
    const ids = this.#published.slice(0, MOST_IDS);
    logger.error(
      { area: 'store', count: this.#published.length, ids },
      'before it was known that the store was of another VM, these CloudEvents were published in its name, and they cannot be taken back; approvals recorded since the start are void: what is listed now is published again',
    );
    this.#published = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#ending, this.#flow?.[Symbol.asyncDispose]()]);
  }

  #start(): void {
    const { identity, create, onFlow, logger } = this.#parts;
    const flow = create({ wasApproved: (key) => this.#approved.has(key) });
    try {
      flow.start();
    } catch (error) {
      // Nobody has seen it, and the next try makes another: one that knows nothing of what is stored would give wrong answers.
      void flow[Symbol.asyncDispose]();
      throw error;
    }
    this.#flow = flow;
    onFlow(flow);
    logger.info({ source: identity.source, name: identity.observer.name }, 'watching');
  }

  async #end(): Promise<void> {
    const flow = this.#flow;
    if (flow === null) return;
    this.#flow = null;
    this.#parts.onFlow(null);
    this.#ending = flow[Symbol.asyncDispose]();
    await this.#ending;
    for (const { key, occurrence } of flow.store.state.events.values())
      if (flow.approvals.approvalOf(key, occurrence) !== null) this.#approved.add(key);
  }
}
