// What is known of a scheduled event, and a node → an Event on that node. Pure; the same each time.
import { createHash } from 'node:crypto';
import { toRfc3339Seconds } from '../../../src/formats/dates.ts';
import { asBlanks } from '../../../src/formats/visible-text.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Node } from '../api/objects.ts';
import type { EventFacts } from '../event-facts.ts';
import { reasonOf } from './node-change.ts';

/** Where Events of nodes are, which are in no namespace. */
export const NAMESPACE = 'default';
const COMPONENT = 'scheduled-events-bridge';
/** Bytes: the newer API of Events takes 1024. */
const MOST_MESSAGE = 1020;

/** Its name is made of the CloudEvent's id, so that a repeat finds it there. */
export function nodeEvent(node: Node, facts: EventFacts, { id, timeMs }: Pick<Delivery, 'id' | 'timeMs'>): object {
  const at = toRfc3339Seconds(timeMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${node.name.slice(0, 200)}.${createHash('sha256').update(id).digest('hex').slice(0, 16)}`,
      namespace: NAMESPACE,
      annotations: { 'scheduled-events-bridge.github.io/cloudevent': id },
    },
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
    reason: reasonOf(facts.type),
    message: messageOf(facts),
    type: 'Warning',
    source: { component: COMPONENT, host: node.name },
    reportingComponent: COMPONENT,
    reportingInstance: node.name,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

function messageOf({ type, status, notBeforeMs, eventId, description }: EventFacts): string {
  const when = notBeforeMs === null ? '' : `, not before ${toRfc3339Seconds(notBeforeMs)}`;
  return asBlanks(`${type} ${status}${when} (EventId ${eventId}): ${description}`)
    .slice(0, MOST_MESSAGE / 2)
    .toWellFormed();
}
