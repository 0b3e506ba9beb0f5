// Entries that are added, changed and removed → an ordered list by EventId; reports each change.
import type { WireEvent } from './event.ts';
import type { Machine } from './machine.ts';
import type { PastEntry, SimulatedEvent } from './simulated-event.ts';
import { View } from './view.ts';

const LONGEST_PAST = 200;

/** The events of a group, with those that ended last. */
export class EntryList {
  readonly view: View;
  /** By EventId in lower case, in order of arrival. */
  readonly #listed = new Map<string, SimulatedEvent>();
  readonly #usedIds = new Set<string>();
  readonly #past: PastEntry[] = [];
  /** Undefined if it has to be calculated again. */
  #nextDueMs: number | null | undefined = null;

  /** @param ownOnly each machine sees only the events that name it */
  constructor(machines: readonly Machine[], ownOnly: boolean) {
    this.view = new View(machines, ownOnly, () => this.all());
  }

  /** Returns a copy, in order of arrival. */
  all(): readonly SimulatedEvent[] {
    return [...this.#listed.values()];
  }

  get(eventId: string): SimulatedEvent | undefined {
    return this.#listed.get(eventId.toLowerCase());
  }

  /** Whether an event has, or ever had, this EventId. */
  isUsed(eventId: string): boolean {
    return this.#usedIds.has(eventId.toLowerCase());
  }

  /** Returns the last 200 events that are over, oldest first. */
  past(): readonly PastEntry[] {
    return this.#past;
  }

  nextDueMs(): number | null {
    if (this.#nextDueMs !== undefined) return this.#nextDueMs;
    let next: number | null = null;
    for (const { startsAtMs, goneAtMs } of this.#listed.values()) {
      for (const dueMs of [startsAtMs, goneAtMs]) if (dueMs !== null && (next === null || dueMs < next)) next = dueMs;
    }
    this.#nextDueMs = next;
    return next;
  }

  /** Adds an entry, or replaces the one with the same EventId. @param isLast moves it to the end */
  put(entry: SimulatedEvent, isLast = false): void {
    const key = entry.event.EventId.toLowerCase();
    this.view.asOneChange(() => {
      this.view.change(this.#listed.get(key), entry);
      if (isLast) this.#listed.delete(key);
      this.#listed.set(key, entry);
      this.#usedIds.add(key);
      this.#nextDueMs = undefined;
    });
  }

  /** Removes a listed entry. @returns its event in its last state */
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
}
