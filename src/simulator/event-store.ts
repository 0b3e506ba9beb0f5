// Orders and the passing of time → the events of a group of machines, and the incarnation that counts the changes of what they see.
import type { Deps } from '../time.ts';
import type { Refusal } from './answer.ts';
import { type EventFields, newEvent, STARTED_MS, startedLooks, startMoment, type WireEvent } from './event.ts';

interface Entry {
  readonly event: WireEvent;
  /** Lower-cased names of the machines that see it; null for all. */
  readonly seen: readonly string[] | null;
  /** Simulated time. */
  readonly startsAtMs: number | null;
  readonly goneAtMs: number | null;
}

/** The event after an order, or why the order was refused. */
type Outcome = WireEvent | Refusal;

export function isRefusal(outcome: Outcome): outcome is Refusal {
  return 'detail' in outcome;
}

/** All times are simulated milliseconds; EventIds are found without regard to case. Never gives an EventId twice and never changes one. */
export class EventStore {
  readonly #vms: readonly string[];
  readonly #random: Deps['random'];
  /** By EventId in lower case, in the order in which they were scheduled. */
  readonly #entries = new Map<string, Entry>();
  readonly #usedIds = new Set<string>();
  #incarnation = 1;
  #depth = 0;
  #visiblyChanged = false;

  constructor(vms: readonly string[], random: Deps['random']) {
    this.#vms = vms;
    this.#random = random;
  }

  /** Grows by one with each change of what the machines see. */
  get incarnation(): number {
    return this.#incarnation;
  }

