// Brokers, webhooks → one interface to reach a consumer, and CloudEvents to send by it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { encodeStructured, toCloudEvent } from '../../src/cloudevents/event.ts';
import type { ApprovalChange, EventChange } from '../../src/model/events.ts';
import { scheduledEvent } from '../support/events.ts';
import type { Sections } from '../support/running-bridge.ts';
import { approvalChange, context, eventChange } from '../unit/cloudevents/changes.ts';

export type Env = Readonly<Record<string, string>>;

/** A CloudEvent in the JSON format. */
export type JsonEvent = Readonly<Record<string, unknown>>;

/** One way to a consumer, from the bridge and past it. */
export interface Channel {
  readonly name: 'kafka' | 'service-bus' | 'webhook' | 'stream';
  /** The bridge's sections: its sink `out`, and the source of approvals if the channel has one. */
  readonly sections: Sections;
  /** A line that the bridge logs before it can receive approvals by this channel; absent over HTTP. */
  readonly listens?: string;
  /** Variables of the bridge and of the program that name the channel's places and secrets. */
  readonly bridgeEnv: Env;
  readonly programEnv: Env;
  /** Sends a CloudEvent past the bridge, in structured mode. Resolves when the channel has accepted it. */
  send(event: JsonEvent): Promise<void>;
  /** Sends what is not a CloudEvent. Returns how many of them the program must report as skipped. */
  sendUnreadable(): Promise<number>;
  /** Sends everything that the bridge has published so far once more; absent if the bridge's own replay does it. */
  repeat?(): Promise<void>;
  /** Answers requests in place of the bridge, all but approvals; absent if the program makes no others. */
  relay?(request: IncomingMessage, response: ServerResponse): void;
  /** Lets the time pass for which the broker keeps a receiver waiting; absent if no broker does. */
  idle?(): Promise<void>;
  /** Returns the bodies of all approvals that were sent by it; absent if they cannot be read beside the bridge. */
  approvals?(): Promise<readonly string[]>;
}

/** Where crafted events happen, as the bridge names the simulator's first machine. */
export const MACHINE = 'sim_0';

export const SCHEDULED = 'io.github.scheduled-events-bridge.scheduled.v1';

type Phase = EventChange['phase'];

/**
 * A CloudEvent of a change as a bridge on MACHINE makes it, announced for ten minutes from now. `over` replaces
 * attributes.
 */
export function changeOf(
  phase: Phase,
  eventId: string,
  over: JsonEvent = {},
  fields: Partial<EventChange['event']> = {},
): JsonEvent {
  const wallMs = Date.now();
  const event = scheduledEvent({
    eventId,
    eventType: 'Reboot',
    resources: [MACHINE],
    notBefore: inMinutes(10),
    ...fields,
  });
  const ended = phase === 'ended' ? { outcome: 'completed' as const } : {};
  return { ...jsonOf(eventChange({ event, phase, at: { wallMs, elapsedMs: 0 }, ...ended })), ...over };
}

/** A CloudEvent of a type of the bridge, with data that this type does not promise. */
export function hollow(): JsonEvent {
  return changeOf('scheduled', 'hollow', { data: { eventId: 'hollow' } });
}

/** Bodies that are not a CloudEvent, or lack what its type promises. */
export function unreadableBodies(): readonly string[] {
  const withoutId = '{"specversion":"1.0","type":"x","source":"/x"}';
  return ['hello', '[1]', withoutId, '{"specversion":', JSON.stringify(hollow())];
}

/** What a bridge reports if it refuses an approval. */
export function refusalOf(eventId: string, reason: string): JsonEvent {
  const event = scheduledEvent({ eventId });
  const id = `${eventId}:approval-failed:0123456789abcdef:${reason}`;
  return jsonOf(approvalChange({ phase: 'failed', event, key: eventId, eventId, id, reason }));
}

/** RFC 3339, in whole seconds; negative for the past. */
export function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString().replace(/\.\d+/, '');
}

function jsonOf(change: EventChange | ApprovalChange): JsonEvent {
  const made = toCloudEvent(change, { ...context, observer: { name: MACHINE, id: MACHINE } });
  return JSON.parse(Buffer.from(encodeStructured(made)).toString()) as JsonEvent;
}
