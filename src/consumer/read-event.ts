// JSON, or attributes and a body → a checked CloudEvent, or a ConsumerError.
import { isObject, parseJson } from '../formats/json-object.ts';
import { ConsumerError } from './consumer-error.ts';
import { type CloudEvent, changeOf, DEFAULT_TYPE_PREFIX } from './event.ts';
import { SHAPES } from './schema-types.ts';

export interface ReadOptions {
  /** `cloudevents.typePrefix` of the bridge, if it is not the default. */
  readonly typePrefix?: string;
}

/**
 * An event in binary mode: attributes as texts, by their names without prefix; data as bytes, or as a value if it was
 * parsed before.
 */
interface BinaryParts {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The media type of the data, if it was given. */
  readonly contentType: string | undefined;
  readonly data: { readonly bytes: Uint8Array } | { readonly value: unknown } | undefined;
}

const REQUIRED = ['id', 'source', 'type'] as const;
const NAME = /^[a-z0-9]+$/;
/** Attributes of the bridge that are integers. Binary modes have them as texts. */
const INTEGERS = ['severitynumber'];
const BOOLEANS = ['drill'];

/**
 * Reads a member of a batch, or the event of structured mode.
 * @throws ConsumerError `not-a-cloudevent`
 */
export function readStructured(value: unknown, options: ReadOptions = {}): CloudEvent {
  if (!isObject(value)) throw notAnEvent('it is not a JSON object');
  const { data, data_base64: base64, ...attributes } = value;
  if (base64 === undefined || base64 === null) return checked({ ...attributesOf(attributes), data }, options);
  if (data !== undefined || typeof base64 !== 'string')
    throw notAnEvent('it has both data and data_base64, or data_base64 is not a text');
  const bytes = Buffer.from(base64, 'base64');
  const { datacontenttype } = value;
  const isJson = typeof datacontenttype === 'string' && isJsonType(datacontenttype);
  return checked({ ...attributesOf(attributes), data: isJson ? readJson(bytes, 'its data') : bytes }, options);
}

/** @throws ConsumerError `not-a-cloudevent` */
export function readBinary({ attributes, contentType, data }: BinaryParts, options: ReadOptions = {}): CloudEvent {
  const known = attributesOf(attributes);
  for (const name of INTEGERS) if (/^-?\d+$/.test(String(known[name]))) known[name] = Number(known[name]);
  for (const name of BOOLEANS)
    if (/^(?:true|false)$/.test(String(known[name]))) known[name] = String(known[name]) === 'true';
  const type = contentType === undefined ? {} : { datacontenttype: contentType };
  return checked({ ...known, ...type, data: dataOf(data, contentType) }, options);
}

/** @throws ConsumerError `not-a-cloudevent` */
export function readJson(bytes: Uint8Array, what = 'its body'): unknown {
  const read = parseJson(bytes, what);
  if ('fault' in read) throw notAnEvent(read.fault);
  return read.value;
}

/**
 * Returns the mode of a content type, without case and parameters: `structured`, `batch`, or `binary` for all others.
 */
export function modeOf(contentType: string | undefined): 'structured' | 'batch' | 'binary' {
  const type = (contentType ?? '').trim().toLowerCase();
  if (type.startsWith('application/cloudevents-batch')) return 'batch';
  return type.startsWith('application/cloudevents') ? 'structured' : 'binary';
}

/** @throws ConsumerError `unsupported-media-type` for an event format other than JSON */
export function expectJsonFormat(contentType: string | undefined): void {
  if (!/^application\/cloudevents(-batch)?\+json\s*(;|$)/i.test((contentType ?? '').trim()))
    throw new ConsumerError(
      'unsupported-media-type',
      'only the JSON format of CloudEvents is supported: application/cloudevents+json',
    );
}

export function notAnEvent(why: string): ConsumerError {
  return new ConsumerError('not-a-cloudevent', `this is not a CloudEvent of a bridge: ${why}`);
}

/** Leaves out members that are null, which means not set. */
function attributesOf(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}

function dataOf(data: BinaryParts['data'], contentType: string | undefined): unknown {
  if (data === undefined) return undefined;
  if ('value' in data) return data.value;
  if (contentType !== undefined && isJsonType(contentType)) return readJson(data.bytes, 'its data');
  return data.bytes;
}

function isJsonType(contentType: string): boolean {
  return /^[^;\s]+[/+]json\s*(;|$)/i.test(contentType.trim());
}

function checked(
  event: Readonly<Record<string, unknown>>,
  { typePrefix = DEFAULT_TYPE_PREFIX }: ReadOptions,
): CloudEvent {
  if (event['specversion'] !== '1.0') throw notAnEvent('its specversion is not 1.0');
  for (const name of REQUIRED)
    if (typeof event[name] !== 'string' || event[name] === '') throw notAnEvent(`it has no ${name}`);
  for (const [name, value] of Object.entries(event)) if (name !== 'data') checkAttribute(name, value);
  const read = withDrill(event as unknown as CloudEvent);
  checkData(read, typePrefix);
  return read;
}

/** Returns the same object with `isDrill`, which is taken from the data: attributes are not signed in binary mode. */
export function withDrill(event: CloudEvent): CloudEvent {
  return Object.hasOwn(event, 'isDrill')
    ? event
    : Object.defineProperty(event, 'isDrill', { value: isOfDrill(event.data) });
}

function isOfDrill(data: unknown): boolean {
  return isObject(data) && data['drill'] === true;
}

function checkAttribute(name: string, value: unknown): void {
  if (!NAME.test(name)) throw notAnEvent('it has an attribute with a name that CloudEvents does not allow');
  const isValue = typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value);
  if (!isValue || value === '') throw notAnEvent(`CloudEvents does not allow the value of its attribute ${name}`);
  if (name === 'time' && Number.isNaN(Date.parse(String(value)))) throw notAnEvent('its time is not a date');
}

/** Checks the JSON types of the members that a bridge always sends. The data of other types is not checked. */
function checkData(event: CloudEvent, typePrefix: string): void {
  const name = changeOf(event, typePrefix);
  if (name === null) return;
  const kind = name.startsWith('approval.') ? 'approval' : name.startsWith('source.') ? 'source' : 'change';
  const { data } = event;
  if (!isObject(data)) throw notAnEvent(`the data of ${name} must be a JSON object`);
  for (const [member, types] of Object.entries<readonly string[]>(SHAPES[kind]))
    if (!types.includes(jsonTypeOf(data[member])))
      throw notAnEvent(`the data of ${name} must have ${member}: ${types.join(' or ')}`);
  // Compared as texts, because not every client keeps the types of attributes.
  if ((String(event.drill) === 'true') !== isOfDrill(data))
    throw notAnEvent('its attribute drill and its data contradict each other');
  if (name === 'ended' && typeof data['outcome'] !== 'string')
    throw notAnEvent('the data of ended must have outcome: string');
  if (name === 'updated' && !Array.isArray(data['changedFields']))
    throw notAnEvent('the data of updated must have changedFields: array');
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
