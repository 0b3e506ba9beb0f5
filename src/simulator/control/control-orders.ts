// The body of a control request → the order that it holds, or each of its faults.
import * as v from 'valibot';
import { duration } from '../../options.ts';
import type { Fault, Refusal } from '../answer.ts';
import type { EventFields } from '../life/event.ts';
import type { FaultOrder } from '../life/faults.ts';
import { eventEntries, hasOneNotBefore, name, ONE_NOT_BEFORE, toEventFields } from './event-fields.ts';
import { faultEntries, toFaultOrder } from './fault-fields.ts';

const eventFields = v.pipe(
  v.strictObject(eventEntries(name)),
  v.check((keys) => hasOneNotBefore(keys), ONE_NOT_BEFORE),
  v.transform((keys): EventFields => toEventFields(keys)),
);

const clockOrder = v.pipe(
  v.strictObject({
    speed: v.exactOptional(v.pipe(v.number(), v.minValue(0, 'must be at least 0'), v.maxValue(1_000_000, 'must be at most 1000000'))),
    advance: v.exactOptional(duration()),
  }),
  v.check(({ speed, advance }) => speed !== undefined || advance !== undefined, 'must hold speed, advance or both'),
);

function faultFields(vms: readonly string[]) {
  const isOneOfThem = (vm: string) => vms.some((known) => known.toLowerCase() === vm.toLowerCase());
  return v.strictObject(faultEntries(v.pipe(v.string(), v.check(isOneOfThem, `must be one of ${vms.join(', ')}`))));
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
  return { order: toFaultOrder(fields) };
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
