// A webhook's headers and body → its CloudEvents, in any mode (CloudEvents HTTP binding 1.0.2).
import { ConsumerError } from '../consumer-error.ts';
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

export const MODES = ['structured', 'binary', 'batch'] as const;

/** `mode` of a webhook sink. */
export type DeliveryMode = (typeof MODES)[number];

interface HttpEvents {
  readonly mode: DeliveryMode;
  readonly events: readonly CloudEvent[];
}

const PREFIX = 'ce-';

interface HttpReadOptions extends ReadOptions {
  readonly modes: readonly DeliveryMode[];
}

/**
 * @throws ConsumerError `unsupported-media-type` if it is not a CloudEvent, or in another mode; `not-a-cloudevent` if
 * the event is not valid
 */
export function readHttp(
  headers: Iterable<readonly [string, string]>,
  body: Uint8Array,
  options: HttpReadOptions,
): HttpEvents {
  const all = new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
  const contentType = all.get('content-type');
  const mode = modeOf(contentType);
  if (!options.modes.includes(mode))
    throw new ConsumerError('unsupported-media-type', `this receiver does not accept ${mode} mode`);
  if (mode === 'binary') return { mode, events: [readBinary({ ...binaryParts(all, body), contentType }, options)] };
  expectJsonFormat(contentType);
  const content = readJson(body);
  if (mode === 'structured') return { mode, events: [readStructured(content, options)] };
  if (!Array.isArray(content)) throw notAnEvent('a batch must be a JSON array');
  return { mode, events: content.map((member: unknown) => readStructured(member, options)) };
}

function binaryParts(headers: ReadonlyMap<string, string>, body: Uint8Array) {
  const own = [...headers].filter(([name]) => name.startsWith(PREFIX));
  if (own.length === 0)
    throw new ConsumerError(
      'unsupported-media-type',
      'this is not a CloudEvent: it has neither a Content-Type of CloudEvents nor ce- headers',
    );
  const attributes = Object.fromEntries(own.map(([name, value]) => [name.slice(PREFIX.length), decoded(name, value)]));
  if ('datacontenttype' in attributes)
    throw notAnEvent('ce-datacontenttype is not allowed, because Content-Type has its value');
  return { attributes, data: body.byteLength === 0 ? undefined : { bytes: body } };
}

/** Removes quoting first, then percent-encoding, once (section 3.1.3.2). */
function decoded(name: string, value: string): string {
  const text = /^".*"$/s.test(value) ? value.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : value;
  try {
    return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => decodeURIComponent(encoded));
  } catch {
    throw notAnEvent(`the header ${name} is not percent-encoded UTF-8`);
  }
}
