// Orders and time → a group's events, from scheduled to ended.
import type { Deps } from '../../time/clock.ts';
import type { ControlRefusal } from '../answer.ts';
import { EntryList } from './entry-list.ts';
import {
  clearStartedNotBefore,
  type EventFields,
  guid,
  listedFields,
  newEvent,
  STARTED_FOR_MS,
  type WireEvent,
} from './event.ts';
import type { Machine } from './machine.ts';
import {
  changedEntry,
  entryOf,
  isApprovable,
  lowerCased,
  type PastEntry,
  type SimulatedEvent,
} from './simulated-event.ts';
import type { View } from './view.ts';

/** The event after an order, or the refusal of the order. */
type Outcome = WireEvent | ControlRefusal;

export function isRefusal(outcome: Outcome): outcome is ControlRefusal {
  return 'detail' in outcome;
}

/** The events of a group. Finds EventIds ignoring case; never reuses or changes one. */
export class EventStore {
  readonly #list: EntryList;
  readonly #names: readonly string[];
  readonly #random: Deps['random'];
  readonly #aheadMs: () => number;

  /**
   * @param ownOnly each machine sees only the events that name it
   * @param aheadMs how far simulated time is currently ahead of the clock in which NotBefore is listed
   */
  constructor(machines: readonly Machine[], random: Deps['random'], ownOnly = false, aheadMs: () => number = () => 0) {
    this.#list = new EntryList(machines, ownOnly);
    this.#names = machines.map(({ name }) => name);
    this.#random = random;
    this.#aheadMs = aheadMs;
  }

  get view(): View {
    return this.#list.view;
  }

  /** Returns all events, shown or not, in the order in which they were scheduled. */
  entries(): readonly SimulatedEvent[] {
    return this.#list.all();
  }

  /** Returns the last 200 events that are over, oldest first. */
  past(): readonly PastEntry[] {
    return this.#list.past();
  }

  has(eventId: string): boolean {
    return this.#list.get(eventId) !== undefined;
  }

  /** Returns when the next event starts or ends by itself, or null if none will. */
  nextDueMs(): number | null {
    return this.#list.nextDueMs();
  }

  /** Starts and ends the events that are due at `atMs`. */
  runDue(atMs: number): void {
    const dueMs = this.nextDueMs();
    if (dueMs === null || dueMs > atMs) return;
    this.view.asOneChange(() => {
      for (const entry of this.entries()) {
        if (entry.startsAtMs !== null && entry.startsAtMs <= atMs) this.#start(entry, atMs);
        else if (entry.goneAtMs !== null && entry.goneAtMs <= atMs) this.#list.remove(entry, 'completed', atMs);
      }
    });
  }

