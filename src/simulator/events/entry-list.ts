// Entries that come, change and go → an ordered list by EventId; reports each change.

import type { WireEvent } from './event.ts';
import type { Machine } from './machine.ts';
import type { PastEntry, SimulatedEvent } from './simulated-event.ts';
import { View } from './view.ts';

const LONGEST_PAST = 200;

export class EntryList {
  readonly view: View;
  /** By EventId in lower case, in the order in which they came. */
  readonly #listed = new Map<string, SimulatedEvent>();
  readonly #usedIds = new Set<string>();
  readonly #past: PastEntry[] = [];
  /** Undefined where it has to be looked for again. */
  #nextDueMs: number | null | undefined = null;

  /** @param ownOnly each machine sees the events that name it, and no others */
  constructor(machines: readonly Machine[], ownOnly: boolean) {
    this.view = new View(machines, ownOnly, () => this.all());
  }

  /** A copy, in the order in which they came. */
  all(): readonly SimulatedEvent[] {
    return [...this.#listed.values()];
  }

  get(eventId: string): SimulatedEvent | undefined {
    return this.#listed.get(eventId.toLowerCase());
  }

  /** Whether it is listed, or ever was. */
  isUsed(eventId: string): boolean {
    return this.#usedIds.has(eventId.toLowerCase());
  }

  /** The last 200 that went, oldest first. */
  past(): readonly PastEntry[] {
    return this.#past;
  }

  /** When the next one starts or goes by itself; null where none will. */
  nextDueMs(): number | null {
    if (this.#nextDueMs !== undefined) return this.#nextDueMs;
    let next: number | null = null;
    for (const { startsAtMs, goneAtMs } of this.#listed.values()) {
      for (const dueMs of [startsAtMs, goneAtMs]) if (dueMs !== null && (next === null || dueMs < next)) next = dueMs;
    }
    this.#nextDueMs = next;
    return next;
  }

  /** A new one, or another in the place of the one of that EventId. */
  put(entry: SimulatedEvent): void {
    this.view.asOneChange(() => {
      this.view.change(this.get(entry.event.EventId), entry);
      this.#set(entry);
    });
  }

  /** As `put`, and it comes last in any case. */
  putLast(entry: SimulatedEvent): void {
    this.view.asOneChange(() => {
      this.view.change(this.get(entry.event.EventId), entry);
      this.#listed.delete(entry.event.EventId.toLowerCase());
      this.#set(entry);
    });
  }

  /** @param entry one that is listed. Returns its event as it was last. */
  remove(entry: SimulatedEvent, end: PastEntry['end'], atMs: number): WireEvent {
    this.view.asOneChange(() => {
      this.view.change(entry, undefined);
      this.#listed.delete(entry.event.EventId.toLowerCase());
      this.#nextDueMs = undefined;
    });
    this.#past.push({ ...entry, endedAtMs: atMs, end });
    if (this.#past.length > LONGEST_PAST) this.#past.shift();
    return entry.event;
  }

  #set(entry: SimulatedEvent): void {
    const key = entry.event.EventId.toLowerCase();
    this.#listed.set(key, entry);
    this.#usedIds.add(key);
    this.#nextDueMs = undefined;
  }
}
