// A store → the view of `status` without its bridge.
import { toRfc3339, toRfc3339Seconds } from '../../formats/dates.ts';
import type { EventApproval } from '../../model/approvals.ts';
import { isDrill } from '../../model/drills.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import { withStoreToRead } from '../store.ts';
import type { VerbContext } from '../verb.ts';
import type { ShownApproval, ShownSink, StatusView } from './status-view.ts';

export type StoreView = Omit<StatusView, 'ready' | 'reasons' | 'isRunning' | 'sinkStates' | 'configuration'>;

/** @throws BridgeError BRIDGE_STORE_* */
export function statusOfStore(context: VerbContext, file: string): Promise<StoreView> {
  return withStoreToRead(context, file, (outbox) => {
    const known = outbox.known.load();
    const approvals = new Map(outbox.approvals.open().map((approval) => [approval.occurrence, approval]));
    const sinks = [...outbox.sinks.types()].map(([name, type]) => sinkOf(outbox, name, type));
    const lastGoodMs = known.lastGoodAt?.wallMs ?? null;
    return {
      from: 'store',
      state: outbox.known.blindness() !== null ? 'blind' : lastGoodMs === null ? 'enabling' : 'watching',
      documentIncarnation: known.incarnation,
      observedAt: lastGoodMs === null ? null : toRfc3339Seconds(lastGoodMs),
      documentAgeSeconds: lastGoodMs === null ? null : Math.max(0, Math.round((context.deps.wallMs() - lastGoodMs) / 1000)),
      events: [...known.events.values()].map(({ key, event, occurrence }) => ({
        ...event,
        approval: approvalOf(approvals.get(occurrence)),
        ...(isDrill(key) && { drill: true as const }),
      })),
      sinks,
      deadLetters: sinks.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
    };
  });
}

function approvalOf(approval: EventApproval | undefined): ShownApproval | null {
  if (approval === undefined) return null;
  const { state, votes, holds } = approval;
  return { state, approvedBy: votes.map(({ approver }) => approver), holds: holds.map(({ approver }) => ({ approver })) };
}

function sinkOf({ queue }: Outbox, name: string, type: string): ShownSink {
  const { queued, oldestQueuedAtMs, dead } = queue.backlog(name);
  const { pause, lastAcceptedAtMs, lastError } = queue.record(name);
  return {
    ...{ name, type, queued, deadLetters: dead },
    state: pause !== null ? 'paused' : queue.retirement(name) ? 'retired' : 'stopped',
    oldestAt: oldestQueuedAtMs === null ? null : toRfc3339(oldestQueuedAtMs),
    lastAcceptedAt: lastAcceptedAtMs === null ? null : toRfc3339(lastAcceptedAtMs),
    lastError: lastError && { code: lastError.code, message: lastError.message, at: toRfc3339(lastError.atMs) },
  };
}
