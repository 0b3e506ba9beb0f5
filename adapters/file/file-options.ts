// Configuration of a file sink → checked options.
import { resolve } from 'node:path';
import * as v from 'valibot';
import { LOG_FORMATS } from '../../src/log-record/formats.ts';
import { choice, sizeBetween, timeLimit, wholeNumber } from '../../src/schema/pieces.ts';

const MOST_MEMBERS = 1000;
/** The largest number that a rotation appends to a name. */
export const MOST_KEPT = 1000;
const PATH_FAULT = 'must be the path of a file';

const rotate = v.pipe(
  v.strictObject({
    size: v.pipe(
      sizeBetween('4KiB', '1024GiB'),
      v.description(
        'The maximum size of the file, such as 10MiB. Lines are never split: a larger line gets a file for itself.',
      ),
    ),
    keep: v.pipe(
      v.optional(wholeNumber(1, MOST_KEPT), 7),
      v.description('How many older files are kept. PATH.1 is the newest. From 1 to 1000. Default 7.'),
    ),
  }),
  v.description(
    'Renames the file before it grows too large, and deletes the oldest one. Default: no rotation by the bridge.',
  ),
);

/** The file sink's options (behaviour 9.2). */
export const fileOptions = v.strictObject({
  type: v.pipe(v.optional(v.literal('file')), v.description('The kind of sink.')),
  path: v.pipe(
    v.string(PATH_FAULT),
    v.check((path) => path !== '' && !path.endsWith('/') && !path.includes('\0'), PATH_FAULT),
    v.description(
      'The file to append to. The sink creates the file, but not its folder. Relative to the configuration file.',
    ),
  ),
  format: choice(
    LOG_FORMATS,
    'json',
    'A line: json (the CloudEvent), record (a flat log record in JSON), cef or text. Default json.',
    `must be one of ${LOG_FORMATS.join(', ')}`,
  ),
  rotate: v.exactOptional(rotate),
  maxBatch: v.pipe(
    v.optional(wholeNumber(1, MOST_MEMBERS), 500),
    v.description('The maximum number of lines in one write. Default 500.'),
  ),
  maxBatchBytes: v.pipe(
    v.optional(sizeBetween('4KiB', '64MiB'), '1MiB'),
    v.description('The maximum size of one write. A larger CloudEvent is written alone. Default 1MiB.'),
  ),
  timeout: v.pipe(
    v.optional(timeLimit(), '10s'),
    v.description(
      'How long the disk may take to write and flush a batch. After that, the bridge writes it again. Default 10s.',
    ),
  ),
});

export type FileOptions = v.InferOutput<typeof fileOptions>;
export type Rotation = v.InferOutput<typeof rotate>;

/** Returns every file that the sink writes, renames or deletes. */
export function filesWritten({ path, rotate }: FileOptions, directory: string): readonly string[] {
  const file = resolve(directory, path);
  return [file, ...Array.from({ length: rotate?.keep ?? 0 }, (_, index) => `${file}.${index + 1}`)];
}
