// What the configuration says of a request's body → its keys: how CloudEvents become one.
import * as v from 'valibot';
import { size } from '../../src/schema/pieces.ts';

const MODES = ['structured', 'binary', 'batch'] as const;

const MOST_MEMBERS = 1000;
/** Bytes. */
const [LEAST_SIZE, MOST_SIZE] = [4 * 1024, 64 * 1024 ** 2];
const count = `must be a whole number from 1 to ${MOST_MEMBERS}`;

export const bodyEntries = {
  mode: v.pipe(
    v.optional(v.picklist(MODES), 'structured'),
    v.description(
      'How CloudEvents become requests: structured, the whole of one as the JSON body; binary, its data as the body and its attributes as ce- headers; batch, several in a JSON array. Default structured.',
    ),
  ),
  maxBatch: v.pipe(
    v.optional(v.pipe(v.number(count), v.integer(count), v.minValue(1, count), v.maxValue(MOST_MEMBERS, count)), 100),
    v.description('In batch mode: so many CloudEvents in one request at most. Default 100.'),
  ),
  maxBatchBytes: v.pipe(
    v.optional(
      v.pipe(
        size(),
        v.check((bytes) => bytes >= LEAST_SIZE && bytes <= MOST_SIZE, 'must be from 4KiB to 64MiB'),
      ),
      '64KiB',
    ),
    v.description('In batch mode: how large a body may be; a CloudEvent that is larger by itself goes alone. Default 64KiB.'),
  ),
};

export interface BodyOptions {
  readonly mode: (typeof MODES)[number];
  readonly maxBatch: number;
  /** Bytes. */
  readonly maxBatchBytes: number;
}
