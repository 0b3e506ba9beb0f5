// A group's entries → what each machine sees, and the incarnation.
import type { WireEvent } from './event.ts';
import type { Machine } from './machine.ts';
import type { SimulatedEvent } from './simulated-event.ts';

/** The content of one machine's document. */
export interface Listing {
  readonly incarnation: number;
  readonly events: readonly WireEvent[];
}

/** What the machines of a group see of its events. */
export class View {
  readonly #machines: readonly Machine[];
  readonly #ownOnly: boolean;
  readonly #entries: () => readonly SimulatedEvent[];
  #isShown = true;
  /** The entries that the machines see until the next update; null if they see each change at once. */
  #snapshot: readonly SimulatedEvent[] | null = null;
  #isSnapshotStale = false;
  #incarnation = 1;
  #revision = 0;
  #depth = 0;
  #isChanging = false;
  #before: { readonly incarnation: number; readonly entries: readonly SimulatedEvent[] } | null = null;

  /**
   * @param ownOnly each machine sees only the events that name it
   * @param entries returns a copy of all entries
   */
  constructor(machines: readonly Machine[], ownOnly: boolean, entries: () => readonly SimulatedEvent[]) {
    this.#machines = machines;
    this.#ownOnly = ownOnly;
    this.#entries = entries;
  }

  /** Starts at 1 and grows by 1 with each change of what the machines see. */
  get incarnation(): number {
    return this.#incarnation;
  }

  /** Changes whenever a document, or its incarnation, may have changed. */
  get revision(): number {
    return this.#revision;
  }

  listed(vm: string): readonly WireEvent[] {
    return this.#isShown ? this.#seenBy(vm, this.#shown()) : [];
  }

  /** Returns the EventIds that this machine sees, in lower case. */
  listedIds(vm: string): ReadonlySet<string> {
    return new Set(this.listed(vm).map(({ EventId }) => EventId.toLowerCase()));
  }

  /** Returns what this machine saw before the last change; if there was none, what it sees now. */
  listedBefore(vm: string): Listing {
    const before = this.#before;
    if (!before) return { incarnation: this.#incarnation, events: this.listed(vm) };
    return { incarnation: before.incarnation, events: this.#seenBy(vm, before.entries) };
  }

  /** Whether all machines see the same events. */
  isSameForAll(): boolean {
    return !this.#ownOnly && this.#shown().every(({ seen }) => seen === null);
  }

  /** Runs `work` and counts everything it does as one change, so as one incarnation. */
  asOneChange<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
      if (this.#depth === 0 && this.#isChanging) {
        this.#incarnation++;
        this.#isChanging = false;
      }
    }
  }

  /**
   * Call it within `asOneChange`, before an entry is added (`from` undefined), replaced or removed (`to` undefined).
   */
  change(from: SimulatedEvent | undefined, to: SimulatedEvent | undefined): void {
    if (!this.#isShown) return;
    if (this.#snapshot) {
      this.#isSnapshotStale = true;
      return;
    }
    const isSameEvent = JSON.stringify(from?.event) === JSON.stringify(to?.event);
    const isSameTo = ({ name }: Machine) => {
      const sees = [from, to].map((entry) => entry !== undefined && this.#sees(name, entry));
      return isSameEvent ? sees[0] === sees[1] : !sees[0] && !sees[1];
    };
    if (!this.#machines.every(isSameTo)) this.#recordChange();
  }

  /**
   * Shows or hides all events. Hidden events still start and end. Drops the snapshot, so that each change is visible at
   * once.
   */
  show(isShown: boolean): void {
    if (isShown === this.#isShown) return;
    this.asOneChange(() => {
      if (this.#machines.some(({ name }) => this.#seenBy(name, this.#shown()).length > 0)) this.#recordChange();
      this.#isShown = isShown;
      this.#snapshot = null;
    });
  }

  /** From now on the machines see the current entries, until the next `takeSnapshot` or `updateSnapshot`. */
  takeSnapshot(): void {
    this.updateSnapshot();
    this.#snapshot = this.#entries();
    this.#isSnapshotStale = false;
  }

  /** Updates the snapshot to the current entries, as one change. */
  updateSnapshot(): void {
    const old = this.#snapshot;
    if (!old || !this.#isSnapshotStale) return;
    this.#isSnapshotStale = false;
    this.asOneChange(() => {
      const fresh = this.#entries();
      const look = (name: string, entries: readonly SimulatedEvent[]) => JSON.stringify(this.#seenBy(name, entries));
      if (this.#machines.some(({ name }) => look(name, old) !== look(name, fresh))) this.#recordChange();
      this.#snapshot = fresh;
    });
  }

  /** Sets the incarnation. Changes of the running `asOneChange` do not increase it. */
  setIncarnation(incarnation: number): void {
    this.#revision++;
    this.#incarnation = incarnation;
    this.#isChanging = false;
  }

  #recordChange(): void {
    this.#revision++;
    if (!this.#isChanging)
      this.#before = { incarnation: this.#incarnation, entries: this.#isShown ? this.#shown() : [] };
    this.#isChanging = true;
  }

  #shown(): readonly SimulatedEvent[] {
    return this.#snapshot ?? this.#entries();
  }

  #seenBy(vm: string, entries: readonly SimulatedEvent[]): readonly WireEvent[] {
    return entries.filter((entry) => this.#sees(vm, entry)).map(({ event }) => event);
  }

  #sees(vm: string, { seen, event }: SimulatedEvent): boolean {
    const name = vm.toLowerCase();
    if (this.#ownOnly && !event.Resources.some((resource) => resource.toLowerCase() === name)) return false;
    return seen === null || seen.includes(name);
  }
}
