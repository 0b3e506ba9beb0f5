// Frames in order → one reader's socket, no faster than it takes them.
import type { AnswerStream } from '../route.ts';
import type { StreamFrame } from './stream-frame.ts';
import type { StreamFrames } from './stream-frames.ts';
import type { StreamFilter } from './stream-query.ts';

/** So much that its socket has not taken may stand against a reader. */
const MOST_UNTAKEN = 1024 * 1024;
/** Heart-beats that may find a socket full, before its reader is given up. */
const MOST_FULL_BEATS = 2;
/** Frames that are looked at before the next reader has its turn. */
const IN_A_TURN = 16;
const COMMENT = Buffer.from(':\n\n');

export interface StreamReaderParts {
  readonly frames: StreamFrames;
  readonly filter: StreamFilter;
  /** The position that it has had. */
  readonly position: number;
  /** Null: nothing was shown that could be taken back. */
  readonly isStillAllowed: (() => Promise<boolean>) | null;
  readonly answer: AnswerStream;
}

export class StreamReader {
  readonly #parts: StreamReaderParts;
  /** What was pruned before it came, it does not miss. */
  readonly #prunedBefore: number;
  #position: number;
  /** The last `id:` that it was told. */
  #told: number;
  #isFull = false;
  #fullBeats = 0;
  /** What was committed for it since its socket was full, in bytes, and up to which position that was counted. */
  #owed = 0;
  #counted = 0;
  /** Its connection may still be there. */
  #hasEnded = false;

  constructor(parts: StreamReaderParts, told: number) {
    this.#parts = parts;
    this.#prunedBefore = parts.frames.pruned();
    this.#position = parts.position;
    this.#told = told;
    parts.answer.write(COMMENT);
  }

  /** Its socket has taken all. */
  drained(): void {
    this.#isFull = false;
    this.#fullBeats = 0;
    this.#owed = 0;
  }

  /** Writes what comes next, until this turn of the event loop is over. True: there is more, for another one. @throws BridgeError BRIDGE_STORE_* */
  pump(isOver: () => boolean): boolean {
    const { frames, filter } = this.#parts;
    if (this.#isFull) return this.#count(isOver);
    for (let count = 0; count < IN_A_TURN && !this.#isFull && !this.#hasEnded && (count === 0 || !isOver()); count++) {
      const frame = frames.next(this.#position);
      const reached = frame?.position ?? frames.newest + 1;
      if (reached > this.#position + 1 && this.#misses()) {
        this.#finish();
        return false;
      }
      if (frame === null) {
        // Nothing is kept of what may be left.
        this.#position = frames.newest;
        return false;
      }
      this.#position = frame.position;
      if (filter(frame)) this.#write(frame);
    }
    return !this.#isFull && !this.#hasEnded && this.#position < frames.newest;
  }

  /** More was committed. The reader is cut off if its socket took nothing while so much was due before this. */
  committed(): void {
    const { answer } = this.#parts;
    if (this.#isFull && answer.unsentBytes + this.#owed > MOST_UNTAKEN) answer.drop();
  }

  /** A comment, with the position where the filter let nothing through, so that it goes on from there. */
  beat(): void {
    const { frames, answer } = this.#parts;
    if (this.#isFull || this.#hasEnded) {
      this.#fullBeats += 1;
      if (this.#fullBeats > MOST_FULL_BEATS) answer.drop();
      return;
    }
    const isNews = this.#position !== this.#told && this.#position === frames.newest;
    if (isNews) this.#told = this.#position;
    this.#send(isNews ? `:\nid: ${this.#position}\n\n` : COMMENT);
  }

  async judge(): Promise<void> {
    const { isStillAllowed } = this.#parts;
    if (isStillAllowed !== null && !(await isStillAllowed()) && !this.#hasEnded) this.#finish();
  }

  end(): void {
    const { answer } = this.#parts;
    if (answer.unsentBytes > 0) answer.drop();
    else this.#finish();
  }

  /** Nothing may be written behind it. */
  #finish(): void {
    this.#hasEnded = true;
    this.#parts.answer.end();
  }

  #write(frame: StreamFrame): void {
    this.#told = frame.position;
    this.#send(frame.bytes);
  }

  #send(bytes: Uint8Array | string): void {
    const { answer, frames } = this.#parts;
    this.#isFull = !answer.write(bytes);
    this.#counted = frames.newest;
  }

  /** Counts what was committed for it since its socket was full. True: there is more, for another turn. */
  #count(isOver: () => boolean): boolean {
    const { frames, filter } = this.#parts;
    while (this.#counted < frames.newest && !isOver()) {
      const frame = frames.next(this.#counted);
      this.#counted = frame?.position ?? frames.newest;
      if (frame !== null && filter(frame)) this.#owed += frame.bytes.byteLength;
    }
    return this.#counted < frames.newest && !this.#hasEnded;
  }

  /** Something that it has not had was pruned since it came: it is told so when it comes again. */
  #misses(): boolean {
    return this.#parts.frames.pruned() > Math.max(this.#position, this.#prunedBefore);
  }
}
