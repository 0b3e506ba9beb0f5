// A node with preparations for events that this bridge never saw → those preparations undone.
import { messageOf } from '../../../src/errors.ts';
import { sleep } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { KubernetesNode } from '../api/objects.ts';
import { recordOf } from './node-change.ts';
import type { NodeKeeper } from './node-keeper.ts';

/** The interval of checks until it is known which events have ended. */
const LOOK_MS = 5000;
/** The pause after a failed check of the node. */
const RETRY_MS = 60_000;

interface LeftBehindParts {
  /** Returns the keeper of this VM's node. */
  readonly keeperOf: (vm: string) => NodeKeeper;
  /** Reports a node that needs no preparation any more. */
  readonly onRestored: (node: KubernetesNode, key: string, signal: AbortSignal) => Promise<void>;
  readonly deps: AdapterDeps;
}

/**
 * If the store was lost, the bridge gets no `ended` of events that ended before its first document. This class undoes
 * the steps for such events, once, as soon as no document can list them any more. Events that the bridge saw get their
 * own `ended`.
 */
export class LeftBehind {
  readonly #parts: LeftBehindParts;
  readonly #closing = new AbortController();
  /** Aborts the check under way. */
  #interruption = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isLogged = false;

  constructor(parts: LeftBehindParts) {
    this.#parts = parts;
  }

  /** Repeats the check until it succeeds once. */
  watch(): void {
    // It rejects only on the abort of `close`.
    this.#running = this.#watch().catch(() => undefined);
  }

  /** Aborts the check for a delivery, which takes precedence; the check runs again later. */
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

  /** @returns the time until the next check, or null for none */
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
      if (!this.#isLogged)
        deps.logger.warn(
          { reason: messageOf(error) },
          'the sink cannot check if an earlier bridge left preparations on the node: it retries every minute',
        );
      this.#isLogged = true;
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
    // Events for which this process prepares the node were stored before, so `wasSeen` is true for them.
    for (const { key } of prepared.filter((event) => !events.wasSeen(event.key))) {
      const restored = await keeper.recover(key, signal);
      if (restored !== null) logger.info({ eventId: key }, LEFT_BEHIND);
      if (restored !== null && restored !== 'prepared') await this.#parts.onRestored(restored, key, signal);
    }
  }
}

const LEFT_BEHIND =
  'the node is back from an event that ended and that this bridge never saw, because the store was lost';
