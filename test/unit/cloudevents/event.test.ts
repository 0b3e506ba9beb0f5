// Changes → CloudEvents, by attribute (behaviour 3.8); the CloudEvents SDK reads them strictly.
import assert from 'node:assert/strict';
import test from 'node:test';
import { CloudEvent } from 'cloudevents';
import { httpHeaders, toBinary } from '../../../src/cloudevents/binary.ts';
import { encodeStructured, toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { ApprovalState } from '../../../src/model/approvals.ts';
import { changeName } from '../../../src/model/change-names.ts';
import type { Change } from '../../../src/model/events.ts';
import { START_MS, scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventApproval, eventChange, sightChange } from './changes.ts';

const EID = 'c7061bac-afdc-4513-b24b-aa5f13a16123';

test('the complete CloudEvent of a scheduled event', () => {
  assert.deepEqual(toCloudEvent(eventChange(), context), {
    specversion: '1.0',
    id: `${EID}:scheduled`,
    source: '/subscriptions/s/resourcegroups/g',
    type: 'io.github.scheduled-events-bridge.scheduled.v1',
    subject: `scheduledevents/${EID}`,
    time: '2022-04-11T22:00:01.234Z',
    datacontenttype: 'application/json',
    dataschema: 'https://scheduled-events-bridge.github.io/schemas/change.v1.json',
    partitionkey: EID,
    correlationid: EID,
    impact: 'freeze',
    initiator: 'platform',
    expirytime: '2022-04-11T22:26:58Z',
    severitynumber: 9,
    severitytext: 'INFO',
    traceparent: '00-c7061bacafdc4513b24baa5f13a16123-e6e69a738fa3f503-01',
    data: {
      eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      eventType: 'Freeze',
      eventStatus: 'Scheduled',
      previousStatus: null,
      resourceType: 'VirtualMachine',
      resources: ['WestNO_0', 'WestNO_1'],
      notBefore: '2022-04-11T22:26:58Z',
      description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
      eventSource: 'Platform',
      durationInSeconds: 5,
      observer: { name: 'WestNO_0', documentIncarnation: 3, affected: true },
    },
  });
});

test('an update lists the fields that changed, at its documented place in `data` (behaviour 3.11)', () => {
  const event = toCloudEvent(
    eventChange({ phase: 'updated', previousStatus: 'Scheduled', changedFields: ['notBefore'] }),
    context,
  );
  assert.equal(
    Object.keys(event.data ?? {}).join(),
    'eventId,eventType,eventStatus,previousStatus,resourceType,resources,notBefore,description,eventSource,durationInSeconds,changedFields,observer',
  );
  assert.ok(event.data && 'changedFields' in event.data);
  assert.deepEqual(event.data.changedFields, ['notBefore']);
});

test('an end has the status Ended and its outcome, as attribute and in data', () => {
  const change = eventChange({
    phase: 'ended',
    previousStatus: 'Started',
    outcome: 'completed',
    event: scheduledEvent({ eventStatus: 'Started' }),
  });
  const event = toCloudEvent(change, context);
  assert.ok(event.data && 'eventStatus' in event.data);
  assert.deepEqual(
    [event['outcome'], event.data.outcome, event.data.eventStatus, event.data.previousStatus],
    ['completed', 'completed', 'Ended', 'Started'],
  );
  assert.ok(!('changedFields' in event.data));
});

test('resources keep the service’s order, and the EventId its letter case, if it is a GUID or not', () => {
  const change = eventChange({ event: scheduledEvent({ eventId: 'Odd Id', resources: ['b', 'a'] }) });
  const event = toCloudEvent(change, context);
  assert.ok(event.data && 'resources' in event.data);
  assert.deepEqual([event.data.eventId, event.data.resources], ['Odd Id', ['b', 'a']]);
  assert.match(event.subject ?? '', /^scheduledevents\/h[0-9a-f]{32}$/);
  assert.ok(!('traceparent' in event));
});

test('an EventId with more than a GUID gives no traceparent, which would be invalid', () => {
  for (const eventId of [`${EID}0`, `0${EID}`]) {
    const event = scheduledEvent({ eventId });
    assert.ok(!('traceparent' in toCloudEvent(eventChange({ event }), context)), eventId);
  }
});

test('impact and initiator are absent if the service gives none or an invalid one, and the event is still published', () => {
  for (const text of ['', 'a\u0007b', 'a\u0085', 'a\ufdd0', 'a\uffff', '\u{1fffe}', '\ud800']) {
    const event = toCloudEvent(eventChange({ event: scheduledEvent({ eventType: text, eventSource: text }) }), context);
    assert.ok(!('impact' in event) && !('initiator' in event), JSON.stringify(text));
    assert.ok(event.data);
  }
  const event = toCloudEvent(
    eventChange({ event: scheduledEvent({ eventType: 'Größe 😀', eventSource: 'User' }) }),
    context,
  );
  assert.deepEqual([event['impact'], event['initiator']], ['größe 😀', 'user']);
});

test('expirytime is NotBefore on scheduled and updated while it is in the future', () => {
  const aheadMs = Date.parse('2022-04-11T22:26:58Z') - START_MS;
  const expiry = (
    phase: 'scheduled' | 'updated' | 'started',
    ms: number,
    notBefore: string | null = '2022-04-11T22:26:58Z',
  ) =>
    toCloudEvent(
      eventChange({
        phase,
        changedFields: ['notBefore'],
        event: scheduledEvent({ notBefore }),
        at: { wallMs: START_MS + ms, elapsedMs: null },
      }),
      context,
    )['expirytime'];
  assert.equal(expiry('scheduled', aheadMs - 1), '2022-04-11T22:26:58Z');
  assert.equal(expiry('updated', aheadMs - 1), '2022-04-11T22:26:58Z');
  assert.equal(expiry('scheduled', aheadMs), undefined);
  assert.equal(expiry('scheduled', 0, null), undefined);
  assert.equal(expiry('started', 0), undefined);
});

test('the severity depends on impact, notice and phase', () => {
  const severity = (change: Change) => {
    const { severitynumber, severitytext } = toCloudEvent(change, context);
    return `${severitynumber} ${severitytext}`;
  };
  const of = (eventType: string, more: Parameters<typeof eventChange>[0] = {}) =>
    severity(eventChange({ event: scheduledEvent({ eventType }), ...more }));
  assert.equal(of('Freeze'), '9 INFO');
  for (const type of ['Reboot', 'Redeploy', 'SpotRebalanceRecommendation', '']) assert.equal(of(type), '13 WARN');
  for (const type of ['Preempt', 'Terminate']) assert.equal(of(type), '17 ERROR');
  assert.equal(of('Reboot', { phase: 'started' }), '13 WARN');
  assert.equal(of('Terminate', { phase: 'ended', outcome: 'unknown' }), '9 INFO');
  assert.deepEqual(
    (['recorded', 'submitted', 'failed'] as const).map((phase) => severity(approvalChange({ phase }))),
    ['9 INFO', '9 INFO', '13 WARN'],
  );
  assert.deepEqual(
    (['blind', 'restored'] as const).map((phase) => severity(sightChange({ phase }))),
    ['13 WARN', '9 INFO'],
  );
});

test('a start without notice is an ERROR, except for a user’s operation and a Freeze, which have the severity of their impact', () => {
  const severity = (eventType: string, eventSource: string, withoutNotice = true) => {
    const event = scheduledEvent({ eventType, eventSource, eventStatus: 'Started', notBefore: null });
    const { severitynumber, severitytext } = toCloudEvent(
      eventChange({ phase: 'started', withoutNotice, event }),
      context,
    );
    return `${severitynumber} ${severitytext}`;
  };
  for (const source of ['Platform', '', 'Other']) {
    for (const type of ['Reboot', 'Redeploy', 'Preempt', 'Terminate', 'SpotRebalanceRecommendation', '']) {
      assert.equal(severity(type, source), '17 ERROR', `${type} by ${source}`);
    }
    for (const type of ['Freeze', 'FREEZE']) assert.equal(severity(type, source), '9 INFO', `${type} by ${source}`);
    assert.equal(severity('Redeploy', source, false), '13 WARN', `Redeploy by ${source}, with notice`);
  }
  for (const source of ['User', 'user']) {
    for (const type of ['Reboot', 'Redeploy', ''])
      assert.equal(severity(type, source), '13 WARN', `${type} by ${source}`);
    for (const type of ['Preempt', 'Terminate'])
      assert.equal(severity(type, source), '17 ERROR', `${type} by ${source}`);
    assert.equal(severity('Freeze', source), '9 INFO', `Freeze by ${source}`);
  }
});

test('the CloudEvent of a failed approval', () => {
  const event = toCloudEvent(approvalChange({ phase: 'failed', reason: 'changed' }), context);
  const { data, ...attributes } = event;
  assert.deepEqual(data, {
    eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    approver: 'orders',
    policy: null,
    reason: 'changed',
    at: '2022-04-11T22:00:01.234Z',
    observer: { name: 'WestNO_0', affected: true },
  });
  assert.deepEqual(
    [
      attributes.type,
      attributes.subject,
      attributes.dataschema,
      attributes['partitionkey'],
      attributes['correlationid'],
      attributes['impact'],
    ],
    [
      'io.github.scheduled-events-bridge.approval.failed.v1',
      `scheduledevents/${EID}`,
      'https://scheduled-events-bridge.github.io/schemas/approval.v1.json',
      EID,
      EID,
      'freeze',
    ],
  );
  assert.ok(!('expirytime' in attributes) && !('outcome' in attributes));
});

test('the CloudEvent of a blindness has the observer and no event', () => {
  assert.deepEqual(toCloudEvent(sightChange(), context), {
    specversion: '1.0',
    id: 'source-blind:0123456789abcdef',
    source: '/subscriptions/s/resourcegroups/g',
    type: 'io.github.scheduled-events-bridge.source.blind.v1',
    subject: 'scheduledevents',
    time: '2022-04-11T22:00:01.234Z',
    datacontenttype: 'application/json',
    dataschema: 'https://scheduled-events-bridge.github.io/schemas/source.v1.json',
    partitionkey: 'westno_0',
    severitynumber: 13,
    severitytext: 'WARN',
    data: {
      since: '2022-04-11T21:59:00Z',
      lastDocumentAt: '2022-04-11T21:59:00Z',
      reason: 'no answer within 10 s',
      observer: { name: 'WestNO_0' },
    },
  });
});

test('affected compares names without case, and is null while the VM’s name is unknown', () => {
  const affected = (name: string | null) => {
    const { data } = toCloudEvent(eventChange(), { ...context, observer: { name, id: 'x' } });
    return data && 'eventType' in data ? data.observer.affected : undefined;
  };
  assert.deepEqual([affected('westno_1'), affected('westno_10'), affected(null)], [true, false, null]);
});

test('a start has the approval that let it happen, and none if there was none or not enough', () => {
  const started = eventChange({
    phase: 'started',
    previousStatus: 'Scheduled',
    event: scheduledEvent({ eventStatus: 'Started', notBefore: null }),
  });
  const approvalIn = (change: Change, state: ApprovalState) => {
    const approval = (key: string, occurrence: number) =>
      key === EID && occurrence === 1 ? eventApproval({ state }) : null;
    const { data } = toCloudEvent(change, { ...context, approval });
    return data && 'eventType' in data ? data.observer.approval : undefined;
  };
  const told = { approvedBy: ['orders'], policy: null, at: '2022-04-11T22:00:00.500Z' };
  for (const state of ['submitting', 'submitted', 'moot'] as const) assert.deepEqual(approvalIn(started, state), told);
  for (const state of ['waiting', 'held', 'failed'] as const) assert.equal(approvalIn(started, state), undefined);
  assert.equal(approvalIn({ ...started, occurrence: 2 }, 'submitted'), undefined);
  assert.equal(approvalIn(eventChange(), 'submitted'), undefined);
});

test('a change name is the type without prefix and version', () => {
  assert.deepEqual(
    [eventChange({ phase: 'ended' }), approvalChange({ phase: 'submitted' }), sightChange({ phase: 'restored' })].map(
      changeName,
    ),
    ['ended', 'approval.submitted', 'source.restored'],
  );
});

test('the SDK’s strict validation accepts every kind of CloudEvent and reads every attribute back', () => {
  const changes = [
    eventChange(),
    eventChange({ phase: 'updated', changedFields: ['description'] }),
    eventChange({ phase: 'started', withoutNotice: true }),
    eventChange({ phase: 'ended', outcome: 'canceled' }),
    eventChange({ event: scheduledEvent({ eventId: '\u0000', eventType: '\u0001', notBefore: null }) }),
    approvalChange(),
    sightChange({ lastDocumentAt: null }),
  ];
  for (const change of changes) {
    const event = toCloudEvent(change, context);
    assert.deepEqual(JSON.parse(JSON.stringify(new CloudEvent(event, true))), event);
    assert.ok(Object.values(event).every((value) => value !== undefined && value !== null && value !== ''));
    assert.ok(Object.keys(event).every((name) => /^[a-z0-9]{1,20}$/.test(name)));
  }
});

test('a refused approval of an event that is not listed has only attributes from its EventId', () => {
  const id = `${EID}:approval-failed:0123456789abcdef`;
  const change = approvalChange({ phase: 'failed', id, reason: 'unknown', event: null });
  const event = toCloudEvent(change, context);
  assert.deepEqual(
    [event['partitionkey'], event['correlationid'], event.subject],
    [EID, EID, `scheduledevents/${EID}`],
  );
  assert.deepEqual(
    ['impact', 'initiator'].filter((name) => name in event),
    [],
  );
  assert.match(String(event['traceparent']), /^00-c7061bacafdc4513b24baa5f13a16123-/);
  assert.deepEqual(event.data, {
    ...{
      eventId: EID.toUpperCase(),
      approver: 'orders',
      policy: null,
      reason: 'unknown',
      at: '2022-04-11T22:00:01.234Z',
    },
    observer: { name: 'WestNO_0', affected: null },
  });
  new CloudEvent(event, true);
});

test('a drill is marked as an attribute and in data; in binary mode the attribute is a text', () => {
  const drillId = 'drill-b7cf3c25-0000-4000-8000-000000000000';
  const event = toCloudEvent(
    eventChange({ key: drillId, event: scheduledEvent({ eventId: drillId }), incarnation: null }),
    context,
  );
  assert.deepEqual([event['drill'], (event.data as { drill?: boolean }).drill], [true, true]);
  const binary = toBinary(encodeStructured(event));
  assert.ok('attributes' in binary);
  assert.equal(binary.attributes['drill'], 'true');
  assert.equal(httpHeaders(binary)['ce-drill'], 'true');
  const approval = toCloudEvent(approvalChange({ key: drillId, eventId: drillId, event: null }), context);
  assert.deepEqual([approval['drill'], (approval.data as { drill?: boolean }).drill], [true, true]);
  for (const real of [eventChange(), approvalChange()].map((change) => toCloudEvent(change, context)))
    assert.deepEqual(['drill' in real, 'drill' in (real.data as object)], [false, false]);
});
