// Listed events, `http.drain` and a VM's name → the event that takes the VM out of its pool.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as v from 'valibot';
import { drainingEvent, drainSection } from '../../../src/conditions/draining.ts';
import type { ScheduledEvent } from '../../../src/model/events.ts';
import { START_MS, scheduledEvent } from '../../support/events.ts';

const VM = 'WestNO_0';

function event(eventType: string, leftMs: number | null, fields: Partial<ScheduledEvent> = {}): ScheduledEvent {
  const notBefore = leftMs === null ? null : new Date(START_MS + leftMs).toISOString();
  return scheduledEvent({ eventId: eventType, eventType, notBefore, resources: [VM], ...fields });
}

function draining(events: readonly ScheduledEvent[], settings: object = {}, vmName = VM): string | null {
  return drainingEvent(events, v.parse(drainSection, settings), vmName, START_MS)?.eventId ?? null;
}

test('every impact except Freeze drains from its announcement on, for any remaining time', () => {
  for (const eventType of ['Reboot', 'Redeploy', 'Preempt', 'Terminate']) {
    assert.equal(draining([event(eventType, 86_400_000)]), eventType);
    assert.equal(draining([event(eventType, null, { eventStatus: 'Started' })]), eventType);
  }
  assert.equal(draining([event('Freeze', 0)]), null);
  assert.equal(draining([]), null);
});

test('impacts are compared without case, and only those that are named count', () => {
  assert.equal(draining([event('Freeze', 60_000)], { impacts: ['freeze'] }), 'Freeze');
  assert.equal(draining([event('Reboot', 60_000)], { impacts: ['freeze'] }), null);
});

test('an event of another VM drains nothing; names are compared without case', () => {
  assert.equal(draining([event('Reboot', 0)], {}, 'WestNO_1'), null);
  assert.equal(draining([event('Reboot', 0)], {}, 'westno_0'), 'Reboot');
});

test('with a notice, an event drains once less time is left; one without NotBefore has none left', () => {
  const settings = { notice: { below: '5m' } };
  assert.equal(draining([event('Reboot', 300_000)], settings), null);
  assert.equal(draining([event('Reboot', 299_000)], settings), 'Reboot');
  assert.equal(draining([event('Reboot', -60_000)], settings), 'Reboot');
  assert.equal(draining([event('Reboot', null)], settings), 'Reboot');
  assert.equal(draining([event('Reboot', 900_000, { eventStatus: 'Started' })], settings), 'Reboot');
});

test('from: started drains from the start of the event on', () => {
  assert.equal(draining([event('Reboot', 0)], { from: 'started' }), null);
  assert.equal(draining([event('Reboot', null, { eventStatus: 'Started' })], { from: 'started' }), 'Reboot');
});

test('of several events, the result is the started one, otherwise the one that starts next', () => {
  const [later, sooner, started] = [
    event('Reboot', 600_000),
    event('Redeploy', 60_000),
    event('Preempt', null, { eventStatus: 'Started' }),
  ];
  assert.equal(draining([later, sooner]), 'Redeploy');
  assert.equal(draining([later, sooner, started]), 'Preempt');
});

test('a notice together with from: started, and an empty list of impacts, are faults', () => {
  const faultsOf = (settings: object) =>
    v.safeParse(drainSection, settings).issues?.map(({ message }) => message) ?? [];
  assert.match(faultsOf({ from: 'started', notice: { below: '5m' } })[0] ?? '', /leave it out/);
  assert.equal(faultsOf({ impacts: [] }).length, 1);
  assert.equal(faultsOf({ notice: {} }).length, 1);
  assert.equal(faultsOf({ from: 'ended' }).length, 1);
});
