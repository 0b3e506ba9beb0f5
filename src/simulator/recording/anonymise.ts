// A recording's line → the line with replaced names and EventIds, consistently in the whole file.
import type { Deps } from '../../time/clock.ts';
import { guid, type WireEvent } from '../events/event.ts';
import type { RecordedAnswer, RecordedDocument, RecordedPost, RecordingLine } from './recording.ts';

const GUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

const KNOWN_FIELDS: ReadonlySet<string> = new Set<keyof WireEvent>([
  'EventId',
  'EventStatus',
  'EventType',
  'ResourceType',
  'Resources',
  'NotBefore',
  'Description',
  'EventSource',
  'DurationInSeconds',
]);

/**
 * Replaces EventIds by random GUIDs in the same letter case, and machines' names by `vm_0`, `vm_1`, … in order of
 * appearance. The same happens in Description, and every other GUID there is replaced too. Omits all but the nine known
 * fields, the bodies of unexpected answers, and all of a POST but its EventIds. Keeps times, types, durations and
 * statuses. The output does not reveal the original names and ids.
 */
export class Anonymiser {
  readonly #random: Deps['random'];
  /** New ids in upper case, by original id in lower case. */
  readonly #ids = new Map<string, string>();
  /** New names, by original name in lower case. */
  readonly #names = new Map<string, string>();

  constructor(random: Deps['random']) {
    this.#random = random;
  }

  line({ vm, document, answer, post, ...rest }: RecordingLine): RecordingLine {
    return {
      ...rest,
      ...(vm === undefined ? {} : { vm: this.#name(vm) }),
      ...(document && { document: this.#document(document) }),
      ...(answer && { answer: withoutBody(answer) }),
      ...(post && { post: this.#post(post) }),
    };
  }

  #document({ DocumentIncarnation, Events }: RecordedDocument): RecordedDocument {
    // All names first: a Description can name a machine that only a later event lists.
    const events = Events.map((event) => ({
      ...event,
      EventId: this.#eventId(event.EventId),
      Resources: event.Resources.map((name) => this.#name(name)),
    }));
    const replaceWords = this.#replacer();
    return { DocumentIncarnation, Events: events.map((event) => knownFields(event, replaceWords)) };
  }

  #post({ StartRequests, status, unreachable }: RecordedPost): RecordedPost {
    const requests = StartRequests?.map((request) => {
      const eventId =
        typeof request === 'object' && request !== null && 'EventId' in request ? request.EventId : undefined;
      return typeof eventId === 'string' ? { EventId: this.#eventId(eventId) } : {};
    });
    return { StartRequests: requests ?? null, status, ...(unreachable === undefined ? {} : { unreachable }) };
  }

  #eventId(eventId: string): string {
    const key = eventId.toLowerCase();
    const replacement = this.#ids.get(key) ?? guid(this.#random);
    this.#ids.set(key, replacement);
    return eventId === eventId.toUpperCase() ? replacement : replacement.toLowerCase();
  }

  /** The leading underscore of api-version 2017-03-01 is not part of the name. */
  #name(name: string): string {
    const [, underscore = '', bare = ''] = /^(_?)(.*)$/s.exec(name) ?? [];
    const key = bare.toLowerCase();
    const replacement = this.#names.get(key) ?? `vm_${this.#names.size}`;
    this.#names.set(key, replacement);
    return `${underscore}${replacement}`;
  }

  /** Finds names between any characters but letters and digits: replacing too many words is safer than too few. */
  #replacer(): (text: string) => string {
    const words = [...this.#names.keys(), ...this.#ids.keys()]
      .filter((word) => word !== '')
      .sort((a, b) => b.length - a.length);
    const known = new RegExp(
      `(?<![\\p{L}\\p{N}])(?:${[GUID.source, ...words.map(escaped)].join('|')})(?![\\p{L}\\p{N}])`,
      'giu',
    );
    return (text) => text.replace(known, (word) => this.#names.get(word.toLowerCase()) ?? this.#eventId(word));
  }
}

/** Keeps the known fields, in the recorded order. */
function knownFields(event: WireEvent, replaceWords: (text: string) => string): WireEvent {
  const { Description } = event;
  const words = Description === undefined ? event : { ...event, Description: replaceWords(Description) };
  return Object.fromEntries(Object.entries(words).filter(([key]) => KNOWN_FIELDS.has(key))) as unknown as WireEvent;
}

/** An empty body reveals nothing and is kept. */
function withoutBody({ body, ...rest }: RecordedAnswer): RecordedAnswer {
  return body === '' ? { ...rest, body } : rest;
}

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
