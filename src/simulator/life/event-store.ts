// Orders and the passing of time → the events of a group of machines, from the first moment of each to its last.
import type { Deps } from '../../time.ts';
import type { Refusal } from '../answer.ts';
import { changedEntry, type Entry, entryOf, isApprovable, lowerCased, type PastEntry } from './entry.ts';
import { type EventFields, listedFields, newEvent, STARTED_FOR_MS, startedLooks, type WireEvent } from './event.ts';
import { guid } from './guid.ts';
import type { Machine } from './machine.ts';
import { View } from './view.ts';

/** The event after an order, or why the order was refused. */
type Outcome = WireEvent | Refusal;

export function isRefusal(outcome: Outcome): outcome is Refusal {
  return 'detail' in outcome;
}

const LONGEST_PAST = 200;

/** EventIds are found without regard to case. Never gives an EventId twice and never changes one. */
export class EventStore {
  /** What the machines see of it. */
  readonly view: View;
  readonly #machines: readonly Machine[];
  readonly #random: Deps['random'];
  /** By EventId in lower case, in the order in which they were scheduled. */
  readonly #entries = new Map<string, Entry>();
  readonly #usedIds = new Set<string>();
  readonly #past: PastEntry[] = [];
  /** Undefined where it has to be looked for again. */
  #nextDueMs: number | null | undefined = null;

  /** @param ownOnly each machine sees the events that name it, and no others */
  constructor(machines: readonly Machine[], random: Deps['random'], ownOnly = false) {
    this.#machines = machines;
    this.#random = random;
    this.view = new View(machines, ownOnly, () => this.entries());
  }

  /** All that there is, shown or not, in the order in which it was scheduled. */
  entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  /** The last 200, oldest first. */
  past(): readonly PastEntry[] {
    return this.#past;
  }

  has(eventId: string): boolean {
    return this.#entries.has(eventId.toLowerCase());
  }

  /** When the next event starts or goes by itself; null where none will. */
  nextDueMs(): number | null {
    if (this.#nextDueMs !== undefined) return this.#nextDueMs;
    let next: number | null = null;
    for (const { startsAtMs, goneAtMs } of this.#entries.values()) {
      for (const dueMs of [startsAtMs, goneAtMs]) if (dueMs !== null && (next === null || dueMs < next)) next = dueMs;
    }
    this.#nextDueMs = next;
    return next;
  }

  /** Starts and removes what is due by itself at `atMs`. */
  runDue(atMs: number): void {
    this.view.together(() => {
      for (const [key, entry] of this.#entries) {
        if (entry.startsAtMs !== null && entry.startsAtMs <= atMs) this.#start(key, entry, atMs);
        else if (entry.goneAtMs !== null && entry.goneAtMs <= atMs) this.#remove(key, 'completed', atMs);
      }
    });
  }

  schedule(fields: EventFields, atMs: number): Outcome {
    const eventId = fields.EventId ?? this.#unusedId();
    const key = eventId.toLowerCase();
    if (this.#usedIds.has(key)) return { status: 409, detail: `EventId "${eventId}" was given before; an EventId is never used twice.` };
    const names = this.#machines.map(({ name }) => name);
    const event = newEvent(eventId, fields, names, atMs);
    const { startedForMs = STARTED_FOR_MS, otherTenantsMs = 0 } = fields;
    this.#put(key, entryOf(event, { seen: lowerCased(fields.seen), startedForMs, otherTenantsMs, isRecorded: false }, atMs));
    return event;
  }

  /** Changes fields; giving EventStatus `Started` starts the event. */
  change(eventId: string, fields: EventFields, atMs: number): Outcome {
    return this.#move(eventId, (key, entry) => {
      const { EventId, ...given } = listedFields(fields, atMs);
      const { event } = entry;
      if (EventId !== undefined && EventId !== event.EventId) return { status: 409, detail: 'An EventId is never changed.' };
      if (event.EventStatus === 'Started' && given.EventStatus === 'Scheduled')
        return { status: 409, detail: 'What has started cannot become Scheduled again.' };
      if (event.EventStatus === 'Started' && given.NotBefore) return { status: 409, detail: 'What has started has no NotBefore.' };
      const { startedForMs = entry.startedForMs, otherTenantsMs = entry.otherTenantsMs } = fields;
      const seen = fields.seen === undefined ? entry.seen : lowerCased(fields.seen);
      const changed = startedLooks({ ...event, ...given });
      this.#put(key, changedEntry({ ...entry, seen, startedForMs, otherTenantsMs }, changed, given.NotBefore !== undefined, atMs));
      return changed;
    });
  }

