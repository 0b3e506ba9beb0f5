// A few fields → events, documents and moments as the metadata stage hands them on.
import type {
  DocumentEvent,
  Instant,
  KnownState,
  ScheduledEvent,
  ScheduledEventsDocument,
} from '../../src/model/events.ts';

export const EVENT_ID = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
/** When the tests of the first document begin; 26 minutes before the sample event's NotBefore. */
export const START_MS = Date.UTC(2022, 3, 11, 22, 0, 0);

/** The worked example (behaviour 3.12). */
export function scheduledEvent(fields: Partial<ScheduledEvent> = {}): ScheduledEvent {
  return {
    eventId: EVENT_ID,
    eventStatus: 'Scheduled',
    eventType: 'Freeze',
    resourceType: 'VirtualMachine',
    resources: ['WestNO_0', 'WestNO_1'],
    notBefore: '2022-04-11T22:26:58Z',
    description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
    eventSource: 'Platform',
    durationInSeconds: 5,
    ...fields,
  };
}

export function documentEvent(fields: Partial<DocumentEvent> = {}): DocumentEvent {
  return { ...scheduledEvent(fields), unreadable: fields.unreadable ?? [] };
}

/** A complete document of 2020-07-01. */
export function documentOf(
  incarnation: number | null,
  events: readonly Partial<DocumentEvent>[] = [],
  more: Partial<ScheduledEventsDocument> = {},
): ScheduledEventsDocument {
  return {
    apiVersion: '2020-07-01',
    incarnation,
    events: events.map(documentEvent),
    statusless: [],
    complete: true,
    ...more,
  };
}

/** So many milliseconds after START_MS, in a process that began then. */
export function momentAt(ms: number): Instant {
  return { wallMs: START_MS + ms, elapsedMs: ms };
}

/** What a bridge knows before its first document. */
export function initialState(): KnownState {
  return {
    incarnation: null,
    apiVersion: null,
    lastGoodAt: null,
    epoch: null,
    emptyRow: null,
    events: new Map(),
    nextOccurrence: 1,
  };
}