  /** What this machine sees. */
  listed(vm: string): readonly WireEvent[] {
    return [...this.#entries.values()].filter((entry) => seenBy(entry, vm)).map((entry) => entry.event);
  }

  has(eventId: string): boolean {
    return this.#entries.has(eventId.toLowerCase());
  }

  /** When the next event starts or goes by itself; null where none will. */
  nextDueMs(): number | null {
    let next: number | null = null;
    for (const { startsAtMs, goneAtMs } of this.#entries.values()) {
      for (const dueMs of [startsAtMs, goneAtMs]) if (dueMs !== null && (next === null || dueMs < next)) next = dueMs;
    }
    return next;
  }

  /** Starts and removes what is due by itself at `atMs`. */
  runDue(atMs: number): void {
    this.together(() => {
      for (const [key, entry] of this.#entries) {
        if (entry.startsAtMs !== null && entry.startsAtMs <= atMs) this.#start(key, entry, atMs);
        else if (entry.goneAtMs !== null && entry.goneAtMs <= atMs) this.#remove(key);
      }
    });
  }

  /** Makes one change, and so one incarnation, of all that `work` does. */
  together<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
      if (this.#depth === 0 && this.#visiblyChanged) {
        this.#incarnation++;
        this.#visiblyChanged = false;
      }
    }
  }

  schedule(fields: EventFields, atMs: number): Outcome {
    const eventId = fields.EventId ?? this.#unusedId();
    const key = eventId.toLowerCase();
    if (this.#usedIds.has(key)) return { status: 409, detail: `EventId "${eventId}" was given before; an EventId is never used twice.` };
    this.#usedIds.add(key);
    const event = newEvent(eventId, fields, this.#vms, atMs);
    this.#put(key, { event, seen: lowerCased(fields.seen), startsAtMs: startMoment(event, atMs), goneAtMs: goneMoment(event, atMs) });
    return event;
  }

  /** Changes fields; giving EventStatus `Started` starts the event. */
  change(eventId: string, fields: EventFields, atMs: number): Outcome {
    return this.#move(eventId, (key, entry) => {
      const { seen, EventId, ...given } = fields;
      const { event } = entry;
      if (EventId !== undefined && EventId !== event.EventId) return { status: 409, detail: 'An EventId is never changed.' };
      if (event.EventStatus === 'Started' && given.EventStatus === 'Scheduled')
        return { status: 409, detail: 'What has started cannot become Scheduled again.' };
      if (event.EventStatus === 'Started' && given.NotBefore) return { status: 409, detail: 'What has started has no NotBefore.' };
      const changed = startedLooks({ ...event, ...given });
      const starts = event.EventStatus !== changed.EventStatus;
      this.#put(key, {
        event: changed,
        seen: seen === undefined ? entry.seen : lowerCased(seen),
        startsAtMs: given.NotBefore === undefined && !starts ? entry.startsAtMs : startMoment(changed, atMs),
        goneAtMs: starts ? goneMoment(changed, atMs) : entry.goneAtMs,
      });
      return changed;
    });
  }

  start(eventId: string, atMs: number): Outcome {
    return this.#move(eventId, (key, entry) =>
      entry.event.EventStatus === 'Started' ? { status: 409, detail: 'It has started already.' } : this.#start(key, entry, atMs),
    );
  }

  /** Started → gone. */
  end(eventId: string): Outcome {
    return this.#move(eventId, (key, entry) =>
      entry.event.EventStatus === 'Scheduled'
        ? { status: 409, detail: 'It has not started: start it first, or cancel it.' }
        : this.#remove(key),
    );
  }

  /** Scheduled → gone. */
  cancel(eventId: string): Outcome {
    return this.#move(eventId, (key, entry) =>
      entry.event.EventStatus === 'Started' ? { status: 409, detail: 'It has started: what has started can only end.' } : this.#remove(key),
    );
  }

  /** StartRequests of one machine, all or none. Returns the ids that it does not see, which spoil it. What has started stays as it is. */
  approve(vm: string, eventIds: readonly string[], atMs: number, effect: boolean): readonly string[] {
    const entries = eventIds.map((id) => [id, this.#entries.get(id.toLowerCase())] as const);
    const unknown = entries.filter(([, entry]) => !entry || !seenBy(entry, vm)).map(([id]) => id);
    if (unknown.length > 0 || !effect) return unknown;
    this.together(() => {
      for (const [id, entry] of entries) if (entry && isApprovable(entry.event)) this.#start(id.toLowerCase(), entry, atMs);
    });
    return [];
  }

  /** Takes these events off the list, whatever their state; all without `eventIds`. */
  withdraw(eventIds: Iterable<string> = [...this.#entries.keys()]): void {
    this.together(() => {
      for (const id of eventIds) if (this.has(id)) this.#remove(id.toLowerCase());
    });
  }

  #move(eventId: string, move: (key: string, entry: Entry) => Outcome): Outcome {
    const key = eventId.toLowerCase();
    const entry = this.#entries.get(key);
    if (entry) return move(key, entry);
    if (this.#usedIds.has(key)) return { status: 409, detail: `Event "${eventId}" is over; nothing can be done with it any more.` };
    return { status: 404, detail: `No event has the EventId "${eventId}".` };
  }

  #start(key: string, entry: Entry, atMs: number): WireEvent {
    const event = startedLooks({ ...entry.event, EventStatus: 'Started' });
    this.#put(key, { ...entry, event, startsAtMs: null, goneAtMs: goneMoment(event, atMs) });
    return event;
  }

  #put(key: string, entry: Entry): void {
    const before = this.#entries.get(key);
    const isSame = (vm: string) => JSON.stringify(seenBy(before, vm) && before?.event) === JSON.stringify(seenBy(entry, vm) && entry.event);
    this.together(() => {
      if (!this.#vms.every(isSame)) this.#visiblyChanged = true;
      this.#entries.set(key, entry);
    });
  }

  #remove(key: string): WireEvent {
    const entry = this.#entries.get(key) as Entry;
    this.together(() => {
      if (this.#vms.some((vm) => seenBy(entry, vm))) this.#visiblyChanged = true;
      this.#entries.delete(key);
    });
    return entry.event;
  }

  #unusedId(): string {
    for (;;) {
      const id = guid(this.#random);
      if (!this.#usedIds.has(id.toLowerCase())) return id;
    }
  }
}

function seenBy(entry: Entry | undefined, vm: string): boolean {
  return entry !== undefined && (entry.seen === null || entry.seen.includes(vm.toLowerCase()));
}

function lowerCased(names: readonly string[] | undefined): readonly string[] | null {
  return names?.map((name) => name.toLowerCase()) ?? null;
}

function goneMoment(event: WireEvent, atMs: number): number | null {
  return event.EventStatus === 'Started' ? atMs + STARTED_MS : null;
}

/** Approving a recommendation has no effect (field notes 3.5). */
function isApprovable(event: WireEvent): boolean {
  return event.EventStatus === 'Scheduled' && event.EventType !== 'SpotRebalanceRecommendation';
}

/** A version 4 GUID in upper case, as the service writes them. */
function guid(random: Deps['random']): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16));
  digits[12] = 4;
  digits[16] = 8 + ((digits[16] ?? 0) % 4);
  const hex = digits
    .map((digit) => digit.toString(16))
    .join('')
    .toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
