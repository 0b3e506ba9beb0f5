// `policy test`: a file, or a scenario in virtual time → the events to decide.
import type { BridgeError } from '../../errors.ts';
import { carriedData } from '../../formats/cloud-event-json.ts';
import { parseInstant } from '../../formats/dates.ts';
import { isObject, parseJson } from '../../formats/json-object.ts';
import { parseDocument, readEntry } from '../../metadata/document.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import { type MachineOptions, machineNames } from '../../simulator/events/machine.ts';
import { Group } from '../../simulator/group.ts';
import { toDocument } from '../../simulator/metadata/document.ts';
import type { Script } from '../../simulator/script/script.ts';
import { usageError } from '../verb.ts';

type Json = Readonly<Record<string, unknown>>;

interface GivenEvents {
  readonly events: readonly ScheduledEvent[];
  /** A CloudEvent's `time`; null for other files. */
  readonly atMs: number | null;
}

/**
 * Missing fields get their defaults (behaviour 3.3); a missing EventStatus is `Scheduled`.
 * @param name the file's name in messages
 * @throws BridgeError BRIDGE_USAGE if the file has no event, or a field cannot be read
 */
export function readEvents(bytes: Uint8Array, name: string, apiVersion: string): GivenEvents {
  const fault = (why: string) => usageError(`--event: ${name} has no event: ${why}`);
  const parsed = parseJson(bytes, 'it');
  if ('fault' in parsed) throw fault(parsed.fault);
  const json = parsed.value;
  if (!isObject(json)) throw fault('its JSON is not an object');
  const entryOf = (entry: unknown, name: string) => eventOf(entry, name, apiVersion, fault);
  if ('specversion' in json) {
    const carried = carriedData(json);
    if ('fault' in carried) throw fault(carried.fault);
    return { events: [entryOf(serviceForm(carried.value, fault), 'the event')], atMs: timeOf(json) };
  }
  if (!('Events' in json)) return { events: [entryOf(json, 'the event')], atMs: null };
  if (!Array.isArray(json['Events'])) throw fault('its Events is not a list');
  return { events: json['Events'].map((entry, index) => entryOf(entry, `Events[${index}]`)), atMs: null };
}

function eventOf(
  entry: unknown,
  name: string,
  apiVersion: string,
  fault: (why: string) => BridgeError,
): ScheduledEvent {
  const read = readEntry(isObject(entry) ? { EventStatus: 'Scheduled', ...entry } : entry, apiVersion);
  if (read.kind === 'unusable') throw fault(`${name} needs an EventId, a string that is not empty`);
  if (read.kind === 'statusless') throw fault(`${name} has an EventStatus other than Scheduled or Started`);
  const { unreadable, ...event } = read.event;
  if (unreadable.length === 0) return event;
  const fields = unreadable.map((field) => `${field[0]?.toUpperCase()}${field.slice(1)}`);
  throw fault(`${name} has a ${fields.join(' and a ')} of the wrong type, or with an invalid date`);
}

/** Returns the `data` of a CloudEvent with the field names of the metadata service. */
function serviceForm(data: unknown, fault: (why: string) => BridgeError): Json {
  if (!isObject(data) || !('eventStatus' in data)) throw fault('the CloudEvent does not describe a change of an event');
  if (data['eventStatus'] === 'Ended') throw fault('the event has ended');
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [`${key[0]?.toUpperCase()}${key.slice(1)}`, value]),
  );
}

function timeOf({ time }: Json): number | null {
  return typeof time === 'string' ? parseInstant(time) : null;
}

/** The same at each run, so that the output for two policies can be compared line by line. */
export const START_MS = Date.UTC(2026, 0, 1);

export interface PlayOptions {
  readonly apiVersion: string;
  readonly machines: MachineOptions;
  /** The start of the scenario in milliseconds since 1970. */
  readonly startMs: number;
}

/** What the metadata service lists from a moment on. */
interface Listed {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly events: readonly ScheduledEvent[];
}

/**
 * Yields the document at each moment of a scenario. It plays to its end without approvals; a repeating one plays one
 * round. The events are those of all machines of the group, under this api-version.
 */
export function* documents(script: Script, { machines, apiVersion, startMs }: PlayOptions): Generator<Listed> {
  const group = newGroup(script, machines, startMs);
  group.play(script);
  const endMs = startMs + (script.everyMs ?? Number.POSITIVE_INFINITY);
  for (let nextMs: number | null = startMs; nextMs !== null && nextMs < endMs; nextMs = group.nextDueMs()) {
    group.clock.advance(nextMs - group.clock.nowMs());
    group.catchUp();
    yield { atMs: nextMs, events: eventsOf(group, apiVersion) };
  }
}

function newGroup(script: Script, wanted: MachineOptions, startMs: number): Group {
  // A linear congruential generator gives the same EventIds at each run.
  let drawn = 0;
  const random = () => {
    drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0;
    return drawn / 2 ** 32;
  };
  // Only `advance` moves the clock.
  const deps = { wallMs: () => startMs, elapsedMs: () => 0, random };
  return new Group({ deps, vms: machineNames(wanted, script.group), gpu: script.group?.gpu ?? false });
}

function eventsOf(group: Group, apiVersion: string): readonly ScheduledEvent[] {
  const events = group.events.entries().map(({ event }) => event);
  const json = JSON.stringify(toDocument({ incarnation: group.events.view.incarnation, events }, apiVersion));
  return parseDocument(new TextEncoder().encode(json), apiVersion).events.map(({ unreadable: _, ...event }) => event);
}
