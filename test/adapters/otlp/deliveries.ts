// Changes and texts → deliveries with every member that a log record can have.

import { sampleEvents } from '../../../adapters/webhook/template/template-samples.ts';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Change } from '../../../src/model/events.ts';
import { scheduledEvent } from '../../support/events.ts';
import { context, eventChange } from '../../unit/cloudevents/changes.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

/** Texts that are hard to encode, except lone surrogates. */
const HOSTILE = ['"}],"x":[{', '|=\\', 'a\nb\r\tc', '\0\u0001', '\u202eabc', '💥', '\u2028', 'x'.repeat(64 * 1024)];

/** @param name the name of the VM that saw the change; null while unknown */
export function deliveryOf(change: Change, name: string | null = 'WestNO_0'): Delivery {
  const observer = { ...context.observer, name };
  return { ...sampleDelivery(), bytes: toJournalEntry(change, { ...context, observer }).bytes };
}

export function describing(description: string): Delivery {
  return deliveryOf(eventChange({ event: scheduledEvent({ description }) }));
}

/** For each type, one delivery with all members and one with as few as allowed; then texts that are hard to encode. */
export function allDeliveries(): readonly Delivery[] {
  const samples = sampleEvents().map(({ event }) => ({
    ...sampleDelivery(),
    bytes: Buffer.from(JSON.stringify(event)),
  }));
  return [...samples, ...HOSTILE.map(describing)];
}
