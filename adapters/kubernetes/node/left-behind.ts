// A node that says it is prepared for events that this bridge never saw → taken back for those.
import { messageOf } from '../../../src/errors.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import { recordOf } from './node-change.ts';
import type { NodeKeeper } from './node-keeper.ts';

/** Until it is in view what is over. */
const LOOK_MS = 5000;
/** After a look at the node that failed. */
const RETRY_MS = 60_000;

export interface LeftBehindParts {
  /** For the node that this VM is. */
  readonly keeperOf: (vm: string) => NodeKeeper;
  readonly deps: AdapterDeps;
}

/**
 * A bridge whose store was lost never hears of the end of an event that was over before its first document. It takes back what the annotation
 * says for such events, once, when no document can list them any more; an event that it saw itself has its `ended`.
 */
export class LeftBehind {
  readonly #parts: LeftBehindParts;
  readonly #closing = new AbortController();
  /** Of the look under way. */
  #interruption = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isTold = false;

  constructor(parts: LeftBehindParts) {
    this.#parts = parts;
  }

  /** Goes on until one look has gone well. */
  watch(): void {
    // The one rejection is the abort of `close`.
    this.#running = this.#watch().catch(() => undefined);
  }

  /** A delivery comes, which goes before this: it is looked again later. */
  interrupt(): void {
    this.#interruption.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #watch(): Promise<void> {
    const { deps } = this.#parts;
    for (let waitMs: number | null = LOOK_MS; waitMs !== null; ) {
      await sleep(deps, waitMs, this.#closing.signal);
      waitMs = await this.#look();
    }
  }

  /** @returns after how long it is to be looked again; null: never */
  async #look(): Promise<number | null> {
    const { deps } = this.#parts;
    const vm = deps.events.ownName();
    if (vm === null || !deps.events.isInView()) return LOOK_MS;
    this.#interruption = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, this.#interruption.signal]);
    try {
      await this.#release(vm, signal);
      return null;
    } catch (error) {
      if (signal.aborted) return LOOK_MS;
      if (!this.#isTold)
        deps.logger.warn(
          { reason: messageOf(error) },
          'what a former bridge left on the node could not be looked for: tried again each minute',
        );
      this.#isTold = true;
      return RETRY_MS;
    }
  }

  async #release(vm: string, signal: AbortSignal): Promise<void> {
    const { logger, events } = this.#parts.deps;
    const keeper = this.#parts.keeperOf(vm);
    const node = await keeper.find(signal);
    const prepared = node === null ? [] : recordOf(node).events;
    if (node === null || prepared.length === 0) return;
    keeper.expectVm(node, { vm });
    // What this process prepares the node for was stored before, so it is known by now.
    for (const { key } of prepared.filter((event) => !events.wasSeen(event.key)))
      if (await keeper.recover(key, signal)) logger.info({ eventId: key }, LEFT_BEHIND);
  }
}

const LEFT_BEHIND = 'the node is back from an event that is over and that this bridge never saw: the store was lost meanwhile';
