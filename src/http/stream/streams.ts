// Commits, time and reloads → all readers of GET /v1/stream, a few in each turn of the event loop.
import type { Logger } from 'pino';
import { messageOf } from '../../errors.ts';
import type { JournalledEntry, Occurrence } from '../../model/events.ts';
import type { CancelTimer, Deps } from '../../time/clock.ts';
import { nextTurn } from '../../time/fair-queue.ts';
import type { AnswerStream } from '../route.ts';
import { StreamFrames, type StreamJournal } from './stream-frames.ts';
import { StreamReader, type StreamReaderParts } from './stream-reader.ts';

export const MOST_READERS = 1000;
/**
 * Of one caller, or of all callers without a token or certificate together: so one caller leaves room for three others.
 */
export const MOST_OF_ONE = MOST_READERS / 4;
const BEAT_MS = 15_000;
/** The length of one turn of the event loop: polls, approvals and other answers run between two turns. */
const TURN_MS = 10;

type OpenStream = Pick<StreamReaderParts, 'filter' | 'listed' | 'isStillAllowed'> & {
  /** The reader's `Last-Event-ID` or `?after=`; null if it sent none. */
  readonly after: number | null;
  readonly position: number;
  /** The caller whose share of the places it uses. */
  readonly share: string;
};

interface StreamsParts {
  readonly journal: StreamJournal;
  readonly deps: Pick<Deps, 'after' | 'elapsedMs'>;
  readonly logger: Logger;
}

/** One for each bridge. Without readers it has no timer, and a commit costs nothing. */
export class Streams {
  readonly #parts: StreamsParts;
  readonly #frames: StreamFrames;
  /** Each reader with its share, and how many readers each share has. */
  readonly #readers = new Map<StreamReader, string>();
  readonly #taken = new Map<string, number>();
  readonly #due = new Set<StreamReader>();
  /** Heart-beats and judgements, which run after the frames that are due. */
  readonly #chores = new Set<() => void>();
  #isTurnTaken = false;
  #cancelBeat: CancelTimer | null = null;
  #isClosed = false;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
    this.#frames = new StreamFrames(parts.journal);
  }

  get readers(): number {
    return this.#readers.size;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  roomFor(share: string): 'free' | 'full' | 'taken' {
    if (this.#readers.size >= MOST_READERS) return 'full';
    return (this.#taken.get(share) ?? 0) >= MOST_OF_ONE ? 'taken' : 'free';
  }

  /** Returns the newest position; it is kept in memory while there are readers. */
  newest(): number {
    if (this.#readers.size === 0) this.#frames.begin();
    return this.#frames.newest;
  }

  pruned(): number {
    return this.#frames.pruned();
  }

  /** Returns the events of `GET /v1/events`, or null if they are not known yet. */
  listed(): readonly Occurrence[] | null {
    return this.#parts.journal.listed();
  }

  open(answer: AnswerStream, { after, share, ...asked }: OpenStream): void {
    this.newest();
    const reader = new StreamReader({ ...asked, frames: this.#frames, answer }, after ?? -1);
    this.#readers.set(reader, share);
    this.#taken.set(share, (this.#taken.get(share) ?? 0) + 1);
    answer.onDrain(() => {
      reader.drained();
      this.#pumpSoon(reader);
    });
    answer.onClose(() => this.#remove(reader));
    this.#cancelBeat ??= this.#parts.deps.after(BEAT_MS, () => this.#beat());
    this.#pumpSoon(reader);
  }

  committed(entries: readonly JournalledEntry[]): void {
    if (this.#readers.size === 0 || entries.length === 0) return;
    this.#frames.add(entries);
    for (const reader of this.#readers.keys()) {
      reader.committed();
      this.#pumpSoon(reader);
    }
  }

  /** Ends the streams of readers who may no longer read. */
  judgeAll(): void {
    for (const reader of this.#readers.keys())
      this.#later(() => void reader.judge().catch((error) => this.#fail(reader, error)));
  }

  /** Ends all streams. Each reader connects again by itself. */
  endAll(): void {
    for (const reader of [...this.#readers.keys()]) reader.end();
  }

  /** Ends all streams, and accepts no more. */
  close(): void {
    this.#isClosed = true;
    this.endAll();
  }

  #beat(): void {
    this.#cancelBeat = null;
    for (const reader of this.#readers.keys()) this.#later(() => reader.beat());
    this.judgeAll();
    if (this.#readers.size > 0) this.#cancelBeat = this.#parts.deps.after(BEAT_MS, () => this.#beat());
  }

  #pumpSoon(reader: StreamReader): void {
    this.#due.add(reader);
    this.#takeTurn();
  }

  #later(chore: () => void): void {
    this.#chores.add(chore);
    this.#takeTurn();
  }

  #takeTurn(): void {
    if (this.#isTurnTaken) return;
    this.#isTurnTaken = true;
    nextTurn(() => this.#work());
  }

  #work(): void {
    this.#isTurnTaken = false;
    const { elapsedMs } = this.#parts.deps;
    const endMs = elapsedMs() + TURN_MS;
    const isOver = () => elapsedMs() >= endMs;
    // A reader with more frames goes behind the others.
    for (const reader of [...this.#due]) {
      this.#pump(reader, isOver);
      if (isOver()) break;
    }
    for (const chore of this.#chores) {
      if (isOver()) break;
      this.#chores.delete(chore);
      chore();
    }
    if (this.#due.size + this.#chores.size > 0) this.#takeTurn();
  }

  #pump(reader: StreamReader, isOver: () => boolean): void {
    this.#due.delete(reader);
    try {
      if (reader.pump(isOver)) this.#due.add(reader);
    } catch (error) {
      this.#fail(reader, error);
    }
  }

  /** Ends a stream whose journal cannot be read. The reader connects again by itself. */
  #fail(reader: StreamReader, error: unknown): void {
    this.#parts.logger.error({ reason: messageOf(error) }, 'a stream was ended: the journal could not be read');
    reader.end();
  }

  #leave(reader: StreamReader): void {
    const share = this.#readers.get(reader);
    if (share === undefined) return;
    this.#readers.delete(reader);
    const left = (this.#taken.get(share) ?? 0) - 1;
    if (left > 0) this.#taken.set(share, left);
    else this.#taken.delete(share);
  }

  #remove(reader: StreamReader): void {
    this.#leave(reader);
    this.#due.delete(reader);
    if (this.#readers.size > 0) return;
    this.#cancelBeat?.();
    this.#cancelBeat = null;
    this.#frames.clear();
  }
}
