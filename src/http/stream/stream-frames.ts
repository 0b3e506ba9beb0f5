// The journal and new commits → frames by position, each made once for all readers.
import type { JournalledEntry, Occurrence } from '../../model/events.ts';

/** Rows of the journal that are read at once. */
const PAGE = 32;
/** Bytes of frames that are kept for other readers; the oldest are removed first. */
const KEPT_BYTES = 2 * 1024 * 1024;
const END = Buffer.from('\n\n');

/** What filters compare. A CloudEvent of an approval has no Resources. */
interface Judged {
  /** EventType in lower case; null if the CloudEvent is not about a known event. */
  readonly impact: string | null;
  readonly resources: readonly string[];
}

export class StreamFrame {
  readonly position: number;
  readonly change: string;
  /** `id:`, `event:`, `data:` and an empty line. */
  readonly bytes: Buffer;
  readonly #json: Uint8Array;
  #judged: Judged | null = null;

  constructor({ position, change, bytes }: Pick<JournalledEntry, 'position' | 'change' | 'bytes'>) {
    this.position = position;
    this.change = change;
    const head = Buffer.from(`id: ${position}\nevent: ${change}\ndata: `);
    // The JSON has no line ends.
    this.bytes = Buffer.concat([head, bytes, END]);
    this.#json = this.bytes.subarray(head.byteLength, -END.byteLength);
  }

  get judged(): Judged {
    this.#judged ??= judgedOf(this.#json);
    return this.#judged;
  }
}

function judgedOf(bytes: Uint8Array): Judged {
  const { impact = null, data } = JSON.parse(new TextDecoder().decode(bytes)) as {
    readonly impact?: string;
    readonly data?: { readonly resources?: readonly string[] };
  };
  return { impact, resources: data?.resources ?? [] };
}

export interface StreamJournal {
  /** The newest position, kept or not. */
  newest(): number;
  /** The newest position that was pruned. */
  pruned(): number;
  /** Returns entries after a position, oldest first: at most `maxBytes` together, but at least one. */
  after(position: number, limit: number, maxBytes: number): readonly JournalledEntry[];
  /** The events of `GET /v1/events`; null if they are not known yet. */
  listed(): readonly Occurrence[] | null;
  /** Returns the newest `scheduled`, `updated` or `started` of an occurrence up to a position, or null. */
  notice(event: Occurrence, position: number): JournalledEntry | null;
}

/** Used as long as there are readers. */
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

  /** Called for the first reader, and for the first one after a time without readers. */
  begin(): void {
    this.#newest = this.#journal.newest();
  }

  add(entries: readonly JournalledEntry[]): readonly StreamFrame[] {
    const frames = entries.map((entry) => new StreamFrame(entry));
    for (const frame of frames) this.#keep(frame);
    return frames;
  }

  /** Returns the first frame after a position, or null. @throws BridgeError BRIDGE_STORE_* */
  next(position: number): StreamFrame | null {
    if (position >= this.#newest) return null;
    const known = this.#frames.get(position + 1);
    if (known !== undefined) return known;
    // Half of what is kept, so that other readers find them.
    const [first = null] = this.add(this.#journal.after(position, PAGE, KEPT_BYTES / 2));
    return first;
  }

  /** Returns the frame at a position, or null if it was pruned. @throws BridgeError BRIDGE_STORE_* */
  at(position: number): StreamFrame | null {
    const known = this.#frames.get(position);
    if (known !== undefined) return known;
    const [entry] = this.#journal.after(position - 1, 1, 0);
    return entry?.position === position ? new StreamFrame(entry) : null;
  }

  /** As `StreamJournal.notice`. @throws BridgeError BRIDGE_STORE_* */
  notice(event: Occurrence, position: number): StreamFrame | null {
    const entry = this.#journal.notice(event, position);
    return entry && new StreamFrame(entry);
  }

  pruned(): number {
    return this.#journal.pruned();
  }

  clear(): void {
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
