// The keys of a fault order in control bodies and scenarios → FaultOrder.
import * as v from 'valibot';
import { duration } from '../../schema/pieces.ts';
import { isMapping } from '../../schema/validate.ts';
import { changesAnswer, type OrderedFault } from '../events/faults.ts';
import { nonEmptyText, span, wholeNumberFrom } from './event-fields.ts';

/** RFC 9110, section 5.6.2. */
const headerName = v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a valid header name'));
const headerValue = v.pipe(
  v.union([v.string(), v.number()], 'must be a text or a number'),
  v.transform(String),
  v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'is not a valid header value'),
);

/** Unlike valibot's record, accepts `constructor` as a key. */
const mapping = v.custom<Readonly<Record<string, unknown>>>(isMapping);

const faultBody = v.pipe(
  v.union([v.string(), v.array(v.unknown()), mapping], 'must be a text, an object or a list'),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    try {
      return typeof value === 'string' ? value : JSON.stringify(value);
    } catch {
      addIssue({ message: 'is nested too deeply' });
      return NEVER;
    }
  }),
);

/** More than any playbook needs. */
const MOST_ORDERS = 1000;

const path = v.pipe(
  v.string(),
  v.regex(
    /^\/metadata(?:\/[^?#\s]*)?$/i,
    'must be a path at or below /metadata, such as /metadata/instance, without a query',
  ),
  v.transform((text) => text.toLowerCase().replace(/(?<!\/)\/+$/, '')),
);

const version = v.pipe(v.string(), v.minLength(1));

const apiVersion = v.pipe(
  v.union(
    [version, v.pipe(v.array(version), v.minLength(1))],
    'must be an api-version, such as 2024-07-09, or a list of them',
  ),
  v.transform((given) => (typeof given === 'string' ? [given] : given)),
);

/** The schema entries of a fault order, all optional. @param machine the schema of a machine's name in `vm` */
function faultEntries<Schema extends v.GenericSchema<string, string>>(machine: Schema) {
  return {
    status: v.exactOptional(v.pipe(wholeNumberFrom(200), v.maxValue(599))),
    body: v.exactOptional(faultBody),
    headers: v.exactOptional(v.record(headerName, headerValue)),
    delay: v.exactOptional(duration()),
    reset: v.exactOptional(v.boolean()),
    truncate: v.exactOptional(wholeNumberFrom(0)),
    stale: v.exactOptional(v.boolean()),
    times: v.exactOptional(wholeNumberFrom(1)),
    for: v.exactOptional(span),
    vm: v.exactOptional(machine),
    method: v.exactOptional(v.pipe(nonEmptyText, v.toUpperCase())),
    path: v.exactOptional(path),
    apiVersion: v.exactOptional(apiVersion),
  };
}

/** The output of `faultEntries`; `delay` and `for` in milliseconds. */
type FaultKeys = Omit<OrderedFault, 'delayMs' | 'forMs'> & { readonly delay?: number; readonly for?: number };

/** A single order as a list of one; `{}` gives an empty list, which clears the faults. @param machine the schema of a machine's name in `vm` */
export function faultOrder<Schema extends v.GenericSchema<string, string>>(machine: Schema) {
  return v.pipe(
    v.strictObject(faultEntries(machine)),
    v.transform((keys): OrderedFault => toFaultOrder(keys)),
    v.check(
      (order) => Object.keys(order).length === 0 || changesAnswer(order),
      'changes no answer: give status, body, headers, delay, reset, truncate or stale, or {} to clear faults',
    ),
    v.transform((order): readonly OrderedFault[] => (changesAnswer(order) ? [order] : [])),
  );
}

/** Orders that apply one after another. @param machine the schema of a machine's name in `vm` */
export function faultOrders<Schema extends v.GenericSchema<string, string>>(machine: Schema) {
  const order = v.pipe(
    v.strictObject(faultEntries(machine)),
    v.transform((keys): OrderedFault => toFaultOrder(keys)),
    v.check(
      (one) => changesAnswer(one) || one.times !== undefined || one.forMs !== undefined,
      'has no effect: give status, body, headers, delay, reset, truncate or stale, or times or for to leave answers unchanged',
    ),
  );
  return v.pipe(
    v.array(order),
    v.minLength(1, 'must have at least one order'),
    v.maxLength(MOST_ORDERS, `must have at most ${MOST_ORDERS} members`),
    v.readonly(),
  );
}

function toFaultOrder({ delay, for: forMs, headers, ...rest }: FaultKeys): OrderedFault {
  return {
    ...rest,
    ...(headers === undefined ? {} : { headers: lowerCased(headers) }),
    ...(delay === undefined ? {} : { delayMs: delay }),
    ...(forMs === undefined ? {} : { forMs }),
  };
}

/** Header names are compared ignoring case, also with those of the answer. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
}
