// The facts of a scheduled event, and a node → an Event on that node. Pure and deterministic.
import { createHash } from 'node:crypto';
import { toRfc3339Seconds } from '../../../src/formats/dates.ts';
import { asBlanks } from '../../../src/formats/visible-text.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { KubernetesNode } from '../api/objects.ts';
import type { NodeEventFacts } from '../event-facts.ts';
import { reasonOf } from './node-change.ts';

/** The namespace of Events of nodes, which have no namespace themselves. */
export const NAMESPACE = 'default';
const COMPONENT = 'scheduled-events-bridge';
/** In bytes: the newer API of Events accepts 1024. */
const MOST_MESSAGE = 1020;

/** A step after which the sink creates an Event. */
export interface Step {
  readonly reason: 'Drained' | 'PodsLeft' | 'Restored';
  /** The beginning of the message. */
  readonly beginning: string;
  /** The rest of the message. */
  readonly items: readonly string[];
}

interface EventText {
  readonly id: string;
  /** Wall time. */
  readonly atMs: number;
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly message: string;
}

/** The Event for a CloudEvent. Its name is derived from the CloudEvent's id, so that a retry gets 409. */
export function nodeEvent(
  node: KubernetesNode,
  facts: NodeEventFacts,
  { id, timeMs }: Pick<Delivery, 'id' | 'timeMs'>,
): object {
  return eventOf(node, id, {
    ...{ id, atMs: timeMs, type: 'Warning' },
    reason: reasonOf(facts.type),
    message: messageOf(facts),
  });
}

/** The Events for one step. Each has the beginning and as many items as fit; usually one is enough. */
export function stepEvents(
  node: KubernetesNode,
  { reason, beginning, items }: Step,
  { id, atMs }: Pick<EventText, 'id' | 'atMs'>,
): readonly object[] {
  const type = reason === 'PodsLeft' ? 'Warning' : 'Normal';
  return messages(beginning, items).map((message, index) =>
    eventOf(node, `${id} ${reason} ${index}`, { id, atMs, reason, type, message }),
  );
}

function messages(beginning: string, items: readonly string[]): readonly string[] {
  const parts = [beginning];
  for (const item of items) {
    const longer = `${parts.at(-1)}${parts.at(-1) === beginning ? ' ' : ', '}${item}`;
    if (longer.length <= MOST_MESSAGE || parts.at(-1) === beginning) parts[parts.length - 1] = longer;
    else parts.push(`${beginning} ${item}`);
  }
  return parts.map((part) => asBlanks(part).slice(0, MOST_MESSAGE));
}

function eventOf(node: KubernetesNode, name: string, { id, atMs, reason, type, message }: EventText): object {
  const at = toRfc3339Seconds(atMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${node.name.slice(0, 200)}.${createHash('sha256').update(name).digest('hex').slice(0, 16)}`,
      namespace: NAMESPACE,
      annotations: { 'scheduled-events-bridge.github.io/cloudevent': id },
    },
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
    ...{ reason, message, type },
    source: { component: COMPONENT, host: node.name },
    reportingComponent: COMPONENT,
    reportingInstance: node.name,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

function messageOf({ type, status, notBeforeMs, eventId, description }: NodeEventFacts): string {
  const when = notBeforeMs === null ? '' : `, not before ${toRfc3339Seconds(notBeforeMs)}`;
  return asBlanks(`${type} ${status}${when} (EventId ${eventId}): ${description}`)
    .slice(0, MOST_MESSAGE / 2)
    .toWellFormed();
}
