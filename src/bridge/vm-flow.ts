// The identity of the VM → its flow: none yet, one that ends no events, or the complete one.
import type { Logger } from 'pino';
import type { JournalledEntry } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Identity } from './identity.ts';
import type { RunningFlow, RunningFlowParts } from './running-flow.ts';
import type { Sinks } from './sinks.ts';

/** The maximum number of ids of published CloudEvents in one log line. */
const MOST_IDS = 20;

export interface VmFlowParts {
  readonly identity: Pick<Identity, 'isPresumed' | 'isIdentified' | 'observer' | 'source'>;
  readonly outbox: Pick<Outbox, 'setAside'>;
  readonly sinks: Pick<Sinks, 'close'>;
  readonly create: (more: Pick<RunningFlowParts, 'wasApproved'>) => RunningFlow;
  /** The flow has changed; null: there is none. */
  readonly onFlow: (flow: RunningFlow | null) => void;
  readonly stop: AbortSignal;
  readonly logger: Logger;
}

export class VmFlow implements AsyncDisposable {
  readonly #parts: VmFlowParts;
  #flow: RunningFlow | null = null;
  #isConfirmed = false;
  /** CloudEvents that were published while the store was only presumed to belong to this VM. */
  #published: string[] = [];
  /** The keys of events with an approval in a store that was set aside. */
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

  /**
   * Handles documents as far as the store may be compared. May be called repeatedly.
   * @throws BridgeError BRIDGE_STORE_*
   */
  begin(): void {
    const { identity, logger } = this.#parts;
    if (!identity.isPresumed) return;
    if (this.#flow === null) this.#start();
    if (!identity.isIdentified || this.#isConfirmed) return;
    this.#flow?.confirm();
    this.#isConfirmed = true;
    if (this.#published.length > 0)
      logger.info({ area: 'identity' }, "the store is considered this VM's own: ended events are published, too");
    this.#published = [];
  }

  /** These CloudEvents are on disk. */
  committed(entries: readonly JournalledEntry[]): void {
    if (!this.#parts.identity.isIdentified) for (const { id } of entries) this.#published.push(id);
  }

  /**
   * Stops the flow of another VM's store. `begin` then handles documents with a new, empty store.
   * @throws BridgeError BRIDGE_STORE_*
   */
  async setAside(vmId: string): Promise<void> {
    const { sinks, outbox, stop, logger } = this.#parts;
    await this.#end();
    await sinks.close(0);
    stop.throwIfAborted();
    const folder = outbox.setAside(`vmId is ${vmId} now`);
    logger.warn(
      { area: 'store', folder },
      'the store belongs to another VM, as in a copied disk image: the bridge has moved it to this folder, and neither compares nor sends its content',
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
      // Nothing uses this flow yet, and the next attempt creates another one: a flow without the stored state would
      // give wrong answers.
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
