// A type prefix and a source → a sample CloudEvent of each type, always the same bytes.
import type { EventApproval } from '../model/approvals.ts';
import type {
  ApprovalChange,
  Change,
  EventChange,
  Instant,
  JournalEntry,
  ScheduledEvent,
  SightChange,
} from '../model/events.ts';
import { approvalChangeId, eventChangeId, sightChangeId } from '../model/ids.ts';
import type { EventContext } from './event.ts';
import { toJournalEntry } from './event.ts';

const OBSERVER = { name: 'WestNO_0', id: 'westno_0' };
const SINCE = '2022-04-11T22:30:00Z';

/** The event of the examples in docs/schemas/. */
const EVENT: ScheduledEvent = {
  eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  eventStatus: 'Scheduled',
  eventType: 'Freeze',
  resourceType: 'VirtualMachine',
  resources: ['WestNO_0', 'WestNO_1'],
  notBefore: '2022-04-11T22:26:58Z',
  description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  eventSource: 'Platform',
  durationInSeconds: 5,
};
const MOVED: ScheduledEvent = { ...EVENT, notBefore: '2022-04-11T22:41:58Z' };
const STARTED: ScheduledEvent = { ...MOVED, eventStatus: 'Started', notBefore: null };
const KEY = EVENT.eventId.toLowerCase();

const APPROVAL: EventApproval = {
  key: KEY,
  occurrence: 1,
  state: 'submitted',
  votes: [{ approver: 'orders', via: 'token', isShared: false, hasSeen: true, at: at('22:14:02.117'), event: MOVED }],
  holds: [],
  decision: null,
  policy: null,
  isDryRun: false,
  at: at('22:14:02.240'),
};

/**
 * One maintenance from its announcement to its end, a refused approval, and a loss of sight; in the order of
 * `CHANGE_NAMES`.
 */
const CHANGES: readonly Change[] = [
  ofEvent('scheduled', EVENT, { at: at('22:11:58.402'), incarnation: 3 }),
  ofEvent('updated', MOVED, {
    at: at('22:13:10.951'),
    incarnation: 4,
    previousStatus: 'Scheduled',
    changedFields: ['notBefore'],
  }),
  ofEvent('started', STARTED, { at: at('22:14:06.518'), incarnation: 5, previousStatus: 'Scheduled' }),
  ofEvent('ended', STARTED, {
    at: at('22:14:21.733'),
    incarnation: 6,
    previousStatus: 'Started',
    outcome: 'completed',
  }),
  ofApproval('recorded', { at: at('22:14:02.117') }),
  ofApproval('submitted', { at: at('22:14:02.240') }),
  ofApproval('failed', { at: at('22:14:03.005'), reason: 'scope' }),
  ofSight('blind', { at: at('22:31:00.000'), reason: 'the metadata service did not answer within 10 s' }),
  ofSight('restored', { at: at('22:34:12.660'), reason: null }),
];

/** Returns the journal entry of one CloudEvent of each type, in the order of `CHANGE_NAMES`. */
export function sampleEntries(context: Pick<EventContext, 'source' | 'typePrefix'>): readonly JournalEntry[] {
  return CHANGES.map((change) => toJournalEntry(change, { ...context, observer: OBSERVER, approval: () => APPROVAL }));
}

function at(time: string): Instant {
  return { wallMs: Date.parse(`2022-04-11T${time}Z`), elapsedMs: null };
}

function ofEvent(
  phase: EventChange['phase'],
  event: ScheduledEvent,
  fields: Pick<EventChange, 'at' | 'incarnation'> & Partial<EventChange>,
): Change {
  const none = { previousStatus: null, changedFields: [], outcome: null, withoutNotice: false };
  return { kind: 'event', phase, id: eventChangeId(phase, event), key: KEY, occurrence: 1, event, ...none, ...fields };
}

function ofApproval(
  phase: ApprovalChange['phase'],
  fields: Pick<ApprovalChange, 'at'> & Partial<ApprovalChange>,
): Change {
  const approver = phase === 'failed' ? 'billing' : 'orders';
  const id = approvalChangeId(phase, KEY, approver, OBSERVER.id);
  const { eventId } = EVENT;
  return {
    kind: 'approval',
    phase,
    id,
    key: KEY,
    eventId,
    occurrence: 1,
    event: MOVED,
    approver,
    policy: null,
    reason: null,
    ...fields,
  };
}

function ofSight(phase: SightChange['phase'], fields: Pick<SightChange, 'at' | 'reason'>): Change {
  return {
    kind: 'sight',
    phase,
    id: sightChangeId(phase, OBSERVER.id, SINCE),
    since: SINCE,
    lastDocumentAt: SINCE,
    ...fields,
  };
}
