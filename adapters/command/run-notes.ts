// The start and end of runs ↔ notes that survive a kill of the bridge: counts, and open runs.
import { isObject } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Deps } from '../../src/time/clock.ts';
import type { DeliveryNotes } from '../adapter.ts';

/** A run that has started and whose end is unknown. */
export interface OpenRun {
  readonly seq: number;
  /** The partition key of its delivery. */
  readonly key: string;
  /** The value of BRIDGE_RUN in its environment. */
  readonly mark: string;
  /** The boot id of the machine; null if it cannot be read. */
  readonly boot: string | null;
  /** Null if the bridge was killed before it could store the pid. */
  readonly pid: number | null;
  /** The start time of that process, in ticks since the boot of the machine. */
  readonly startedAt: string | null;
}

interface Note {
  readonly runs: number;
  readonly open: OpenRun | null;
}

/** The state of runs that all adapters of a sink share. */
interface KnownRuns {
  /** By delivery. */
  readonly notes: Map<number, Note>;
  /** Deliveries with an open run that this process started. */
  readonly own: Set<number>;
}

/** The variable that marks a process as part of a run. */
export const MARK = 'BRIDGE_RUN';

/** By `DeliveryNotes`: the adapter of a changed sink starts while programs of the previous adapter still run. */
const KNOWN = new WeakMap<DeliveryNotes, KnownRuns>();

export class RunNotes {
  readonly #store: DeliveryNotes;
  readonly #random: Deps['random'];

  constructor(store: DeliveryNotes, random: Deps['random']) {
    this.#store = store;
    this.#random = random;
  }

  /** Counts a run before its program starts. @throws BridgeError BRIDGE_STORE_*; the program must then not start */
  begin(
    { seq, partitionKey }: Pick<Delivery, 'seq' | 'partitionKey'>,
    boot: string | null,
  ): { readonly attempt: number; readonly mark: string } {
    const { notes, own } = this.#known;
    const attempt = (notes.get(seq)?.runs ?? 0) + 1;
    const mark = Array.from({ length: 4 }, () =>
      Math.floor(this.#random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
    const note: Note = { runs: attempt, open: { seq, key: partitionKey, mark, boot, pid: null, startedAt: null } };
    this.#store.write(seq, JSON.stringify(note));
    notes.set(seq, note);
    own.add(seq);
    return { attempt, mark };
  }

  /**
   * Removes a run whose program could not be started from the count.
   * @throws BridgeError BRIDGE_STORE_*; the run then still counts
   */
  notBegun(seq: number): void {
    const note = this.#known.notes.get(seq);
    if (note?.open) this.#write(seq, { runs: note.runs - 1, open: null });
  }

  /** @throws BridgeError BRIDGE_STORE_*; the mark then still identifies the run */
  started(seq: number, pid: number, startedAt: string | null): void {
    const note = this.#known.notes.get(seq);
    if (note?.open) this.#write(seq, { ...note, open: { ...note.open, pid, startedAt } });
  }

  /**
   * Records that all processes of the run have ended.
   * @throws BridgeError BRIDGE_STORE_*; the next start of the bridge then checks again
   */
  over(seq: number): void {
    const note = this.#known.notes.get(seq);
    if (note?.open) this.#write(seq, { ...note, open: null });
  }

  /**
   * Forgets a delivery that was accepted. The store keeps the count until the acceptance is stored, because the
   * delivery could come again.
   */
  dismiss(seq: number): void {
    const { notes, own } = this.#known;
    notes.delete(seq);
    own.delete(seq);
  }

  /** Returns the open runs of a key. @throws BridgeError BRIDGE_STORE_* */
  ofKey(key: string): readonly OpenRun[] {
    return this.#open().filter((run) => run.key === key);
  }

  /** Returns the open runs that another process started. @throws BridgeError BRIDGE_STORE_* */
  ofOtherProcesses(): readonly OpenRun[] {
    return this.#open().filter(({ seq }) => !this.#known.own.has(seq));
  }

  #open(): readonly OpenRun[] {
    return [...this.#known.notes.values()].flatMap(({ open }) => (open === null ? [] : [open]));
  }

  get #known(): KnownRuns {
    let known = KNOWN.get(this.#store);
    if (known === undefined) {
      known = { notes: new Map(this.#store.all().flatMap(({ seq, text }) => parsed(seq, text))), own: new Set() };
      KNOWN.set(this.#store, known);
    }
    return known;
  }

  /** Updates a started run in memory even if it cannot be stored. */
  #write(seq: number, note: Note): void {
    const { notes, own } = this.#known;
    notes.set(seq, note);
    if (note.open === null) own.delete(seq);
    this.#store.write(seq, JSON.stringify(note));
  }
}

/** Ignores a text in another format, such as that of a later version. */
function parsed(seq: number, text: string): [number, Note][] {
  let note: unknown;
  try {
    note = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isObject(note) || typeof note['runs'] !== 'number') return [];
  const { runs, open } = note;
  if (!isObject(open) || typeof open['key'] !== 'string' || typeof open['mark'] !== 'string')
    return [[seq, { runs, open: null }]];
  const { key, mark, boot, pid, startedAt } = open;
  const numbers = { pid: typeof pid === 'number' ? pid : null };
  const texts = {
    boot: typeof boot === 'string' ? boot : null,
    startedAt: typeof startedAt === 'string' ? startedAt : null,
  };
  return [[seq, { runs, open: { seq, key, mark, ...numbers, ...texts } }]];
}
