// Every kind of CloudEvent in every mode → it fits the document, which names all its members.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { EncodedEvent, SinkChannel } from '../../../adapters/channel.ts';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import type { Change } from '../../../src/model/events.ts';
import { VM_FIELDS } from '../../../src/model/vm-metadata.ts';
import { type AsyncApi, asyncApiOf, configWith, messageFaults } from '../../support/asyncapi-document.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventApproval, eventChange, sightChange } from '../cloudevents/changes.ts';

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
const VM = { ...Object.fromEntries(VM_FIELDS.map((field) => [field, 'x'])), tags: { team: 'shop' } };
const ODD = {
  notBefore: null,
  eventType: '',
  eventSource: '',
  resources: [],
  resourceType: '',
  description: '',
  durationInSeconds: -1,
};
const DRILL = scheduledEvent({ eventId: 'drill-00000000-0000-4000-8000-000000000001' });

const CHANGES: readonly Change[] = [
  eventChange(),
  eventChange({ event: scheduledEvent(ODD), incarnation: null }),
  eventChange({ event: DRILL, key: DRILL.eventId }),
  eventChange({ phase: 'updated', previousStatus: 'Scheduled', changedFields: ['durationInSeconds', 'notBefore'] }),
  eventChange({
    phase: 'started',
    previousStatus: 'Scheduled',
    event: scheduledEvent({ eventStatus: 'Started', notBefore: null }),
  }),
  ...(['completed', 'canceled', 'unknown'] as const).map((outcome) =>
    eventChange({ phase: 'ended', previousStatus: 'Started', outcome }),
  ),
  ...(['recorded', 'submitted', 'failed'] as const).map((phase) => approvalChange({ phase })),
  approvalChange({ phase: 'failed', approver: null, policy: 'policy[0]', reason: 'unknown', event: null }),
  sightChange(),
  sightChange({ phase: 'restored', lastDocumentAt: null, reason: null }),
];

function eventsOf(name: string | null): readonly EncodedEvent[] {
  const observer = { name, id: 'westno_0', ...(name !== null && { vm: VM }) };
  return CHANGES.map((change) => toJournalEntry(change, { ...context, observer, approval: () => eventApproval() }));
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
