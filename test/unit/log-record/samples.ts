// Changes and hostile texts → the stored bytes of their CloudEvents.
import fc from 'fast-check';
import { sampleEvents } from '../../../adapters/webhook/template/template-samples.ts';
import type { EventContext } from '../../../src/cloudevents/event.ts';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { type LogRecord, logRecord } from '../../../src/log-record/log-record.ts';
import type { Change } from '../../../src/model/events.ts';
import { scheduledEvent } from '../../support/events.ts';
import { context, eventChange } from '../cloudevents/changes.ts';

export function recordOf(change: Change, more: Partial<EventContext> = {}): LogRecord {
  return logRecord(toJournalEntry(change, { ...context, ...more }).bytes);
}

/** One of each type with all members, then one of each with as few as possible. */
export function sampleRecords(): readonly LogRecord[] {
  return sampleEvents().map(({ event }) => logRecord(new TextEncoder().encode(JSON.stringify(event))));
}

const HOSTILE = [
  '|',
  '=',
  '\\',
  '"',
  "'",
  ']',
  '\n',
  '\r',
  '\t',
  '\0',
  '\u001b',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u200f',
  'ש',
  '😀',
  '…',
  ' ',
  'a',
  'cs1=',
];

/** Any text that stored bytes may have: anything except a lone surrogate. */
export const hostileText = fc.oneof(fc.string({ unit: fc.constantFrom(...HOSTILE) }), fc.string({ unit: 'binary' }));

/** A record with different hostile texts. */
export const hostileRecord = fc
  .record({
    description: hostileText,
    eventType: hostileText,
    eventSource: hostileText,
    resources: fc.uniqueArray(hostileText),
    name: hostileText,
  })
  .map(({ name, ...texts }) =>
    recordOf(eventChange({ phase: 'updated', event: scheduledEvent(texts), changedFields: ['description'] }), {
      observer: { name, id: 'vm' },
    }),
  );

/** A record of a bridge that publishes its VM's instance metadata. */
export function withVm(): LogRecord {
  const vm = {
    ...{ location: 'westeurope', zone: '2', vmSize: 'Standard_D2s_v5', vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6' },
    resourceId: '/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/WestNO_0',
    tags: { team: 'shop', 'cost.center': '=7|' },
  };
  return recordOf(eventChange(), { observer: { ...context.observer, vm } });
}
