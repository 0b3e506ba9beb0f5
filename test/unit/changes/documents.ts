// Arbitrary documents, answers and times for the property tests of changes/.
import fc from 'fast-check';
import type { DocumentEvent, EventStatus, ScheduledEventsDocument } from '../../../src/model/events.ts';
import { documentEvent, documentOf, EVENT_ID } from '../../support/events.ts';

/** Some GUIDs, some odd; few enough to meet again. */
const EVENT_IDS = [EVENT_ID, '8D2C3BB2-0F8B-4C5C-9C5E-6B5E4A1D7F10', 'Event A', 'ÄÖ', '__proto__', 'x'.repeat(70)];
const RESOURCES = ['WestNO_0', 'WestNO_1', 'westno_0', 'b', ''];

/** Few values for each field, so that contents repeat. NotBefore is far from the times of `steps`. */
export const anyEvent: fc.Arbitrary<DocumentEvent> = fc
  .record({
    eventId: fc.constantFrom(...EVENT_IDS),
    eventStatus: fc.constantFrom<EventStatus>('Scheduled', 'Started'),
    eventType: fc.constantFrom('Freeze', 'Reboot', 'Terminate', ''),
    resources: fc.uniqueArray(fc.constantFrom(...RESOURCES)),
    notBefore: fc.constantFrom(null, '2000-01-01T00:00:00Z', '2090-01-01T00:00:00Z'),
    durationInSeconds: fc.constantFrom(-1, 9),
  })
  .map(documentEvent);

export const anyEvents = fc.uniqueArray(anyEvent, { selector: (event) => event.eventId, maxLength: 4 });

/** A poll: what was answered, and how many milliseconds after the one before. */
export interface Step {
  readonly afterMs: number;
  /** Null for an answer that is no good document. */
  readonly document: ScheduledEventsDocument | null;
}

const anyPause = fc.oneof(fc.constantFrom(1000, 10_000, 10_001), fc.integer({ min: 1, max: 400_000 }));

/** Documents of a service that only goes on: the incarnation grows with each, nothing is unusable. */
export const plainSteps: fc.Arbitrary<
  readonly { readonly afterMs: number; readonly document: ScheduledEventsDocument }[]
> = fc
  .array(fc.record({ afterMs: anyPause, events: anyEvents }), { minLength: 1, maxLength: 12, size: 'max' })
  .map((steps) => steps.map(({ afterMs, events }, n) => ({ afterMs, document: documentOf(n + 1, events) })));

/**
 * Anything that polls may bring: failures, empty answers, smaller incarnations, silences, unusable entries and fields.
 */
export const oneVersionSteps = stepsOf(fc.constant('2020-07-01'));

/** Other api-versions in between as well. */
export const anySteps = stepsOf(fc.constantFrom(...Array<string>(9).fill('2020-07-01'), '2019-01-01'));

function stepsOf(apiVersion: fc.Arbitrary<string>): fc.Arbitrary<readonly Step[]> {
  const document = fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constant(documentOf(null)) },
    { weight: 9, arbitrary: documentWith(apiVersion) },
  );
  const afterMs = fc.oneof({ weight: 9, arbitrary: anyPause }, { weight: 1, arbitrary: fc.constant(25 * 3_600_000) });
  return fc.array(fc.record({ afterMs, document }), { minLength: 1, maxLength: 16, size: 'max' });
}

function documentWith(apiVersion: fc.Arbitrary<string>): fc.Arbitrary<ScheduledEventsDocument> {
  return fc
    .record({
      apiVersion,
      incarnation: fc.integer({ min: 0, max: 6 }),
      events: anyEvents,
      unreadable: fc.subarray(['notBefore', 'resources'] as const),
      complete: fc.constantFrom(true, true, true, true, false),
      statusless: fc.subarray(EVENT_IDS, { maxLength: 1 }),
    })
    .map(({ incarnation, events, unreadable, statusless, ...more }) => {
      const listed = events.map((event, n) => (n === 0 ? withUnreadable(event, unreadable) : event));
      const keys = new Set(events.map((event) => event.eventId.toLowerCase()));
      const unusable = statusless.map((id) => id.toLowerCase()).filter((key) => !keys.has(key));
      return documentOf(incarnation, listed, { ...more, statusless: unusable });
    });
}

function withUnreadable(event: DocumentEvent, unreadable: readonly ('notBefore' | 'resources')[]): DocumentEvent {
  const absent = { notBefore: null, resources: [] };
  return { ...event, ...Object.fromEntries(unreadable.map((field) => [field, absent[field]])), unreadable };
}

/** The same document, entries and names in another order and EventIds in other letter case, all drawn from `seed`. */
export function shuffled(document: ScheduledEventsDocument, seed: number): ScheduledEventsDocument {
  const events = rotated(document.events, seed).map((event, n) => ({
    ...event,
    eventId: (seed + n) % 2 === 0 ? event.eventId.toLowerCase() : swapCase(event.eventId),
    resources: rotated(event.resources, seed + n).toReversed(),
  }));
  return { ...document, events, statusless: document.statusless.toReversed() };
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function swapCase(text: string): string {
  return [...text].map((one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())).join('');
}
