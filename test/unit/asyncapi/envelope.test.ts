// Every kind of CloudEvent in every mode → it fits the document, which names all its members.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { EncodedEvent, SinkChannel } from '../../../adapters/channel.ts';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { type AsyncApi, asyncApiOf, configWith, messageFaults } from '../../support/asyncapi-document.ts';
import { EVERY_CHANGE, fullContext } from '../cloudevents/changes.ts';

const HOOK = { type: 'webhook', url: 'https://hooks.example.com/' };
const BUS = { type: 'service-bus', namespace: 'example.servicebus.windows.net', topic: 'maintenance' };
const KAFKA = { type: 'kafka', brokers: ['one:9092'], topic: 'maintenance' };
const SECTIONS = {
  sinks: {
    ...{ structured: HOOK, binary: { ...HOOK, mode: 'binary' }, batch: { ...HOOK, mode: 'batch' } },
    ...{ records: KAFKA, values: { ...KAFKA, mode: 'structured' } },
    ...{ bus: BUS, bodies: { ...BUS, mode: 'structured' }, colon: { ...BUS, attributePrefix: 'colon' } },
  },
};
function eventsOf(name: string | null): readonly EncodedEvent[] {
  return EVERY_CHANGE.map((change) => toJournalEntry(change, fullContext(name)));
}

/** A schema that leaves members open may be incomplete. */
function closed(document: AsyncApi): AsyncApi {
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close);
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]));
    // The class that only names the discriminator is part of the others.
    return inner['type'] === 'object' && 'properties' in inner && !('discriminator' in inner)
      ? { ...inner, additionalProperties: false }
      : inner;
  };
  return { ...document, components: close(document.components) as AsyncApi['components'] };
}

test('every kind of CloudEvent fits in every mode, and the document names each member and header', () => {
  const faults = messageFaults(closed(asyncApiOf(SECTIONS)));
  for (const [name, { adapter, options }] of Object.entries(configWith(SECTIONS).sinks)) {
    const channel = adapter.channel?.(options) as SinkChannel;
    for (const event of [...eventsOf('WestNO_0'), ...eventsOf(null)]) {
      const { headers, body } = channel.encode(event);
      assert.equal(
        faults.ofChannel(name, { headers, payload: JSON.parse(Buffer.from(body).toString()) }),
        '',
        `${name} ${event.id}`,
      );
    }
  }
});

test('members that a later version adds fit, too', () => {
  const faults = messageFaults(asyncApiOf(SECTIONS));
  const [event] = eventsOf('WestNO_0');
  const payload = JSON.parse(Buffer.from(event?.bytes ?? []).toString()) as { data: object };
  assert.equal(
    faults.ofChannel('v1.stream', { payload: { ...payload, newer: 1, data: { ...payload.data, newer: [1] } } }),
    '',
  );
});
