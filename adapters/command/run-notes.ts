// Runs as they begin and end ↔ notes that outlive a killed bridge: how many, and which go on.
import { isObject } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Deps } from '../../src/time/clock.ts';
import type { DeliveryNotes } from '../adapter.ts';

/** A run of which nobody has seen the end. */
export interface OpenRun {
  readonly seq: number;
  /** Partition key of its delivery. */
  readonly key: string;
  /** The value of BRIDGE_RUN in its environment. */
  readonly mark: string;
  /** That of the start of the machine; null where it cannot be told. */
  readonly boot: string | null;
  /** Null where the bridge was killed before it could note it. */
  readonly pid: number | null;
  /** When that process began, in ticks from the start of the machine. */
  readonly startedAt: string | null;
}

interface Note {
  readonly runs: number;
  readonly open: OpenRun | null;
}

/** What the adapters of one sink know of its runs. */
interface KnownRuns {
  /** By their deliveries. */
  readonly notes: Map<number, Note>;
  /** Deliveries whose open run began in this process, which sees its end. */
  readonly own: Set<number>;
}

/** The name of the variable by which a process is known as part of a run. */
export const MARK = 'BRIDGE_RUN';

/** By the notes that they are given: the adapter of a changed sink begins while programs of the one before still run. */
const KNOWN = new WeakMap<DeliveryNotes, KnownRuns>();

export class RunNotes {
  readonly #store: DeliveryNotes;
  readonly #random: Deps['random'];

  constructor(store: DeliveryNotes, random: Deps['random']) {
    this.#store = store;
    this.#random = random;
  }

  /** Counts a run, before its program starts. @throws BridgeError BRIDGE_STORE_*: then it must not start */
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

  /** Its program could not be started: it counts for nothing. @throws BridgeError BRIDGE_STORE_*: it counts then */
  notBegun(seq: number): void {
    const note = this.#known.notes.get(seq);
    if (note?.open) this.#write(seq, { runs: note.runs - 1, open: null });
  }

  /** @throws BridgeError BRIDGE_STORE_*: the run is found by its mark then */
  started(seq: number, pid: number, startedAt: string | null): void {
    const note = this.#known.notes.get(seq);
    if (note?.open) this.#write(seq, { ...note, open: { ...note.open, pid, startedAt } });
  }

  /** Nothing of the run is left. @throws BridgeError BRIDGE_STORE_*: the next start of the bridge finds out by itself then */
  over(seq: number): void {
    const note = this.#known.notes.get(seq);
    if (note?.open) this.#write(seq, { ...note, open: null });
  }

  /** Its delivery will not come again. The store keeps the count until this is sure: what was accepted may not be stored yet. */
  dismiss(seq: number): void {
    const { notes, own } = this.#known;
    notes.delete(seq);
    own.delete(seq);
  }

  /** Runs of a key of which nobody has seen the end. @throws BridgeError BRIDGE_STORE_* */
  ofKey(key: string): readonly OpenRun[] {
    return this.#open().filter((run) => run.key === key);
  }

  /** Runs of which nobody has seen the end, and that began in another process. @throws BridgeError BRIDGE_STORE_* */
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

  /** Of a run that has begun: what is known here holds, whether it could be stored or not. */
  #write(seq: number, note: Note): void {
    const { notes, own } = this.#known;
    notes.set(seq, note);
    if (note.open === null) own.delete(seq);
    this.#store.write(seq, JSON.stringify(note));
  }
}

/** A text of another shape, as of a version to come, tells nothing. */
function parsed(seq: number, text: string): [number, Note][] {
  let note: unknown;
  try {
    note = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isObject(note) || typeof note['runs'] !== 'number') return [];
  const { runs, open } = note;
  if (!isObject(open) || typeof open['key'] !== 'string' || typeof open['mark'] !== 'string') return [[seq, { runs, open: null }]];
  const { key, mark, boot, pid, startedAt } = open;
  const numbers = { pid: typeof pid === 'number' ? pid : null };
  const texts = { boot: typeof boot === 'string' ? boot : null, startedAt: typeof startedAt === 'string' ? startedAt : null };
  return [[seq, { runs, open: { seq, key, mark, ...numbers, ...texts } }]];
}
