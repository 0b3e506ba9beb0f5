// Configuration of a file sink → checked options.
import { resolve } from 'node:path';
import * as v from 'valibot';
import { LOG_FORMATS } from '../../src/log-record/formats.ts';
import { sizeBetween, timeLimit, wholeNumber } from '../../src/schema/pieces.ts';

const MOST_MEMBERS = 1000;
/** A number behind a name that is larger was not made by a rotation. */
export const MOST_KEPT = 1000;
const PATH_FAULT = 'must be the path of a file';

const rotate = v.pipe(
  v.strictObject({
    size: v.pipe(
      sizeBetween('4KiB', '1024GiB'),
      v.description('How large the file may become, such as 10MiB. A line is never split: one that is larger stands alone.'),
    ),
    keep: v.pipe(
      v.optional(wholeNumber(1, MOST_KEPT), 7),
      v.description('How many older files stay beside it, PATH.1 being the youngest; 1 to 1000. Default 7.'),
    ),
  }),
  v.description('Renames the file before it grows too large, and deletes the oldest. Default: it grows, or others rotate it.'),
);

/** The file sink's options (behaviour 9.2). */
export const fileOptions = v.strictObject({
  type: v.pipe(v.optional(v.literal('file')), v.description('The kind of sink.')),
  path: v.pipe(
    v.string(PATH_FAULT),
    v.check((path) => path !== '' && !path.endsWith('/') && !path.includes('\0'), PATH_FAULT),
    v.description('The file to append to. It is made where it is not there, its folder is not. Relative to the configuration file.'),
  ),
  format: v.pipe(
    v.optional(v.picklist(LOG_FORMATS, `must be one of ${LOG_FORMATS.join(', ')}`), 'json'),
    v.description('A line: json (the CloudEvent), record (a flat log record in JSON), cef or text. Default json.'),
  ),
  rotate: v.exactOptional(rotate),
  maxBatch: v.pipe(v.optional(wholeNumber(1, MOST_MEMBERS), 500), v.description('So many lines in one write at most. Default 500.')),
  maxBatchBytes: v.pipe(
    v.optional(sizeBetween('4KiB', '64MiB'), '1MiB'),
    v.description('How much one write may hold; a CloudEvent that is larger by itself goes alone. Default 1MiB.'),
  ),
  timeout: v.pipe(
    v.optional(timeLimit(), '10s'),
    v.description('How long the disk may take to write and flush a batch; then it is written again. Default 10s.'),
  ),
});

export type FileOptions = v.InferOutput<typeof fileOptions>;
export type Rotation = v.InferOutput<typeof rotate>;

/** Every file that the sink writes, renames or deletes. */
export function filesOf({ path, rotate }: FileOptions, directory: string): readonly string[] {
  const file = resolve(directory, path);
  return [file, ...Array.from({ length: rotate?.keep ?? 0 }, (_, index) => `${file}.${index + 1}`)];
}
