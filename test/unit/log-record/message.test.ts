// CloudEvents → the sentences that operators read.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { changeInType } from '../../../src/log-record/message.ts';
import { CHANGE_NAMES } from '../../../src/model/change-names.ts';
import type { ScheduledEvent } from '../../../src/model/events.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../cloudevents/changes.ts';
import { hostileRecord, recordOf } from './samples.ts';

const REBOOT: Partial<ScheduledEvent> = {
  eventType: 'Reboot',
  resources: ['web_0', 'web_1'],
  notBefore: '2026-11-22T06:22:00Z',
  description: 'Host server is undergoing maintenance.',
};

function scheduled(fields: Partial<ScheduledEvent> = {}): string {
  return recordOf(eventChange({ event: scheduledEvent({ ...REBOOT, ...fields }) })).message;
}

test('the message of a scheduled event says who will do what to which machines, when, and why', () => {
  assert.equal(
    scheduled(),
    'Platform will reboot web_0 and web_1, not before 2026-11-22T06:22:00Z: Host server is undergoing maintenance.',
  );
});

test('each impact has the verb and the noun that operators use, and an unknown one has its own name', () => {
  const event = (eventType: string) => scheduledEvent({ ...REBOOT, eventType, resources: ['web_0'] });
  const told = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate', 'Defragment', ''].map((type) => [
    recordOf(eventChange({ phase: 'started', event: { ...event(type), description: '' } })).message,
    recordOf(eventChange({ phase: 'ended', event: event(type), outcome: 'unknown' })).message,
  ]);
  assert.deepEqual(told, [
    ['Platform has begun to freeze web_0', 'The freeze of web_0 is over (unknown)'],
    ['Platform has begun to reboot web_0', 'The reboot of web_0 is over (unknown)'],
    ['Platform has begun to redeploy web_0', 'The redeployment of web_0 is over (unknown)'],
    ['Platform has begun to evict web_0', 'The eviction of web_0 is over (unknown)'],
    ['Platform has begun to terminate web_0', 'The termination of web_0 is over (unknown)'],
    [
      'Platform has begun to carry out maintenance of type Defragment on web_0',
      'The maintenance of type Defragment on web_0 is over (unknown)',
    ],
    [
      'Platform has begun to carry out maintenance of an unknown type on web_0',
      'The maintenance of an unknown type on web_0 is over (unknown)',
    ],
  ]);
});

test('a list of machines has an "and" before the last, commas before that, and leaves none out', () => {
  const many = Array.from({ length: 500 }, (_, index) => `web_${index}`);
  const machines = (resources: readonly string[]) => /reboot (.*), not before/.exec(scheduled({ resources }))?.[1];
  assert.equal(machines(['web_0']), 'web_0');
  assert.equal(machines(['web_0', 'web_1', 'web_2']), 'web_0, web_1 and web_2');
  assert.equal(machines(many), `${many.slice(0, -1).join(', ')} and web_499`);
});

test('fields that the service does not give are called unknown', () => {
  assert.equal(
    scheduled({ eventSource: '', resources: [], notBefore: null, description: '' }),
    'an unknown source will reboot no named machine, no time given',
  );
});

test('an update says what changed and, until the event starts, when it will start', () => {
  const update = (fields: Partial<ScheduledEvent>) =>
    recordOf(
      eventChange({
        phase: 'updated',
        changedFields: ['description', 'notBefore'],
        event: scheduledEvent({ ...REBOOT, ...fields }),
      }),
    ).message;
  assert.equal(
    update({}),
    'The reboot of web_0 and web_1 has changed (description, notBefore): not before 2026-11-22T06:22:00Z: Host server is undergoing maintenance.',
  );
  assert.equal(
    update({ eventStatus: 'Started' }),
    'The reboot of web_0 and web_1 has changed (description, notBefore): Host server is undergoing maintenance.',
  );
});

test('the message of an approval has the event, the approver and the rule', () => {
  const event = scheduledEvent({ ...REBOOT, eventId: 'ABC' });
  assert.equal(recordOf(approvalChange({ event })).message, 'The reboot (event ABC) was approved by orders');
  assert.equal(
    recordOf(approvalChange({ event, phase: 'submitted', approver: null, policy: 'policy[0]' })).message,
    'The metadata service has accepted the approval of the reboot (event ABC) under the rule policy[0]',
  );
  assert.equal(
    recordOf(approvalChange({ event: null, eventId: 'ABC', phase: 'failed', reason: 'unknown' })).message,
    'The approval of the maintenance of an unknown type (event ABC) by orders has failed (unknown)',
  );
});

test('the message of lost sight has the machine, since when, and why; so has that of restored sight', () => {
  assert.equal(
    recordOf(sightChange()).message,
    'The bridge on WestNO_0 has had no good document of the metadata service since 2022-04-11T21:59:00Z: no answer within 10 s',
  );
  assert.equal(
    recordOf(sightChange({ phase: 'restored', reason: null, lastDocumentAt: null }), {
      observer: { name: null, id: 'x' },
    }).message,
    'The bridge on a machine of unknown name has a good document of the metadata service again, the first since its first request at 2022-04-11T21:59:00Z',
  );
});

test('control characters, line ends and bidirectional controls become blanks, and right-to-left letters stay', () => {
  const message = scheduled({ description: 'a\nb\r\tc\0d\u001be\u0085f\u2028g\u202eh שלום' });
  assert.match(message, /: a b {2}c d e f g h שלום$/);
});

test('with any texts, the message is one line without control characters', () => {
  fc.assert(
    fc.property(hostileRecord, ({ message }) => assert.doesNotMatch(message, /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)),
  );
});

test('the change is found in the type, with any prefix', () => {
  for (const name of CHANGE_NAMES)
    for (const prefix of [context.typePrefix, 'a', 'com.approval', 'com.scheduled.v1'])
      assert.equal(changeInType(`${prefix}.${name}.v1`), name);
  assert.equal(changeInType('com.example.scheduled.v2'), null);
  assert.equal(changeInType('com.example.rescheduled.v1'), null);
});

test('the message of a drill says that it is one', () => {
  const eventId = 'drill-00000000-0000-4000-8000-000000000001';
  assert.equal(scheduled({ eventId }), `Drill, nothing happens to a machine: ${scheduled()}`);
});