  schedule(fields: EventFields, atMs: number): Outcome {
    const eventId = fields.EventId ?? this.#unusedId();
    if (this.#list.isUsed(eventId))
      return { status: 409, detail: `EventId "${eventId}" was already used: an EventId can be used only once.` };
    const aheadMs = this.#aheadMs();
    const event = newEvent(eventId, fields, this.#names, atMs - aheadMs);
    const { startedForMs = STARTED_FOR_MS, otherTenantsMs = 0 } = fields;
    this.#list.put(
      entryOf(event, { seen: lowerCased(fields.seen), startedForMs, otherTenantsMs, aheadMs, isRecorded: false }, atMs),
    );
    return event;
  }

  /** Changes fields; the EventStatus `Started` starts the event. */
  change(eventId: string, fields: EventFields, atMs: number): Outcome {
    return this.#move(eventId, (entry) => {
      const nowAheadMs = this.#aheadMs();
      const { EventId, ...given } = listedFields(fields, atMs - nowAheadMs);
      const { event } = entry;
      if (EventId !== undefined && EventId !== event.EventId)
        return { status: 409, detail: 'An EventId cannot be changed.' };
      if (event.EventStatus === 'Started' && given.EventStatus === 'Scheduled')
        return { status: 409, detail: 'A Started event cannot become Scheduled again.' };
      if (event.EventStatus === 'Started' && given.NotBefore)
        return { status: 409, detail: 'A Started event has no NotBefore.' };
      const { startedForMs = entry.startedForMs, otherTenantsMs = entry.otherTenantsMs } = fields;
      const seen = fields.seen === undefined ? entry.seen : lowerCased(fields.seen);
      const isMoved = given.NotBefore !== undefined;
      const aheadMs = isMoved ? nowAheadMs : entry.aheadMs;
      const changed = clearStartedNotBefore({ ...event, ...given });
      this.#list.put(changedEntry(entry, changed, { seen, startedForMs, otherTenantsMs, aheadMs }, isMoved, atMs));
      return changed;
    });
  }

  start(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (entry) =>
      entry.event.EventStatus === 'Started'
        ? { status: 409, detail: 'The event has already started.' }
        : this.#start(entry, atMs),
    );
  }

  end(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (entry) =>
      entry.event.EventStatus === 'Scheduled'
        ? { status: 409, detail: 'The event has not started: start it first, or cancel it.' }
        : this.#list.remove(entry, 'completed', atMs),
    );
  }

  cancel(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (entry) =>
      entry.event.EventStatus === 'Started'
        ? { status: 409, detail: 'The event has started: it can only be ended.' }
        : this.#list.remove(entry, 'canceled', atMs),
    );
  }

  /**
   * Applies the StartRequests of one machine, all or none. Events that have started stay unchanged.
   * @param effect false only checks the ids
   * @returns the ids that the machine does not see; if there are any, nothing is approved
   */
  approve(vm: string, eventIds: readonly string[], atMs: number, effect: boolean): readonly string[] {
    const listed = this.view.listedIds(vm);
    const unknown = eventIds.filter((id) => !listed.has(id.toLowerCase()));
    if (unknown.length > 0 || !effect) return unknown;
    this.view.asOneChange(() => {
      for (const id of eventIds) this.#approve(id, atMs);
    });
    return [];
  }

  /** Removes these events in any state; all events without `eventIds`. */
  withdraw(atMs: number, eventIds: readonly string[] = this.entries().map(({ event }) => event.EventId)): void {
    this.view.asOneChange(() => {
      for (const id of eventIds) {
        const entry = this.#list.get(id);
        if (entry) this.#list.remove(entry, 'withdrawn', atMs);
      }
    });
  }

  /**
   * Returns how far simulated time is ahead of the clock in which this event's NotBefore is listed. For an unknown
   * event, the current value.
   */
  aheadMsOf(eventId: string): number {
    return this.#list.get(eventId)?.aheadMs ?? this.#aheadMs();
  }

  /** Replaces all events by a recorded document, in its order and with its incarnation. */
  replay(incarnation: number, events: readonly WireEvent[], atMs: number): void {
    this.view.asOneChange(() => {
      const listed = new Set(events.map(({ EventId }) => EventId.toLowerCase()));
      for (const entry of this.entries()) {
        if (listed.has(entry.event.EventId.toLowerCase())) continue;
        this.#list.remove(entry, entry.event.EventStatus === 'Started' ? 'completed' : 'canceled', atMs);
      }
      for (const event of events) {
        const aheadMs = this.aheadMsOf(event.EventId);
        const facts = { seen: null, startedForMs: STARTED_FOR_MS, otherTenantsMs: 0, aheadMs, isRecorded: true };
        const fresh = { ...entryOf(event, facts, atMs), startsAtMs: null, goneAtMs: null };
        const { scheduledAtMs = fresh.scheduledAtMs, startedAtMs = null } = this.#list.get(event.EventId) ?? {};
        this.#list.put({ ...fresh, scheduledAtMs, startedAtMs: startedAtMs ?? fresh.startedAtMs }, true);
      }
    });
    // The recording already has the delay of the real service.
    this.view.updateSnapshot();
    this.view.setIncarnation(incarnation);
  }

  #move(eventId: string, move: (entry: SimulatedEvent) => Outcome): Outcome {
    const entry = this.#list.get(eventId);
    if (entry) return move(entry);
    return this.#list.isUsed(eventId)
      ? { status: 409, detail: `Event "${eventId}" is over and cannot be changed any more.` }
      : { status: 404, detail: `No event has the EventId "${eventId}".` };
  }

  #approve(eventId: string, atMs: number): void {
    const entry = this.#list.get(eventId);
    if (!entry || !isApprovable(entry)) return;
    const startsAtMs = Math.min(entry.startsAtMs ?? Number.POSITIVE_INFINITY, atMs + entry.otherTenantsMs);
    const approved = { ...entry, approvedAtMs: atMs, startsAtMs };
    if (startsAtMs > atMs) this.#list.put(approved);
    else this.#start(approved, atMs);
  }

  #start(entry: SimulatedEvent, atMs: number): WireEvent {
    const event = clearStartedNotBefore({ ...entry.event, EventStatus: 'Started' });
    this.#list.put({ ...entry, event, startedAtMs: atMs, startsAtMs: null, goneAtMs: atMs + entry.startedForMs });
    return event;
  }

  #unusedId(): string {
    for (;;) {
      const id = guid(this.#random);
      if (!this.#list.isUsed(id)) return id;
    }
  }
}
