// The listed events → for each the newest frame that a reader's filter lets through, in order.
import type { Occurrence } from '../../model/events.ts';
import type { StreamFrame, StreamFrames } from './stream-frames.ts';
import type { StreamFilter } from './stream-query.ts';

interface ListedFramesParts {
  readonly frames: Pick<StreamFrames, 'at' | 'notice'>;
  readonly filter: StreamFilter;
  readonly listed: readonly Occurrence[];
  /** What comes after this position follows later. */
  readonly position: number;
}

/** Finds positions first and reads their frames later: a reader may be slow, and the events many. */
export class ListedFrames {
  readonly #parts: ListedFramesParts;
  readonly #found: number[] = [];
  /** How many events have been looked at, and up to which position the next one is searched. */
  #looked = 0;
  #before: number;
  /** How many of `#found`, in order, have been returned; null while some are missing. */
  #returned: number | null = null;

  constructor(parts: ListedFramesParts) {
    this.#parts = parts;
    this.#before = parts.position;
  }

  /**
   * Takes one short step. Returns a frame, `more` if another step is needed, or `end`.
   * @throws BridgeError BRIDGE_STORE_*
   */
  next(): StreamFrame | 'more' | 'end' {
    if (this.#returned === null) {
      this.#look();
      return 'more';
    }
    const position = this.#found[this.#returned++];
    return position === undefined ? 'end' : (this.#parts.frames.at(position) ?? 'more');
  }

  #look(): void {
    const { frames, filter, listed, position } = this.#parts;
    const event = listed[this.#looked];
    if (event === undefined) {
      this.#found.sort((one, other) => one - other);
      this.#returned = 0;
      return;
    }
    const frame = frames.notice(event, this.#before);
    const isFound = frame !== null && filter(frame);
    if (isFound) this.#found.push(frame.position);
    if (isFound || frame === null) this.#looked += 1;
    this.#before = isFound || frame === null ? position : frame.position - 1;
  }
}
