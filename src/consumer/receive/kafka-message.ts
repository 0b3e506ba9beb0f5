// A kafkajs message → its CloudEvent (CloudEvents Kafka protocol binding 1.0.2).
import type { CloudEvent } from '../event.ts';
import {
  expectJsonFormat,
  modeOf,
  notAnEvent,
  type ReadOptions,
  readBinary,
  readJson,
  readStructured,
} from '../read-event.ts';

type Text = string | Uint8Array;

/** The members of a message that the library reads, as `eachMessage` of kafkajs has them. */
export interface KafkaMessage {
  readonly value: Text | null;
  readonly headers?: Readonly<Record<string, Text | readonly Text[] | undefined>> | undefined;
}

const PREFIX = 'ce_';
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * @throws ConsumerError `not-a-cloudevent`, `unsupported-media-type`: skip the message, because a retry would not help
 */
export function parseKafkaMessage({ value, headers = {} }: KafkaMessage, options: ReadOptions = {}): CloudEvent {
  const texts = new Map(
    Object.entries(headers).flatMap(([name, given]) =>
      given === undefined ? [] : [[name.toLowerCase(), textOf(given)]],
    ),
  );
  const contentType = texts.get('content-type');
  const mode = modeOf(contentType);
  if (mode === 'binary') {
    const own = [...texts]
      .filter(([name]) => name.startsWith(PREFIX))
      .map(([name, text]) => [name.slice(PREFIX.length), text]);
    return readBinary(
      {
        attributes: Object.fromEntries(own),
        contentType,
        data: value === null ? undefined : { bytes: bytesOf(value) },
      },
      options,
    );
  }
  if (mode === 'batch') throw notAnEvent('a Kafka message must not be a batch');
  expectJsonFormat(contentType);
  if (value === null) throw notAnEvent('it has no value');
  return readStructured(readJson(bytesOf(value), 'its value'), options);
}

function bytesOf(text: Text): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

function textOf(given: Text | readonly Text[]): string {
  const [first = ''] = isText(given) ? [given] : given;
  try {
    return typeof first === 'string' ? first : decoder.decode(first);
  } catch {
    throw notAnEvent('a header is not UTF-8');
  }
}

function isText(given: Text | readonly Text[]): given is Text {
  return typeof given === 'string' || given instanceof Uint8Array;
}
