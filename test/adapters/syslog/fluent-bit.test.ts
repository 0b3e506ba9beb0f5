// The real Fluent Bit as a syslog server → which messages arrive with each framing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { FluentBit, withoutFluentBit } from '../../far-sides/fluent-bit/fluent-bit.ts';
import { parsedMessage } from '../../far-sides/syslog/parsed-message.ts';
import { scheduledEvent } from '../../support/events.ts';
import { context, eventChange } from '../../unit/cloudevents/changes.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createSyslog } from './start-syslog.ts';

const never = new AbortController().signal;
/** The last one is cut to `maxBytes`. */
const DESCRIPTIONS = ['', 'quotes " and \\, ] and 💥\na line', 'long '.repeat(20_000)];

const DELIVERIES: readonly Delivery[] = DESCRIPTIONS.flatMap((description) => {
  const event = scheduledEvent({ description });
  return [eventChange({ event }), eventChange({ event, phase: 'updated' }), eventChange({ event, phase: 'started' })];
}).map((change) => {
  const { id, change: name, bytes } = toJournalEntry(change, context);
  return { ...sampleDelivery(), id, change: name, bytes };
});

for (const [input, framing] of [
  ['lines', 'lines'],
  ['counted', 'counted'],
] as const)
  test(`Fluent Bit, configured for ${input}, reads every message with framing: ${framing}`, {
    skip: withoutFluentBit,
  }, async (t) => {
    const far = await FluentBit.start(t);
    const { adapter } = createSyslog(t, { options: { server: `tcp://${far.address(input)}`, framing } });
    assert.ok((await adapter.deliver(DELIVERIES, never)).every((outcome) => outcome === 'accepted'));
    const records = await far.readWhenThere(input, DELIVERIES.length);
    for (const [index, { id, bytes }] of DELIVERIES.entries()) {
      const { structuredData, message } = parsedMessage(Buffer.from(String(records[index]?.['line'])));
      assert.equal(structuredData['cloudevent@32473']?.['id'], id);
      const { data, ...attributes } = JSON.parse(message.toString());
      const event = JSON.parse(Buffer.from(bytes).toString());
      assert.deepEqual({ ...attributes, data: { ...data, description: event.data.description } }, event);
      assert.equal(data.description?.slice(0, 1000), event.data.description?.slice(0, 1000));
    }
  });

for (const [input, wrong, right] of [
  ['lines', 'counted', 'lines'],
  ['counted', 'lines', 'counted'],
] as const)
  test(`Fluent Bit, configured for ${input}, loses messages with framing: ${wrong} without an error`, {
    skip: withoutFluentBit,
  }, async (t) => {
    const far = await FluentBit.start(t);
    const server = `tcp://${far.address(input)}`;
    assert.deepEqual(await createSyslog(t, { options: { server, framing: wrong } }).deliver({ seq: 1 }), ['accepted']);
    assert.deepEqual(await createSyslog(t, { options: { server, framing: right } }).deliver({ seq: 2 }), ['accepted']);
    const [record, ...more] = await far.readWhenThere(input, 1);
    assert.ok(String(record?.['line']).includes(sampleDelivery({ seq: 2 }).id));
    assert.deepEqual(more, []);
  });
