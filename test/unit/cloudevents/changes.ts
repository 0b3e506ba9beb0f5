// A few fields → changes and contexts for the tests of their CloudEvents.

import type { EventContext } from '../../../src/cloudevents/event.ts';
import type { EventApproval } from '../../../src/model/approvals.ts';
import type { ApprovalChange, EventChange, SightChange } from '../../../src/model/events.ts';
import { eventChangeId } from '../../../src/model/ids.ts';
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
    decision: { by: 'quorum', at: momentAt(0), atOnce: true, dueMs: null, rule: null, isSpent: false },
    policy: null,
    isDryRun: false,
    at: momentAt(500),
    ...fields,
  };
}