  start(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (key, entry) =>
      entry.event.EventStatus === 'Started' ? { status: 409, detail: 'It has started already.' } : this.#start(key, entry, atMs),
    );
  }

  /** Started → gone. */
  end(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (key, entry) =>
      entry.event.EventStatus === 'Scheduled'
        ? { status: 409, detail: 'It has not started: start it first, or cancel it.' }
        : this.#remove(key, 'completed', atMs),
    );
  }

  /** Scheduled → gone. */
  cancel(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (key, entry) =>
      entry.event.EventStatus === 'Started'
        ? { status: 409, detail: 'It has started: what has started can only end.' }
        : this.#remove(key, 'canceled', atMs),
    );
  }

  /** StartRequests of one machine, all or none. Returns the ids that it does not see, which spoil it. What has started stays as it is. */
  approve(vm: string, eventIds: readonly string[], atMs: number, effect: boolean): readonly string[] {
    const seen = new Set(this.view.listed(vm).map(({ EventId }) => EventId.toLowerCase()));
    const unknown = eventIds.filter((id) => !seen.has(id.toLowerCase()));
    if (unknown.length > 0 || !effect) return unknown;
    this.view.together(() => {
      for (const id of eventIds) this.#approve(id.toLowerCase(), atMs);
    });
    return [];
  }

  /** Takes these events off the list, whatever their state; all without `eventIds`. */
  withdraw(atMs: number, eventIds: Iterable<string> = [...this.#entries.keys()]): void {
    this.view.together(() => {
      for (const id of eventIds) if (this.has(id)) this.#remove(id.toLowerCase(), 'withdrawn', atMs);
    });
  }

  /** A recorded document takes the place of all that is listed, under its own incarnation. */
  replay(incarnation: number, events: readonly WireEvent[], atMs: number): void {
    this.view.together(() => {
      const listed = new Set(events.map(({ EventId }) => EventId.toLowerCase()));
      for (const [key, { event }] of this.#entries) {
        if (!listed.has(key)) this.#remove(key, event.EventStatus === 'Started' ? 'completed' : 'canceled', atMs);
      }
      for (const event of events) {
        const facts = { seen: null, startedForMs: STARTED_FOR_MS, otherTenantsMs: 0, isRecorded: true };
        const fresh = { ...entryOf(event, facts, atMs), startsAtMs: null, goneAtMs: null };
        const known = this.#entries.get(event.EventId.toLowerCase());
        const { scheduledAtMs = fresh.scheduledAtMs, startedAtMs = null } = known ?? {};
        this.#put(event.EventId.toLowerCase(), { ...fresh, scheduledAtMs, startedAtMs: startedAtMs ?? fresh.startedAtMs });
        this.#moveToEnd(event.EventId.toLowerCase());
      }
    });
    this.view.countFrom(incarnation);
  }

  /** So that a recorded document is listed in its own order. */
  #moveToEnd(key: string): void {
    const entry = this.#entries.get(key) as Entry;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #move(eventId: string, move: (key: string, entry: Entry) => Outcome): Outcome {
    const key = eventId.toLowerCase();
    const entry = this.#entries.get(key);
    if (entry) return move(key, entry);
    if (this.#usedIds.has(key)) return { status: 409, detail: `Event "${eventId}" is over; nothing can be done with it any more.` };
    return { status: 404, detail: `No event has the EventId "${eventId}".` };
  }

  #approve(key: string, atMs: number): void {
    const entry = this.#entries.get(key);
    if (!entry || !isApprovable(entry)) return;
    const startsAtMs = Math.min(entry.startsAtMs ?? Number.POSITIVE_INFINITY, atMs + entry.otherTenantsMs);
    const approved = { ...entry, approvedAtMs: atMs, startsAtMs };
    if (startsAtMs > atMs) this.#put(key, approved);
    else this.#start(key, approved, atMs);
  }

  #start(key: string, entry: Entry, atMs: number): WireEvent {
    const event = startedLooks({ ...entry.event, EventStatus: 'Started' });
    this.#put(key, { ...entry, event, startedAtMs: atMs, startsAtMs: null, goneAtMs: atMs + entry.startedForMs });
    return event;
  }

  #put(key: string, entry: Entry): void {
    this.view.together(() => {
      this.view.change(this.#entries.get(key), entry);
      this.#entries.set(key, entry);
      this.#usedIds.add(key);
      this.#nextDueMs = undefined;
    });
  }

  #remove(key: string, end: PastEntry['end'], atMs: number): WireEvent {
    const entry = this.#entries.get(key) as Entry;
    this.view.together(() => {
      this.view.change(entry, undefined);
      this.#entries.delete(key);
      this.#nextDueMs = undefined;
    });
    this.#past.push({ ...entry, endedAtMs: atMs, end });
    if (this.#past.length > LONGEST_PAST) this.#past.shift();
    return entry.event;
  }

  #unusedId(): string {
    for (;;) {
      const id = guid(this.#random);
      if (!this.#usedIds.has(id.toLowerCase())) return id;
    }
  }
}
