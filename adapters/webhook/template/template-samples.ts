// Sample CloudEvents of each type, full and minimal, to test templates.
import { toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { EventApproval } from '../../../src/model/approvals.ts';
import { changeName } from '../../../src/model/change-names.ts';
import type { Change, EventChange, Observer, ScheduledEvent } from '../../../src/model/events.ts';

export interface Sample {
  /** CloudEvent type without prefix and version. */
  readonly change: string;
  readonly event: object;
}

const AT = { wallMs: Date.UTC(2022, 3, 11, 22, 11, 58), elapsedMs: null };
const KEY = 'c7061bac-afdc-4513-b24b-aa5f13a16123';
/** All fields set, with texts that break a template without escaping. */
const FULL: ScheduledEvent = {
  eventId: KEY.toUpperCase(),
  eventStatus: 'Scheduled',
  eventType: 'Freeze',
  resourceType: 'VirtualMachine',
  resources: ['WestNO_0', 'WestNO_1'],
  notBefore: '2022-04-11T22:26:58Z',
  description: 'Paused for "maintenance" <\\> & {{ id }}\nof the host.',
  eventSource: 'Platform',
  durationInSeconds: 5,
};
/** The minimum that the service may send. */
const BARE: ScheduledEvent = {
  ...{ eventId: KEY, eventStatus: 'Started', eventType: '', resourceType: '', resources: [], notBefore: null },
  ...{ description: '', eventSource: '', durationInSeconds: -1 },
};

/** Returns samples, created like real CloudEvents, so that every possible attribute and member occurs. */
export function sampleEvents(): readonly Sample[] {
  return [...samplesOf(FULL, { name: 'WestNO_0', id: 'westno_0' }), ...samplesOf(BARE, { name: null, id: 'an-id' })];
}

function samplesOf(event: ScheduledEvent, observer: Observer): Sample[] {
  const isFull = event === FULL;
  const since = { since: '2022-04-11T22:10:58Z', lastDocumentAt: isFull ? '2022-04-11T22:10:58Z' : null };
  const text = isFull ? 'a "reason"\nof\\two lines' : null;
  const ended: EventApproval = {
    ...{ key: KEY, occurrence: 1, state: 'submitted', policy: isFull ? 'policy[0]' : null, at: AT },
    votes: isFull ? [{ approver: 'orders', via: 'token', isShared: false, hasSeen: false, at: AT, event }] : [],
    ...{
      holds: [],
      decision: { by: 'quorum', at: AT, atOnce: true, dueMs: null, rule: null, isSpent: false, window: null },
      isDryRun: false,
    },
  };
  const change = (phase: EventChange['phase']): EventChange => ({
    ...{
      kind: 'event',
      phase,
      id: `${KEY}:${phase}`,
      key: KEY,
      occurrence: 1,
      event,
      at: AT,
      incarnation: isFull ? 3 : null,
    },
    previousStatus: phase === 'scheduled' ? null : 'Scheduled',
    changedFields: phase === 'updated' ? ['notBefore'] : [],
    outcome: phase === 'ended' ? 'completed' : null,
    withoutNotice: false,
  });
  const approval = {
    kind: 'approval',
    key: KEY,
    eventId: event.eventId,
    occurrence: 1,
    event,
    approver: isFull ? 'orders' : null,
    policy: ended.policy,
    at: AT,
  } as const;
  const changes: Change[] = [
    ...(['scheduled', 'updated', 'started', 'ended'] as const).map(change),
    { ...approval, phase: 'recorded', id: `${KEY}:approval-recorded:6870c4a0950f67c0`, reason: null },
    { ...approval, phase: 'submitted', id: `${KEY}:approval-submitted:6870c4a0950f67c0`, reason: null },
    { ...approval, phase: 'failed', id: `${KEY}:approval-failed:6870c4a0950f67c0`, reason: text },
    { kind: 'sight', phase: 'blind', id: 'source-blind:6870c4a0950f67c0', ...since, reason: text, at: AT },
    { kind: 'sight', phase: 'restored', id: 'source-restored:6870c4a0950f67c0', ...since, reason: null, at: AT },
  ];
  const context = {
    ...{ source: '/subscriptions/s/resourcegroups/g', typePrefix: 'io.github.scheduled-events-bridge', observer },
    approval: () => (isFull ? ended : null),
  };
  return changes.map((one) => ({ change: changeName(one), event: toCloudEvent(one, context) }));
}
