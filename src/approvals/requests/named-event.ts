// A message that is not an approval → the known event that it names (behaviour 16.4). Pure.
import { carriedData } from '../../formats/cloud-event-json.ts';
import { hasFewValues } from '../../formats/json-bounds.ts';
import { isObject, type JsonObject, parseJson } from '../../formats/json-object.ts';
import { CHANGE_NAMES } from '../../model/change-names.ts';
import { keyOf } from './start-requests.ts';

/** Larger messages are not searched. Kafka's brokers accept 1 MiB by default. */
const LARGEST_SEARCHED_BYTES = 1024 * 1024;
/** A message with more values is not searched either: they would take many times the memory of the message. */
const MOST_SEARCHED_VALUES = 20_000;

/**
 * Returns the first EventId that is known, as it is written: the member `EventId` at any depth of a JSON object, in any
 * letter case. Returns null for what a bridge has published itself, in any mode.
 * @param isKnown gets an EventId in lower case
 */
export function eventNamedIn(bytes: Uint8Array, isKnown: (key: string) => boolean): string | null {
  if (bytes.length > LARGEST_SEARCHED_BYTES || !hasFewValues(bytes, MOST_SEARCHED_VALUES, MOST_SEARCHED_VALUES))
    return null;
  const message = parseJson(bytes, 'the message');
  if ('fault' in message || !isObject(message.value) || isPublished(message.value)) return null;
  return firstKnown(message.value, isKnown) ?? firstKnown(encodedIn(message.value), isKnown);
}

/** Goes through the members in their order, without recursion: a message may be nested deeply. */
function firstKnown(value: unknown, isKnown: (key: string) => boolean): string | null {
  const rest: (readonly [name: string, value: unknown])[] = [['', value]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [name, found] = next;
    if (typeof found === 'string' && name.toLowerCase() === 'eventid' && isKnown(keyOf(found))) return found;
    if (typeof found === 'object' && found !== null)
      for (const member of Object.entries(found).reverse()) rest.push(member);
  }
  return null;
}

/** Returns the JSON in `data_base64` of a CloudEvent; undefined without it. */
function encodedIn(value: JsonObject): unknown {
  if (typeof value['data_base64'] !== 'string') return undefined;
  const carried = carriedData(value);
  return 'value' in carried && isObject(carried.value) && !isPublished(carried.value) ? carried.value : undefined;
}

/**
 * A CloudEvent of a bridge in structured mode, perhaps as the data of another CloudEvent, or its data alone, as in
 * binary mode.
 */
function isPublished(value: JsonObject): boolean {
  for (let event = value; ; ) {
    const { specversion, type, data } = event;
    if (specversion === undefined) return isPublishedData(event);
    if (!isObject(data)) return false;
    if (isTypeOfBridge(type)) return isPublishedData(data);
    if (data['specversion'] === undefined) return false;
    event = data;
  }
}

/** The prefix of another bridge's types may be another one. */
function isTypeOfBridge(type: unknown): boolean {
  return typeof type === 'string' && CHANGE_NAMES.some((name) => type.endsWith(`.${name}.v1`));
}

/**
 * Returns true if the value has the members that are never null in the data of a change, an approval or a loss of
 * sight.
 */
function isPublishedData({ observer, eventId, eventStatus, resources, at, since }: JsonObject): boolean {
  if (!isObject(observer)) return false;
  if (typeof eventId !== 'string') return typeof since === 'string';
  return typeof at === 'string' || (typeof eventStatus === 'string' && Array.isArray(resources));
}
