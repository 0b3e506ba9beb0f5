// Changes and texts → deliveries whose log records say all that there is to say.

import { sampleEvents } from '../../../adapters/webhook/template/template-samples.ts';
import { toJournalEntry } from '../../../src/cloudevents/journal-entry.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Change } from '../../../src/model/events.ts';
import { scheduledEvent } from '../../support/events.ts';
import { context, eventChange } from '../../unit/cloudevents/changes.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

/** What is hard to carry, lone surrogates apart. */
const HOSTILE = ['"}],"x":[{', '|=\\', 'a\nb\r\tc', '\0\u0001', '\u202eabc', '💥', '\u2028', 'x'.repeat(64 * 1024)];

/** @param name of the VM that saw it; null while unknown */
export function deliveryOf(change: Change, name: string | null = 'WestNO_0'): Delivery {
  const observer = { ...context.observer, name };
  return { ...sampleDelivery(), bytes: toJournalEntry(change, { ...context, observer }).bytes };
}

export function describing(description: string): Delivery {
  return deliveryOf(eventChange({ event: scheduledEvent({ description }) }));
}

/** Of each type one with all that it may hold, then one with as little as it may, and what is hard to carry. */
export function allDeliveries(): readonly Delivery[] {
  const samples = sampleEvents().map(({ event }) => ({ ...sampleDelivery(), bytes: Buffer.from(JSON.stringify(event)) }));
  return [...samples, ...HOSTILE.map(describing)];
}
