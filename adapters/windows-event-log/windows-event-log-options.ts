// The configuration of a windows-event-log sink → checked options; on other systems, a fault.
import * as v from 'valibot';
import { choice, rule, sizeBetween, timeLimit, wholeNumber } from '../../src/schema/pieces.ts';
import { EVENT_LOG_FORMATS } from './event-log-entry.ts';

const MOST_MEMBERS = 1000;
const SOURCE_FAULT = 'must be the name of a source: 1 to 200 characters, without backslash and control characters';
const ONLY_WINDOWS = 'windows-event-log is only available on Windows: use file or syslog on this system';

const entries = {
  type: v.pipe(v.optional(v.literal('windows-event-log')), v.description('The kind of sink.')),
  source: v.pipe(
    v.optional(
      v.pipe(v.string(SOURCE_FAULT), v.regex(/^[^\\\p{Cc}]{1,200}$/u, SOURCE_FAULT)),
      'scheduled-events-bridge',
    ),
    v.description(
      'The source of the entries. Any other name than the default must be registered first. Default scheduled-events-bridge.',
    ),
  ),
  format: choice(
    EVENT_LOG_FORMATS,
    'text',
    'Content of an entry: text, one English sentence and the structured CloudEvent; document, one JSON object with the event as the metadata service lists it. Default text.',
  ),
  maxBatch: v.pipe(
    v.optional(wholeNumber(1, MOST_MEMBERS), 100),
    v.description('The maximum number of CloudEvents in one call. Default 100.'),
  ),
  maxBatchBytes: v.pipe(
    v.optional(sizeBetween('4KiB', '64MiB'), '1MiB'),
    v.description('The maximum bytes of CloudEvents in one call. A larger CloudEvent goes alone. Default 1MiB.'),
  ),
  timeout: v.pipe(
    v.optional(timeLimit(), '10s'),
    v.description(
      'How long Windows may take to write a batch. After that, the bridge writes the rest again. Default 10s.',
    ),
  ),
};

/** The options of a windows-event-log sink (behaviour 9.8). */
export function windowsEventLogOptions(platform: NodeJS.Platform) {
  return v.pipe(
    v.strictObject(entries),
    rule('type', () => platform === 'win32', ONLY_WINDOWS),
  );
}

export type WindowsEventLogOptions = v.InferOutput<ReturnType<typeof windowsEventLogOptions>>;
