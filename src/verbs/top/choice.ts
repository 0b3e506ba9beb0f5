// The events of the fleet, a filter, keys → the events on the list, and the chosen one.
import { type FleetEvent, matches } from './fleet-event.ts';
import type { Key } from './keys.ts';

export class Choice {
  /** Words that an event must contain; empty: all events are listed. */
  filter = '';
  /** Those that the filter lets through, by urgency. */
  events: readonly FleetEvent[] = [];
  /** The number of events without the filter. */
  total = 0;
  /** The key of the chosen event, which may move. Null: the most urgent event, whichever that is. */
  #chosen: string | null = null;

  /** If the chosen event is gone, the one at its place is chosen. */
  update(all: readonly FleetEvent[]): void {
    const before = this.place;
    this.total = all.length;
    this.events = this.filter === '' ? all : all.filter((event) => matches(event, this.filter));
    if (this.place < 0) this.#choose(before);
  }

  /** The place of the chosen event in `events`; -1 if there is none. */
  get place(): number {
    if (this.#chosen === null) return this.events.length === 0 ? -1 : 0;
    return this.events.findIndex(({ event }) => event.key === this.#chosen);
  }

  get event(): FleetEvent | null {
    return this.events[this.place] ?? null;
  }

  /** Other keys change nothing. @param listed how many events the screen shows */
  move(key: Key, listed: number): void {
    const { place } = this;
    const steps: Partial<Record<string, number>> = {
      ...{ up: -1, down: 1, 'page-up': -listed, 'page-down': listed },
      ...{ home: -place, end: this.events.length },
    };
    const step = typeof key === 'string' ? steps[key] : undefined;
    if (step !== undefined) this.#choose(place + step);
  }

  #choose(place: number): void {
    const found = this.events[Math.min(place, this.events.length - 1)];
    this.#chosen = place <= 0 ? null : (found?.event.key ?? null);
  }
}
