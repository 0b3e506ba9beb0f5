// Frames in order → one reader's socket, as fast as it takes them.
import type { Occurrence } from '../../model/events.ts';
import type { AnswerStream } from '../route.ts';
import { ListedFrames } from './listed-frames.ts';
import type { StreamFrame, StreamFrames } from './stream-frames.ts';
import type { StreamFilter } from './stream-query.ts';

/** Bytes that a reader's socket may leave waiting. */
const MOST_UNTAKEN = 1024 * 1024;
/** Heart-beats that may find a socket full before its reader is dropped. */
const MOST_FULL_BEATS = 2;
/** Frames that are read before the next reader has its turn. */
const IN_A_TURN = 16;
const COMMENT = Buffer.from(':\n\n');

export interface StreamReaderParts {
  readonly frames: StreamFrames;
  readonly filter: StreamFilter;
  readonly position: number;
  /** The events whose newest frames up to this position come first. */
  readonly listed?: readonly Occurrence[];
  /** Null: the reader showed no proof, so no right can be revoked. */
  readonly isStillAllowed: (() => Promise<boolean>) | null;
  readonly answer: AnswerStream;
}

export class StreamReader {
  readonly #parts: StreamReaderParts;
  /** It does not miss what was pruned before it connected. */
  readonly #prunedBefore: number;
  #position: number;
  /** Null once all of them are sent. */
  #listed: ListedFrames | null;
  #sentId: number;
  #isFull = false;
  #fullBeats = 0;
  /** Bytes that were committed for it since its socket was full, and the position up to which they were counted. */
  #owed = 0;
  #counted = 0;
  /** Its connection may still be open. */
  #hasEnded = false;

  constructor(parts: StreamReaderParts, sentId: number) {
    this.#parts = parts;
    this.#prunedBefore = parts.frames.pruned();
    this.#position = parts.position;
    this.#listed = parts.listed === undefined ? null : new ListedFrames({ ...parts, listed: parts.listed });
    this.#sentId = sentId;
    parts.answer.write(COMMENT);
  }

  drained(): void {
    this.#isFull = false;
    this.#fullBeats = 0;
    this.#owed = 0;
  }

  /**
   * Writes the next frames in this turn of the event loop. Returns true if there are more.
   * @throws BridgeError BRIDGE_STORE_*
   */
  pump(isOver: () => boolean): boolean {
    const { frames, filter } = this.#parts;
    if (this.#isFull) return this.#count(isOver);
    if (this.#listed !== null) return this.#pumpListed(this.#listed, isOver);
    for (let count = 0; count < IN_A_TURN && !this.#isFull && !this.#hasEnded && (count === 0 || !isOver()); count++) {
      const frame = frames.next(this.#position);
      const reached = frame?.position ?? frames.newest + 1;
      if (reached > this.#position + 1 && this.#misses()) {
        this.#finish();
        return false;
      }
      if (frame === null) {
        // The journal keeps nothing after this position.
        this.#position = frames.newest;
        return false;
      }
      this.#position = frame.position;
      if (filter(frame)) this.#write(frame);
    }
    return !this.#isFull && !this.#hasEnded && this.#position < frames.newest;
  }

  /**
   * Sends the newest frames of the listed events, then the position: a reader that resumes must not pass any of them.
   */
  #pumpListed(listed: ListedFrames, isOver: () => boolean): boolean {
    for (let count = 0; count < IN_A_TURN && !this.#isFull && !this.#hasEnded && (count === 0 || !isOver()); count++) {
      const frame = listed.next();
      if (frame === 'end') {
        this.#listed = null;
        if (this.#position !== this.#sentId) this.#sendPosition();
        break;
      }
      if (frame !== 'more') this.#write(frame);
    }
    return !this.#isFull && !this.#hasEnded;
  }

  /** Called when more was committed. Drops the reader if its socket took nothing while too much was already due. */
  committed(): void {
    const { answer } = this.#parts;
    if (this.#isFull && answer.unsentBytes + this.#owed > MOST_UNTAKEN) answer.drop();
  }

  /** Sends a comment. If the filter let nothing through, it has the position, so that the reader resumes from it. */
  beat(): void {
    const { frames, answer } = this.#parts;
    if (this.#isFull || this.#hasEnded) {
      this.#fullBeats += 1;
      if (this.#fullBeats > MOST_FULL_BEATS) answer.drop();
      return;
    }
    const isNews = this.#listed === null && this.#position !== this.#sentId && this.#position === frames.newest;
    if (isNews) this.#sendPosition();
    else this.#send(COMMENT);
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

  /** Nothing may be written after this. */
  #finish(): void {
    this.#hasEnded = true;
    this.#parts.answer.end();
  }

  #write(frame: StreamFrame): void {
    this.#sentId = frame.position;
    this.#send(frame.bytes);
  }

  #sendPosition(): void {
    this.#sentId = this.#position;
    this.#send(`:\nid: ${this.#position}\n\n`);
  }

  #send(bytes: Uint8Array | string): void {
    const { answer, frames } = this.#parts;
    this.#isFull = !answer.write(bytes);
    this.#counted = frames.newest;
  }

  /** Counts what was committed for it since its socket was full. Returns true if another turn is needed. */
  #count(isOver: () => boolean): boolean {
    const { frames, filter } = this.#parts;
    while (this.#counted < frames.newest && !isOver()) {
      const frame = frames.next(this.#counted);
      this.#counted = frame?.position ?? frames.newest;
      if (frame !== null && filter(frame)) this.#owed += frame.bytes.byteLength;
    }
    return this.#counted < frames.newest && !this.#hasEnded;
  }

  /**
   * Whether something that it has not received was pruned since it connected. It gets `pruned` when it connects again.
   */
  #misses(): boolean {
    return this.#parts.frames.pruned() > Math.max(this.#position, this.#prunedBefore);
  }
}
