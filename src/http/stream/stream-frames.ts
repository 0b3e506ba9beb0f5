// The journal, and what is committed now → frames by position, each made once for all readers.
import type { JournalledEntry } from '../../model/events.ts';
import { StreamFrame } from './stream-frame.ts';

/** Rows of the journal that are read at once. */
const PAGE = 32;
/** What is kept of frames for readers that come after; the oldest go first. */
const KEPT_BYTES = 2 * 1024 * 1024;

export interface StreamJournal {
  /** The newest position, kept or not. */
  newest(): number;
  /** The newest position that was pruned. */
  pruned(): number;
  /** Those behind a position, oldest first: as many as have `maxBytes` together, and at least one. */
  after(position: number, limit: number, maxBytes: number): readonly JournalledEntry[];
}

/** For as long as there are readers. */
export class StreamFrames {
  readonly #journal: StreamJournal;
  readonly #frames = new Map<number, StreamFrame>();
  #bytes = 0;
  #newest = 0;

  constructor(journal: StreamJournal) {
    this.#journal = journal;
  }

  get newest(): number {
    return this.#newest;
  }

  /** The first reader comes, or nobody read for a while. */
  begin(): void {
    this.#newest = this.#journal.newest();
  }

  add(entries: readonly JournalledEntry[]): readonly StreamFrame[] {
    const frames = entries.map((entry) => new StreamFrame(entry));
    for (const frame of frames) this.#keep(frame);
    return frames;
  }

  /** The first behind a position; null where there is none. @throws BridgeError BRIDGE_STORE_* */
  next(position: number): StreamFrame | null {
    if (position >= this.#newest) return null;
    const known = this.#frames.get(position + 1);
    if (known !== undefined) return known;
    // As many as stay for the next reader.
    const [first = null] = this.add(this.#journal.after(position, PAGE, KEPT_BYTES / 2));
    return first;
  }

  pruned(): number {
    return this.#journal.pruned();
  }

  forget(): void {
    this.#frames.clear();
    this.#bytes = 0;
  }

  #keep(frame: StreamFrame): void {
    this.#newest = Math.max(this.#newest, frame.position);
    if (this.#frames.has(frame.position)) return;
    this.#frames.set(frame.position, frame);
    this.#bytes += frame.bytes.byteLength;
    for (const [position, oldest] of this.#frames) {
      if (this.#bytes <= KEPT_BYTES || this.#frames.size === 1) break;
      this.#frames.delete(position);
      this.#bytes -= oldest.bytes.byteLength;
    }
  }
}
