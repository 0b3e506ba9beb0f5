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

/** The name is derived from the CloudEvent's id, so that a retry gets 409. */
export function nodeEvent(
  node: KubernetesNode,
  facts: NodeEventFacts,
  { id, timeMs }: Pick<Delivery, 'id' | 'timeMs'>,
): object {
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

function messageOf({ type, status, notBeforeMs, eventId, description }: NodeEventFacts): string {
  const when = notBeforeMs === null ? '' : `, not before ${toRfc3339Seconds(notBeforeMs)}`;
  return asBlanks(`${type} ${status}${when} (EventId ${eventId}): ${description}`)
    .slice(0, MOST_MESSAGE / 2)
    .toWellFormed();
}
