// Changes → CloudEvents as the bridge makes them, and the requests that carry them, signed.

import { signer } from '../../../adapters/webhook/signing.ts';
import { BATCH_CONTENT_TYPE, encodeBatch } from '../../../src/cloudevents/batch.ts';
import { httpHeaders, toBinary } from '../../../src/cloudevents/binary.ts';
import { encodeStructured, toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Change, ScheduledEvent } from '../../../src/model/events.ts';
import { eidOf } from '../../../src/model/ids.ts';
import { readWebhookSecret } from '../../../src/secrets/webhook-secret.ts';
import { EVENT_ID, scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../cloudevents/changes.ts';

/** wire-formats 2.2 */
export const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
export const OTHER_SECRET = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';

/** The bytes of a change in the journal, as a lane gives them to an adapter. */
export function deliveryOf(change: Change): Delivery {
  const event = toCloudEvent(change, context);
  return {
    seq: 1,
    sink: 'hooks',
    id: change.id,
    change: event.type,
    partitionKey: String(event['partitionkey']),
    timeMs: change.at.wallMs,
    bytes: encodeStructured(event),
    queuedAtMs: change.at.wallMs,
    attempts: 0,
    endedAtMs: null,
  };
}

/** The changes of one event from its beginning to its end. */
export function lifeOf(fields: Partial<ScheduledEvent> = {}) {
  const event = scheduledEvent(fields);
  const started = { ...event, eventStatus: 'Started', notBefore: null } as const;
  return {
    scheduled: eventChange({ event }),
    updated: (now: Partial<ScheduledEvent>, number = 1) =>
      eventChange({
        event: { ...event, ...now },
        phase: 'updated',
        previousStatus: 'Scheduled',
        changedFields: ['description'],
        id: `${eidOf(event.eventId.toLowerCase())}:updated:${number}`,
      }),
    started: eventChange({ event: started, phase: 'started', previousStatus: 'Scheduled' }),
    ended: (outcome: 'completed' | 'canceled' | 'unknown' = 'completed') =>
      eventChange({ event: started, phase: 'ended', previousStatus: 'Started', outcome }),
  };
}

/** The same for a drill. */
export function drillLife() {
  return lifeOf({ eventId: 'drill-3f1d0f7e-6a39-4b1c-9a53-2f6f1de5d5a1' });
}

/** One of each kind. */
export function everyChange(): Change[] {
  const life = lifeOf();
  const approvals = (['recorded', 'submitted', 'failed'] as const).map((phase) =>
    approvalChange({ phase, id: `${EVENT_ID.toLowerCase()}:approval-${phase}:1` }),
  );
  const sight = (['blind', 'restored'] as const).map((phase) => sightChange({ phase, id: `source-${phase}:1` }));
  return [
    life.scheduled,
    life.updated({ description: 'Später „€“ 😀' }),
    life.started,
    life.ended(),
    ...approvals,
    ...sight,
  ];
}

export interface Sending {
  readonly mode?: 'structured' | 'binary' | 'batch';
  readonly secrets?: readonly string[];
  /** The time of the signature. */
  readonly wallMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The request that the webhook adapter makes. */
export function requestOf(changes: readonly Change[], sending: Sending = {}): Request {
  const { mode = 'structured', secrets = [], wallMs = 0, headers = {} } = sending;
  const deliveries = changes.map(deliveryOf);
  const [first] = deliveries as [Delivery];
  const [content, body] = contentOf(mode, deliveries);
  const id = mode === 'batch' ? 'batch:0123456789abcdef0123456789abcdef' : first.id;
  const timestampS = Math.floor(wallMs / 1000);
  const signature = signer(secrets.map(keyOf))(id, timestampS, body);
  const signed = signature === null ? {} : { 'webhook-timestamp': String(timestampS), 'webhook-signature': signature };
  return post(body, { ...content, 'webhook-id': id, ...signed, ...headers });
}

export function post(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Request {
  return new Request('http://receiver/hook', { method: 'POST', body, headers });
}

function contentOf(
  mode: Sending['mode'],
  deliveries: readonly Delivery[],
): [headers: Record<string, string>, body: Uint8Array] {
  const [{ bytes }] = deliveries as [Delivery];
  if (mode === 'batch')
    return [{ 'content-type': BATCH_CONTENT_TYPE }, encodeBatch(deliveries.map((delivery) => delivery.bytes))];
  if (mode === 'structured') return [{ 'content-type': 'application/cloudevents+json; charset=utf-8' }, bytes];
  const event = toBinary(bytes);
  if ('fault' in event) throw new TypeError(event.fault);
  return [httpHeaders(event), event.data];
}

function keyOf(secret: string) {
  const key = readWebhookSecret(secret);
  if ('fault' in key) throw new TypeError(key.fault);
  return key;
}
