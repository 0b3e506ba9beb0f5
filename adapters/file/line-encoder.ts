// A CloudEvent → its line of the file in one of the formats, without line end.
import { toCef } from '../../src/log-record/cef.ts';
import { flatRecord } from '../../src/log-record/flat-record.ts';
import { logRecord } from '../../src/log-record/log-record.ts';
import { toText } from '../../src/log-record/text.ts';

export const FORMATS = ['json', 'record', 'cef', 'text'] as const;

export type Format = (typeof FORMATS)[number];

/** `json` is the structured CloudEvent, byte for byte as stored. @throws where the bytes are no CloudEvent */
export function encodeLine(bytes: Uint8Array, format: Format): Uint8Array {
  return format === 'json' ? bytes : Buffer.from(textOf(bytes, format));
}

function textOf(bytes: Uint8Array, format: Exclude<Format, 'json'>): string {
  const record = logRecord(bytes);
  if (format === 'record') return JSON.stringify(flatRecord(record));
  return format === 'cef' ? toCef(record) : toText(record);
}
