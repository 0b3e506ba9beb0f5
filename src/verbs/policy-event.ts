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
  /** A CloudEvent's `time`; null where the file tells none. */
  readonly atMs: number | null;
}

/**
 * Fields that are missing hold what an absent one means (behaviour 3.3); a missing EventStatus is `Scheduled`.
 * @param name what the messages call the file
 * @throws BridgeError BRIDGE_USAGE where there is no event in it, or a field cannot be read
 */
export function readEvents(bytes: Uint8Array, name: string, apiVersion: string): GivenEvents {
  const fault = (why: string) => new BridgeError('BRIDGE_USAGE', `--event: ${name} holds no event: ${why}`);
  const parsed = parseJson(bytes, 'it');
  if ('fault' in parsed) throw fault(parsed.fault);
  const json = parsed.value;
  if (!isObject(json)) throw fault('its JSON is no object');
  const entryOf = (entry: unknown, where: string) => eventOf(entry, where, apiVersion, fault);
  if ('specversion' in json) {
    const carried = carriedData(json);
    if ('fault' in carried) throw fault(carried.fault);
    return { events: [entryOf(serviceForm(carried.value, fault), 'the event')], atMs: timeOf(json) };
  }
  if (!('Events' in json)) return { events: [entryOf(json, 'the event')], atMs: null };
  if (!Array.isArray(json['Events'])) throw fault('its Events is no list');
  return { events: json['Events'].map((entry, index) => entryOf(entry, `Events[${index}]`)), atMs: null };
}

function eventOf(entry: unknown, where: string, apiVersion: string, fault: (why: string) => BridgeError): ScheduledEvent {
  const read = readEntry(isObject(entry) ? { EventStatus: 'Scheduled', ...entry } : entry, apiVersion);
  if (read.kind === 'unusable') throw fault(`${where} has no EventId, a text that is not empty`);
  if (read.kind === 'statusless') throw fault(`${where} has an EventStatus that is neither Scheduled nor Started`);
  const { unreadable, ...event } = read.event;
  if (unreadable.length === 0) return event;
  const fields = unreadable.map((field) => `${field[0]?.toUpperCase()}${field.slice(1)}`);
  throw fault(`${where} has ${fields.join(' and ')} of the wrong type, or a date that is none`);
}

/** The `data` of a change of an event, with the metadata service's names. */
function serviceForm(data: unknown, fault: (why: string) => BridgeError): Json {
  if (!isObject(data) || !('eventStatus' in data)) throw fault('it is no CloudEvent that tells of a change of an event');
  if (data['eventStatus'] === 'Ended') throw fault('it tells of an event that has ended');
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [`${key[0]?.toUpperCase()}${key.slice(1)}`, value]));
}

function timeOf({ time }: Json): number | null {
  return typeof time === 'string' ? parseInstant(time) : null;
}
