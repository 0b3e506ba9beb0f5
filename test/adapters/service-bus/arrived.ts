// A Service Bus message as kept or received → its CloudEvent, read without the adapter's help.
import assert from 'node:assert/strict';
import { CloudEvent, HTTP } from 'cloudevents';
import type { KeptMessage } from '../../far-sides/service-bus/kept-message.ts';
import type { Arrival } from '../contract.ts';

const PREFIX = /^cloudEvents[_:]/;

/** Of either mode, from the AMQP sections. */
export function arrived(kept: KeptMessage): Arrival {
  const { properties, applicationProperties } = kept.message;
  const attributes = Object.entries(applicationProperties).map(([name, property]) => {
    assert.equal(property.type, 'string');
    return [name, property.value] as const;
  });
  return arrivalOf(String(properties['content-type']?.value), Object.fromEntries(attributes), kept.data);
}

/** Of either mode. */
export function arrivalOf(contentType: string, properties: Readonly<Record<string, unknown>>, body: Buffer): Arrival {
  if (contentType.startsWith('application/cloudevents'))
    return {
      bytes: body,
      event: HTTP.toEvent({ headers: { 'content-type': contentType }, body: body.toString() }) as CloudEvent<unknown>,
    };
  const attributes = Object.entries(properties).map(([name, value]) => {
    assert.match(name, PREFIX);
    return [name.replace(PREFIX, ''), value];
  });
  const event = new CloudEvent(
    { ...Object.fromEntries(attributes), datacontenttype: contentType, data: JSON.parse(body.toString()) },
    true,
  );
  return { bytes: body, event };
}
