// A recording's line → the same line with other names and EventIds, always the same for the same.
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
 * EventIds become random GUIDs in their letter case, machines `vm_0`, `vm_1`, … in the order in which they appear, in Description too, where every
 * other GUID is replaced as well. Fields that are not the nine known ones, odd answers' bodies and all of a post but its EventIds are left out.
 * Times, types, durations and statuses stay. Nothing in what comes out tells what a name or an id was.
 */
export class Anonymiser {
  readonly #random: Deps['random'];
  /** By id in lower case, the new one in upper case. */
  readonly #ids = new Map<string, string>();
  /** By name in lower case. */
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
    // All names first: a Description may speak of a machine that only a later event lists.
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
      const eventId = typeof request === 'object' && request !== null && 'EventId' in request ? request.EventId : undefined;
      return typeof eventId === 'string' ? { EventId: this.#eventId(eventId) } : {};
    });
    return { StartRequests: requests ?? null, status, ...(unreachable === undefined ? {} : { unreachable }) };
  }

  #eventId(eventId: string): string {
    const key = eventId.toLowerCase();
    const other = this.#ids.get(key) ?? guid(this.#random);
    this.#ids.set(key, other);
    return eventId === eventId.toUpperCase() ? other : other.toLowerCase();
  }

  /** The underscore of api-version 2017-03-01 is no part of the name. */
  #name(name: string): string {
    const [, underscore = '', bare = ''] = /^(_?)(.*)$/s.exec(name) ?? [];
    const key = bare.toLowerCase();
    const other = this.#names.get(key) ?? `vm_${this.#names.size}`;
    this.#names.set(key, other);
    return `${underscore}${other}`;
  }

  /** Names are found wherever no letter or digit touches them: rather one word too many than one too few. */
  #replacer(): (text: string) => string {
    const words = [...this.#names.keys(), ...this.#ids.keys()].filter((word) => word !== '').sort((a, b) => b.length - a.length);
    const known = new RegExp(`(?<![\\p{L}\\p{N}])(?:${[GUID.source, ...words.map(escaped)].join('|')})(?![\\p{L}\\p{N}])`, 'giu');
    return (text) => text.replace(known, (word) => this.#names.get(word.toLowerCase()) ?? this.#eventId(word));
  }
}

/** In the order in which they were recorded. */
function knownFields(event: WireEvent, replaceWords: (text: string) => string): WireEvent {
  const { Description } = event;
  const words = Description === undefined ? event : { ...event, Description: replaceWords(Description) };
  return Object.fromEntries(Object.entries(words).filter(([key]) => KNOWN_FIELDS.has(key))) as unknown as WireEvent;
}

/** That it was empty tells nothing of anybody. */
function withoutBody({ body, ...rest }: RecordedAnswer): RecordedAnswer {
  return body === '' ? { ...rest, body } : rest;
}

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
