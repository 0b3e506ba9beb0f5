// The body of a control request → the order that it holds, or each of its faults.
import * as v from 'valibot';
import { duration } from '../options.ts';
import type { Fault, Refusal, SimAnswer } from './answer.ts';
import { type EventFields, readNotBefore } from './event.ts';
import type { FaultOrder } from './faults.ts';

const name = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

/** What can stand in a path and be compared without case. */
const eventId = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(256, 'must have at most 256 characters'),
  v.check((id) => id.isWellFormed(), 'must be well-formed Unicode'),
);

const notBefore = v.pipe(
  v.string(),
  v.check((text) => readNotBefore(text) !== null, 'must be a date such as "Mon, 11 Apr 2022 22:26:58 GMT" or 2022-04-11T22:26:58Z, or ""'),
  v.transform((text) => readNotBefore(text) ?? ''),
);

const eventFields = v.strictObject({
  EventId: v.exactOptional(eventId),
  EventType: v.exactOptional(name),
  ResourceType: v.exactOptional(v.string()),
  Resources: v.exactOptional(v.array(name)),
  EventStatus: v.exactOptional(v.picklist(['Scheduled', 'Started'], 'must be Scheduled or Started')),
  NotBefore: v.exactOptional(notBefore),
  Description: v.exactOptional(v.string()),
  EventSource: v.exactOptional(v.string()),
  DurationInSeconds: v.exactOptional(v.pipe(v.number(), v.safeInteger('must be a whole number'), v.minValue(-1, 'must be at least -1'))),
  seen: v.exactOptional(v.array(name)),
});

const clockOrder = v.pipe(
  v.strictObject({
    speed: v.exactOptional(v.pipe(v.number(), v.minValue(0, 'must be at least 0'), v.maxValue(1_000_000, 'must be at most 1000000'))),
    advance: v.exactOptional(duration()),
  }),
  v.check(({ speed, advance }) => speed !== undefined || advance !== undefined, 'must hold speed, advance or both'),
);

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

function faultFields(vms: readonly string[]) {
  const isOneOfThem = (vm: string) => vms.some((known) => known.toLowerCase() === vm.toLowerCase());
  return v.strictObject({
    status: v.exactOptional(
      v.pipe(
        v.number(),
        v.safeInteger('must be a whole number'),
        v.minValue(200, 'must be at least 200'),
        v.maxValue(599, 'must be at most 599'),
      ),
    ),
    body: v.exactOptional(faultBody),
    headers: v.exactOptional(v.record(headerName, headerValue)),
    delay: v.exactOptional(duration()),
    reset: v.exactOptional(v.boolean()),
    truncate: v.exactOptional(v.pipe(v.number(), v.safeInteger('must be a whole number'), v.minValue(0, 'must be at least 0'))),
    times: v.exactOptional(v.pipe(v.number(), v.safeInteger('must be a whole number'), v.minValue(1, 'must be at least 1')), 1),
    vm: v.exactOptional(v.pipe(v.string(), v.check(isOneOfThem, `must be one of ${vms.join(', ')}`))),
    method: v.exactOptional(v.pipe(name, v.toUpperCase())),
  });
}

export interface ClockOrder {
  /** Simulated seconds a second. */
  readonly speed?: number;
  /** Milliseconds. */
  readonly advance?: number;
}

export function readEventFields(body: Uint8Array): EventFields | Refusal {
  return read(eventFields, body);
}

export function readClockOrder(body: Uint8Array): ClockOrder | Refusal {
  return read(clockOrder, body);
}

/** `null` clears. @param vms the machines that it may name */
export function readFaultOrder(body: Uint8Array, vms: readonly string[]): { readonly order: FaultOrder | null } | Refusal {
  const fields = read(faultFields(vms), body);
  if ('detail' in fields) return fields;
  const { delay, headers, ...rest } = fields;
  const spoils = Object.keys(fields).some((key) => key !== 'times' && key !== 'vm' && key !== 'method');
  if (!spoils) return { order: null };
  return { order: { ...rest, ...(delay === undefined ? {} : { delayMs: delay }), ...(headers ? { headers: lowerCased(headers) } : {}) } };
}

function read<Output extends object>(schema: v.GenericSchema<unknown, Output>, body: Uint8Array): Output | Refusal {
  const value = readJson(body);
  if (value === undefined) return badBody([{ path: '', message: 'is no JSON in UTF-8' }]);
  // To valibot a list is an object too.
  if (Array.isArray(value)) return badBody([{ path: '', message: 'is a list, not an object' }]);
  const result = v.safeParse(schema, value);
  return result.success ? result.output : badBody(result.issues.map(toFault));
}

/** Undefined where it is none. No body at all is an empty object. */
function readJson(body: Uint8Array): unknown {
  try {
    return body.length === 0 ? {} : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function toFault(issue: v.BaseIssue<unknown>): Fault {
  const isUnknownKey = issue.type === 'strict_object' && issue.expected === 'never';
  return { path: v.getDotPath(issue) ?? '', message: isUnknownKey ? 'is not a key known here' : issue.message };
}

function badBody(faults: readonly Fault[]): Refusal {
  return { status: 400, detail: faults.map(({ path, message }) => `${path || 'the body'}: ${message}`).join('; '), faults };
}

function lowerCased(headers: Readonly<Record<string, string>>): SimAnswer['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
}
