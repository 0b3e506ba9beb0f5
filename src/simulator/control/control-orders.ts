// The body of a control request → the order in it, or a refusal with its faults.
import * as v from 'valibot';
import { type Fault, type FileKind, formatFault } from '../../schema/faults.ts';
import { duration } from '../../schema/pieces.ts';
import { isMapping, validate } from '../../schema/validate.ts';
import { type ControlRefusal, fromJsonBytes } from '../answer.ts';
import { type EventFields, NOT_BEFORE_CLOCKS, type NotBeforeClock } from '../events/event.ts';
import type { OrderedFault } from '../events/faults.ts';
import { FASTEST } from '../events/virtual-clock.ts';
import { eventEntries, hasOneNotBefore, nonEmptyText, ONE_NOT_BEFORE, toEventFields } from './event-fields.ts';
import { faultOrder, faultOrders } from './fault-fields.ts';

const eventFields = v.pipe(
  v.strictObject(eventEntries(nonEmptyText)),
  v.check((keys) => hasOneNotBefore(keys), ONE_NOT_BEFORE),
  v.transform((keys): EventFields => toEventFields(keys)),
);

const clockOrder = v.pipe(
  v.strictObject({
    speed: v.exactOptional(v.pipe(v.number(), v.minValue(0), v.maxValue(FASTEST))),
    advance: v.exactOptional(duration()),
    notBefore: v.exactOptional(v.picklist(NOT_BEFORE_CLOCKS, `must be ${NOT_BEFORE_CLOCKS.join(' or ')}`)),
  }),
  v.check((order) => Object.keys(order).length > 0, 'must have speed, advance or notBefore'),
);

function oneOf(vms: readonly string[]) {
  const isOneOfThem = (vm: string) => vms.some((known) => known.toLowerCase() === vm.toLowerCase());
  return v.pipe(v.string(), v.check(isOneOfThem, `must be one of ${vms.join(', ')}`));
}

interface ClockOrder {
  /** Simulated seconds per second. */
  readonly speed?: number;
  /** Simulated milliseconds. */
  readonly advance?: number;
  readonly notBefore?: NotBeforeClock;
}

/** Reads the body of a POST or PATCH of an event. */
export function readEventFields(body: Uint8Array): EventFields | ControlRefusal {
  return read(eventFields, body, 'event');
}

/** Reads the body of `PUT /simulator/clock`. */
export function readClockOrder(body: Uint8Array): ClockOrder | ControlRefusal {
  return read(clockOrder, body, 'clock');
}

/** Reads one order or a list; an empty result clears the faults. @param vms the machines that an order may name */
export function readFaultOrders(body: Uint8Array, vms: readonly string[]): readonly OrderedFault[] | ControlRefusal {
  const machine = oneOf(vms);
  const value = jsonOf(body);
  return Array.isArray(value)
    ? readValue(faultOrders(machine), value, 'fault')
    : read(faultOrder(machine), body, 'fault');
}

/** Reads an object; an empty body counts as `{}`. @param kind the name of the object in faults */
function read<Output extends object>(
  schema: v.GenericSchema<unknown, Output>,
  body: Uint8Array,
  kind: FileKind,
): Output | ControlRefusal {
  const value = jsonOf(body);
  if (!isMapping(value))
    return badBody([
      { path: '', message: `the body is not ${value === undefined ? 'JSON in UTF-8' : 'a JSON object'}` },
    ]);
  return readValue(schema, value, kind);
}

function jsonOf(body: Uint8Array): unknown {
  return body.length === 0 ? {} : fromJsonBytes(body);
}

function readValue<Output extends object>(
  schema: v.GenericSchema<unknown, Output>,
  value: object,
  kind: FileKind,
): Output | ControlRefusal {
  const { output, faults } = validate(schema, value, [], kind);
  return output === undefined || faults.length > 0 ? badBody(faults) : output;
}

function badBody(faults: readonly Fault[]): ControlRefusal {
  return { status: 400, detail: faults.map(formatFault).join('; '), faults };
}
