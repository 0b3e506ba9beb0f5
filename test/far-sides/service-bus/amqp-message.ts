// Bytes of an AMQP message → its sections with types, and the bytes that a broker keeps unchanged.
import { AmqpReader, type AmqpValue } from './amqp-value.ts';

export type Fields = Readonly<Record<string, AmqpValue>>;

/** What followed the properties: data sections, sequences, or one value. */
export type Body =
  | { readonly kind: 'data'; readonly sections: readonly Buffer[] }
  | { readonly kind: 'sequence'; readonly sections: readonly AmqpValue[] }
  | { readonly kind: 'value'; readonly value: AmqpValue }
  | { readonly kind: 'none' };

/** One message as it was on the wire. A field that was absent, or null inside a list section, is absent here. */
export interface AmqpMessage {
  /** All of it. */
  readonly raw: Buffer;
  /** The sections' names, in their order: `header`, `properties`, `data`, … */
  readonly sections: readonly string[];
  readonly header: Fields;
  readonly deliveryAnnotations: Fields;
  readonly messageAnnotations: Fields;
  /** `message-id`, `content-type`, `group-id` …: the specification's names (part 3, section 3.2.4). */
  readonly properties: Fields;
  /** A null-typed property is here, with type `null`. */
  readonly applicationProperties: Fields;
  readonly body: Body;
  /** Properties and all that follows: what no broker changes. */
  readonly bare: Buffer;
}

/** One property that a broker or a consumer adds, encoded. */
export interface EncodedProperty {
  readonly name: string;
  /** Key and value, as they go into the map. */
  readonly bytes: Buffer;
}

const SECTIONS: Readonly<Record<number, string>> = {
  112: 'header',
  113: 'delivery-annotations',
  114: 'message-annotations',
  115: 'properties',
  116: 'application-properties',
  117: 'data',
  118: 'amqp-sequence',
  119: 'amqp-value',
  120: 'footer',
};

const HEADER = ['durable', 'priority', 'ttl', 'first-acquirer', 'delivery-count'];
const PROPERTIES = [
  'message-id',
  'user-id',
  'to',
  'subject',
  'reply-to',
  'correlation-id',
  'content-type',
  'content-encoding',
  'absolute-expiry-time',
  'creation-time',
  'group-id',
  'group-sequence',
  'reply-to-group-id',
];
/** Header and annotations are the broker's to rewrite. */
const REWRITTEN = ['header', 'delivery-annotations', 'message-annotations'];

interface Section {
  readonly name: string;
  readonly value: AmqpValue;
  readonly start: number;
  readonly end: number;
}

/** Reads a message of format 0. @throws Error on bytes that are none */
export function readMessage(raw: Buffer): AmqpMessage {
  const sections = readSections(raw);
  const find = (name: string) => sections.find((section) => section.name === name)?.value;
  const firstBare = sections.find(({ name }) => !REWRITTEN.includes(name));
  return {
    raw,
    sections: sections.map(({ name }) => name),
    header: listed(find('header'), HEADER),
    deliveryAnnotations: mapped(find('delivery-annotations')),
    messageAnnotations: mapped(find('message-annotations')),
    properties: listed(find('properties'), PROPERTIES),
    applicationProperties: mapped(find('application-properties')),
    body: bodyOf(sections),
    bare: raw.subarray(firstBare?.start ?? raw.length),
  };
}

/**
 * The same message with these application properties added, or in the place of those of the same name; the rest keeps
 * its bytes.
 */
export function withApplicationProperties(message: AmqpMessage, added: readonly EncodedProperty[]): AmqpMessage {
  const sections = readSections(message.raw);
  const old = sections.find(({ name }) => name === 'application-properties');
  const following = sections.find(({ name }) => ['data', 'amqp-sequence', 'amqp-value', 'footer'].includes(name));
  const at = old?.start ?? following?.start ?? message.raw.length;
  const names = new Set(added.map(({ name }) => name));
  const kept = old ? pairsOf(message.raw.subarray(old.start, old.end)).filter(({ name }) => !names.has(name)) : [];
  const section = encodeProperties([...kept, ...added]);
  return readMessage(Buffer.concat([message.raw.subarray(0, at), section, message.raw.subarray(old?.end ?? at)]));
}

function pairsOf(section: Buffer): EncodedProperty[] {
  const head = new AmqpReader(section.subarray(1));
  head.read();
  const codeAt = 1 + head.position;
  const width = section[codeAt] === 0xd1 ? 4 : 1;
  const items = section.subarray(codeAt + 1 + 2 * width);
  const reader = new AmqpReader(items);
  const pairs: EncodedProperty[] = [];
  while (!reader.done) {
    const start = reader.position;
    const name = String(reader.read().value);
    reader.read();
    pairs.push({ name, bytes: items.subarray(start, reader.position) });
  }
  return pairs;
}

function encodeProperties(pairs: readonly EncodedProperty[]): Buffer {
  const items = Buffer.concat(pairs.map(({ bytes }) => bytes));
  const head = Buffer.from([0x00, 0x53, 0x74, 0xd1, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(items.length + 4, 4);
  head.writeUInt32BE(pairs.length * 2, 8);
  return Buffer.concat([head, items]);
}

function readSections(raw: Buffer): Section[] {
  const reader = new AmqpReader(raw);
  const sections: Section[] = [];
  while (!reader.done) {
    const start = reader.position;
    const read = reader.read();
    if (read.type !== 'described') throw new Error(`a section of type ${read.type}`);
    const name = SECTIONS[Number(read.descriptor.value)];
    if (name === undefined) throw new Error(`an unknown section: ${String(read.descriptor.value)}`);
    sections.push({ name, value: read.value, start, end: reader.position });
  }
  return sections;
}

function bodyOf(sections: readonly Section[]): Body {
  const of = (name: string) => sections.filter((section) => section.name === name).map(({ value }) => value);
  const [value] = of('amqp-value');
  if (value) return { kind: 'value', value };
  const sequences = of('amqp-sequence');
  if (sequences.length > 0) return { kind: 'sequence', sections: sequences };
  const data = of('data').map((section) => (section.type === 'binary' ? section.value : Buffer.alloc(0)));
  return data.length > 0 ? { kind: 'data', sections: data } : { kind: 'none' };
}

function listed(section: AmqpValue | undefined, names: readonly string[]): Fields {
  if (section?.type !== 'list') return {};
  const fields = section.value.map((value, index) => [names[index] ?? String(index), value] as const);
  return Object.fromEntries(fields.filter(([, value]) => value.type !== 'null'));
}

function mapped(section: AmqpValue | undefined): Fields {
  return section?.type === 'map'
    ? Object.fromEntries(section.value.map(([key, value]) => [String(key.value), value]))
    : {};
}
