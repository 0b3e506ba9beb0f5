// Bridges → their events merged and sorted; reads a bridge again when its stream reports a change.
import type { CancelTimer } from '../../time/clock.ts';
import type { VerbContext } from '../verb.ts';
import { type FleetEvent, mergedEvents } from './fleet-event.ts';
import type { WatchedAddress } from './watched-address.ts';
import { WatchedBridge } from './watched-bridge.ts';

const TICK_MS = 100;
/** The most requests for documents that run at once. */
const MOST_READING = 8;
/** How many bridges are read again in one tick, and the least time between two readings of one. */
const READINGS_A_TICK = 2;
const PAUSE_MS = 250;
/** Every bridge is read again after this time, for its sinks and its readiness; in a large fleet later. */
const PERIOD_MS = 5000;
const PERIOD_PER_BRIDGE_MS = 100;
/** New connections begin this far apart. */
const CONNECT_MS = 2;

/** All bridges that are watched. */
export class Fleet {
  readonly #context: Pick<VerbContext, 'deps' | 'signal'>;
  readonly #onChange: () => void;
  readonly #bridges = new Map<string, WatchedBridge>();
  #visible: ReadonlySet<WatchedBridge> = new Set();
  #cancelTick: CancelTimer = () => {};

  constructor(context: Pick<VerbContext, 'deps' | 'signal'>, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
  }

  get bridges(): readonly WatchedBridge[] {
    return [...this.#bridges.values()];
  }

  /** Watches these bridges, and no others any more. */
  watch(addresses: readonly WatchedAddress[]): void {
    const wanted = new Set(addresses.map(({ url }) => url.href));
    for (const [href, bridge] of this.#bridges) {
      if (wanted.has(href)) continue;
      bridge.close();
      this.#bridges.delete(href);
    }
    const fresh = addresses.filter(({ url }) => !this.#bridges.has(url.href));
    for (const [index, address] of fresh.entries()) {
      const bridge = new WatchedBridge(address, this.#context, this.#onChange);
      this.#bridges.set(address.url.href, bridge);
      bridge.open(index * CONNECT_MS);
    }
    this.#onChange();
    this.#cancelTick();
    this.#tick();
  }

  /** The bridges of the events on the screen, which are read first. */
  show(bridges: Iterable<WatchedBridge>): void {
    this.#visible = new Set(bridges);
  }

  /** Each event once, by urgency. */
  events(): readonly FleetEvent[] {
    return mergedEvents(this.#bridges.values());
  }

  close(): void {
    this.#cancelTick();
    for (const bridge of this.#bridges.values()) bridge.close();
  }

  #tick(): void {
    this.#cancelTick = this.#context.deps.after(TICK_MS, () => this.#tick());
    const nowMs = this.#context.deps.elapsedMs();
    const periodMs = Math.max(PERIOD_MS, this.#bridges.size * PERIOD_PER_BRIDGE_MS);
    const due: { readonly bridge: WatchedBridge; readonly rank: number }[] = [];
    let reading = 0;
    for (const bridge of this.#bridges.values()) {
      bridge.checkSilence();
      if (bridge.isReading) reading += 1;
      const rank = this.#rank(bridge, nowMs, periodMs);
      if (rank !== null) due.push({ bridge, rank });
    }
    due.sort((one, other) => one.rank - other.rank || one.bridge.readMs - other.bridge.readMs);
    let readings = READINGS_A_TICK;
    for (const { bridge, rank } of due.slice(0, Math.max(0, MOST_READING - reading))) {
      // The first reading of each is not limited: nothing of it is on the screen yet.
      if (rank > 0 && readings-- <= 0) break;
      const isWhole = rank === 0 || nowMs - bridge.readMs > periodMs;
      void bridge.read(isWhole ? 'all' : 'events');
    }
  }

  /** Returns how soon a bridge must be read, 0 first; null if not now. */
  #rank(bridge: WatchedBridge, nowMs: number, periodMs: number): number | null {
    const ageMs = nowMs - bridge.readMs;
    if (bridge.isReading || !bridge.isConnected) return null;
    if (bridge.staleness === 'unknown') return 0;
    if (ageMs < PAUSE_MS) return null;
    if (bridge.staleness === 'changed') return this.#visible.has(bridge) ? 1 : 2;
    return ageMs > periodMs ? 3 : null;
  }
}
