// The keys of a fault order as control bodies and scenario files write them → FaultOrder.
import * as v from 'valibot';
import { duration } from '../../options.ts';
import type { FaultOrder } from '../life/faults.ts';
import { name, span } from './event-fields.ts';

/** RFC 9110, section 5.6.2. */
const headerName = v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no header name'));
const headerValue = v.pipe(
  v.union([v.string(), v.number()], 'must be a text or a number'),
  v.transform(String),
  v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'is no header value'),
);

const faultBody = v.pipe(
  v.union([v.string(), v.array(v.unknown()), v.record(v.string(), v.unknown())], 'must be a text, an object or a list'),
  v.transform((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
);

const wholeNumber = v.pipe(v.number(), v.safeInteger('must be a whole number'));

/** By key, all optional. @param machine what a machine may be called in `vm` */
export function faultEntries<Schema extends v.GenericSchema<string, string>>(machine: Schema) {
  return {
    status: v.exactOptional(v.pipe(wholeNumber, v.minValue(200, 'must be at least 200'), v.maxValue(599, 'must be at most 599'))),
    body: v.exactOptional(faultBody),
    headers: v.exactOptional(v.record(headerName, headerValue)),
    delay: v.exactOptional(duration()),
    reset: v.exactOptional(v.boolean()),
    truncate: v.exactOptional(v.pipe(wholeNumber, v.minValue(0, 'must be at least 0'))),
    stale: v.exactOptional(v.boolean()),
    times: v.exactOptional(v.pipe(wholeNumber, v.minValue(1, 'must be at least 1'))),
    for: v.exactOptional(span),
    vm: v.exactOptional(machine),
    method: v.exactOptional(v.pipe(name, v.toUpperCase())),
  };
}

/** What `faultEntries` read; `delay` and `for` in milliseconds. */
export type FaultKeys = Omit<FaultOrder, 'delayMs' | 'forMs'> & { readonly delay?: number; readonly for?: number };

/** Without one of these an order only says which answers. */
const SPOILING: ReadonlySet<string> = new Set<keyof FaultKeys>(['status', 'body', 'headers', 'delay', 'reset', 'truncate', 'stale']);

/** Null where the keys spoil nothing. */
export function toFaultOrder(keys: FaultKeys): FaultOrder | null {
  if (!Object.keys(keys).some((key) => SPOILING.has(key))) return null;
  const { delay, for: forMs, headers, ...rest } = keys;
  return {
    ...rest,
    ...(headers === undefined ? {} : { headers: lowerCased(headers) }),
    ...(delay === undefined ? {} : { delayMs: delay }),
    ...(forMs === undefined ? {} : { forMs }),
  };
}

/** Header names are compared without case, also with those of the answer that they replace. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
}
