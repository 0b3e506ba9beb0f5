// A few fields → changes and contexts for the tests of their CloudEvents.

import type { EventContext } from '../../../src/cloudevents/event.ts';
import type { EventApproval } from '../../../src/model/approvals.ts';
import type { ApprovalChange, Change, EventChange, SightChange } from '../../../src/model/events.ts';
import { eventChangeId } from '../../../src/model/ids.ts';
import { VM_FIELDS } from '../../../src/model/vm-metadata.ts';
import { momentAt, scheduledEvent } from '../../support/events.ts';

export const context: EventContext = {
  source: '/subscriptions/s/resourcegroups/g',
  typePrefix: 'io.github.scheduled-events-bridge',
  observer: { name: 'WestNO_0', id: 'westno_0' },
  approval: () => null,
};

export function eventChange(fields: Partial<EventChange> = {}): EventChange {
  const event = fields.event ?? scheduledEvent();
  const phase = fields.phase ?? 'scheduled';
  return {
    kind: 'event',
    phase,
    id: eventChangeId(phase, event),
    key: event.eventId.toLowerCase(),
    occurrence: 1,
    event,
    previousStatus: null,
    changedFields: [],
    outcome: null,
    withoutNotice: false,
    incarnation: 3,
    at: momentAt(1234),
    ...fields,
  };
}

export function approvalChange(fields: Partial<ApprovalChange> = {}): ApprovalChange {
  const event = fields.event === undefined ? scheduledEvent() : fields.event;
  const { eventId } = event ?? scheduledEvent();
  return {
    kind: 'approval',
    phase: 'recorded',
    id: 'c7061bac-afdc-4513-b24b-aa5f13a16123:approval-recorded:0123456789abcdef',
    key: eventId.toLowerCase(),
    eventId,
    occurrence: event && 1,
    event,
    approver: 'orders',
    policy: null,
    reason: null,
    at: momentAt(1234),
    ...fields,
  };
}

export function sightChange(fields: Partial<SightChange> = {}): SightChange {
  return {
    kind: 'sight',
    phase: 'blind',
    id: 'source-blind:0123456789abcdef',
    since: '2022-04-11T21:59:00Z',
    lastDocumentAt: '2022-04-11T21:59:00Z',
    reason: 'no answer within 10 s',
    at: momentAt(1234),
    ...fields,
  };
}

export function eventApproval(fields: Partial<EventApproval> = {}): EventApproval {
  return {
    key: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
    occurrence: 1,
    state: 'submitted',
    votes: [
      { approver: 'orders', via: 'token', isShared: false, hasSeen: false, at: momentAt(0), event: scheduledEvent() },
    ],
    holds: [],
    decision: { by: 'quorum', at: momentAt(0), atOnce: true, dueMs: null, rule: null, isSpent: false, window: null },
    policy: null,
    isDryRun: false,
    at: momentAt(500),
    ...fields,
  };
}

const ODD = {
  notBefore: null,
  eventType: '',
  eventSource: '',
  resources: [],
  resourceType: '',
  description: '',
  durationInSeconds: -1,
};
const DRILL = scheduledEvent({ eventId: 'drill-00000000-0000-4000-8000-000000000001' });
/** With every field that a VM can have. */
const VM = { ...Object.fromEntries(VM_FIELDS.map((field) => [field, 'x'])), tags: { team: 'shop' } };

/** Changes of every kind, also with empty and absent values. */
export const EVERY_CHANGE: readonly Change[] = [
  eventChange(),
  eventChange({ event: scheduledEvent(ODD), incarnation: null }),
  eventChange({ event: DRILL, key: DRILL.eventId }),
  eventChange({ phase: 'updated', previousStatus: 'Scheduled', changedFields: ['durationInSeconds', 'notBefore'] }),
  eventChange({
    phase: 'started',
    previousStatus: 'Scheduled',
    event: scheduledEvent({ eventStatus: 'Started', notBefore: null }),
  }),
  ...(['completed', 'canceled', 'unknown'] as const).map((outcome) =>
    eventChange({ phase: 'ended', previousStatus: 'Started', outcome }),
  ),
  ...(['recorded', 'submitted', 'failed'] as const).map((phase) => approvalChange({ phase })),
  approvalChange({ approver: null, policy: 'policy[0]', reason: 'changed' }),
  approvalChange({ phase: 'failed', reason: 'unknown', event: null }),
  approvalChange({ phase: 'failed', approver: null, policy: 'policy[0]', reason: 'unknown', event: null }),
  sightChange(),
  sightChange({ phase: 'restored', lastDocumentAt: null, reason: null }),
];

/** A context with everything that a CloudEvent can carry. @param name the VM's; null: unknown, and so is its metadata */
export function fullContext(name: string | null): EventContext {
  const observer = { name, id: 'westno_0', ...(name !== null && { vm: VM }) };
  return { ...context, observer, approval: () => eventApproval() };
}
