// `policy test --event`: a file → its events: one event, a document or a CloudEvent.

import { BridgeError } from '../errors.ts';
import { carriedData } from '../formats/cloud-event-json.ts';
import { parseInstant } from '../formats/dates.ts';
import { isObject, parseJson } from '../formats/json-object.ts';
import { readEntry } from '../metadata/listed-event.ts';
import type { ScheduledEvent } from '../model/events.ts';

type Json = Readonly<Record<string, unknown>>;

export interface GivenEvents {
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
  const fault = (why: string) => new BridgeError('BRIDGE_USAGE', `--event: ${name} has no event: ${why}`);
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

function eventOf(entry: unknown, name: string, apiVersion: string, fault: (why: string) => BridgeError): ScheduledEvent {
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
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [`${key[0]?.toUpperCase()}${key.slice(1)}`, value]));
}

function timeOf({ time }: Json): number | null {
  return typeof time === 'string' ? parseInstant(time) : null;
}
