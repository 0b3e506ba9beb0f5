// A message that is not an approval → a warning, and `approval.failed` for its known event.
import type { MessageRefusal, ReceivedMessage } from '../../model/approvals.ts';
import { refusedChange } from '../record/audit-trail.ts';
import type { RecordParts } from '../record/ledger.ts';

type UnreadableParts = Pick<RecordParts, 'store' | 'ports' | 'deps' | 'logger'>;

/**
 * Logs the message. If it names a known event, publishes `approval.failed` and stores the message, so that it is
 * answered once.
 * @param eventId the known event that it names, as it is written; null: none
 * @throws BridgeError BRIDGE_STORE_*
 */
export function refuseUnreadable(
  message: ReceivedMessage,
  eventId: string | null,
  fault: string,
  parts: UnreadableParts,
): MessageRefusal {
  const { source, place, approver } = message;
  const refusal = { reason: 'bad-request', description: `The message is not a valid approval: ${fault}.` };
  if (eventId !== null) {
    parts.store.commit((transaction) => {
      transaction.publish([refusedChange({ approver, eventId, reason: refusal.reason }, parts)]);
      transaction.handleMessage(message, refusal, parts.deps.wallMs());
    });
  }
  parts.logger.warn({ source, place, reason: fault }, 'a message is not a valid approval; the bridge skips it');
  return refusal;
}
