// The events for which a node is prepared → the patch of its condition `ScheduledEvent`. Pure.
import { toRfc3339Seconds } from '../../../src/formats/dates.ts';
import type { Node } from '../api/objects.ts';
import { CONDITION, reasonOf } from './node-change.ts';
import type { PreparedEvent } from './record.ts';

/**
 * Returns a strategic merge patch of `nodes/status`, or null if nothing changes. The patch keeps all other conditions, and fails if the
 * node has changed since it was read. Without an event, it removes the condition.
 */
export function conditionPatch({ conditions, resourceVersion }: Node, event: PreparedEvent | undefined, wallMs: number): object | null {
  const own = conditions.find(({ type }) => type === CONDITION);
  if (event === undefined) return own === undefined ? null : patch(resourceVersion, { type: CONDITION, $patch: 'delete' });
  const reason = reasonOf(event.type);
  if (own?.status === 'True' && own.reason === reason) return null;
  const now = toRfc3339Seconds(wallMs);
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  return patch(resourceVersion, {
    type: CONDITION,
    status: 'True',
    reason,
    message: `${event.type || 'An event'} of Azure is scheduled or has begun`,
    ...times,
  });
}

function patch(resourceVersion: string, condition: object): object {
  return { metadata: { resourceVersion }, status: { conditions: [condition] } };
}
