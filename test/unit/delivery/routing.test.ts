// compileFilter, publishes and routeTo.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SinkFilter } from '../../../src/delivery/options.ts';
import { compileFilter, compileRoutes, publishes, route, routeTo } from '../../../src/delivery/routing.ts';
import type { ApprovalChange, Change, EventChange, ScheduledEvent, SightChange } from '../../../src/model/events.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const at = { wallMs: NOW, elapsedMs: 0 };

const EVENT: ScheduledEvent = {
  eventId: 'E1',
  eventStatus: 'Scheduled',
  eventType: 'Reboot',
  resourceType: 'VirtualMachine',
  resources: ['Web_0', 'db_1'],
  notBefore: '2026-11-21T12:10:00Z',
  description: '',
  eventSource: 'Platform',
  durationInSeconds: -1,
};

function eventChange(event: Partial<ScheduledEvent> = {}, change: Partial<EventChange> = {}): EventChange {
  const rest = { previousStatus: null, changedFields: [], outcome: null, withoutNotice: false, incarnation: 1, at };
  return {
    kind: 'event',
    phase: 'scheduled',
    id: 'e1:scheduled',
    key: 'e1',
    occurrence: 7,
    event: { ...EVENT, ...event },
    ...rest,
    ...change,
  };
}

const APPROVAL: ApprovalChange = {
  kind: 'approval',
  phase: 'failed',
  id: 'e1:approval-failed:x',
  key: 'e1',
  eventId: 'E1',
  occurrence: 7,
  event: EVENT,
  approver: null,
  policy: null,
  reason: 'changed',
  at,
};
const BLIND: SightChange = {
  kind: 'sight',
  phase: 'blind',
  id: 'b',
  since: '',
  lastDocumentAt: null,
  reason: null,
  at,
};

function isWanted(filter: SinkFilter, change: Change = eventChange(), sentBefore = false): boolean {
  return compileFilter(filter)(change, { sentBefore, nowMs: NOW });
}

test('no filter wants everything', () => {
  for (const change of [eventChange(), APPROVAL, BLIND]) assert.equal(isWanted({}, change), true);
});

test('changes are named exactly, without prefix and version', () => {
  assert.equal(isWanted({ changes: ['scheduled'] }), true);
  assert.equal(isWanted({ changes: ['started', 'ended'] }), false);
  assert.equal(isWanted({ changes: ['approval.failed'] }, APPROVAL), true);
  assert.equal(isWanted({ changes: ['approval.recorded'] }, APPROVAL), false);
  assert.equal(isWanted({ changes: ['source.blind'] }, BLIND), true);
});

test('impacts and initiators match without case', () => {
  assert.equal(isWanted({ impacts: ['reboot'], initiators: ['PLATFORM'] }), true);
  assert.equal(isWanted({ impacts: ['Freeze'] }), false);
  assert.equal(isWanted({ initiators: ['User'] }), false);
});

test('one resource that matches one glob, without case, is enough', () => {
  assert.equal(isWanted({ resources: ['other', 'WEB_*'] }), true);
  assert.equal(isWanted({ resources: ['web'] }), false);
  assert.equal(isWanted({ resources: ['*'] }, eventChange({ resources: [] })), false);
  assert.equal(isWanted({ resources: ['*'] }, eventChange({ resources: ['.hidden/odd'] })), true);
});

test('notice is the time left until NotBefore, 0 where it is past or missing', () => {
  assert.equal(isWanted({ notice: { aboveMs: 599_999 } }), true);
  assert.equal(isWanted({ notice: { aboveMs: 600_000 } }), false);
  assert.equal(isWanted({ notice: { belowMs: 600_001 } }), true);
  assert.equal(isWanted({ notice: { belowMs: 600_000 } }), false);
  for (const notBefore of [null, '2026-11-21T11:00:00Z']) {
    assert.equal(isWanted({ notice: { aboveMs: 0 } }, eventChange({ notBefore })), false);
    assert.equal(isWanted({ notice: { belowMs: 1 } }, eventChange({ notBefore })), true);
  }
});

test('all given conditions must match', () => {
  assert.equal(
    isWanted({ changes: ['scheduled'], impacts: ['Reboot'], resources: ['web_*'], notice: { aboveMs: 1 } }),
    true,
  );
  assert.equal(isWanted({ changes: ['scheduled'], impacts: ['Reboot'], resources: ['app_*'] }), false);
});

test('after a first change of an occurrence was sent, only changes can keep later ones back', () => {
  const ended = eventChange({ eventType: 'Freeze', notBefore: null }, { phase: 'ended' });
  const filter = { impacts: ['Reboot'], notice: { aboveMs: 1 } };
  assert.equal(isWanted(filter, ended, false), false);
  assert.equal(isWanted(filter, ended, true), true);
  assert.equal(isWanted({ ...filter, changes: ['scheduled'] }, ended, true), false);
});

test('what the bridge says of its source is judged by changes alone', () => {
  assert.equal(isWanted({ impacts: ['Freeze'], resources: ['none'] }, BLIND), true);
  assert.equal(isWanted({ changes: ['scheduled'] }, BLIND), false);
});

test('an approval is judged like a change of its event', () => {
  assert.equal(isWanted({ impacts: ['Reboot'] }, APPROVAL), true);
  assert.equal(isWanted({ impacts: ['Freeze'] }, APPROVAL), false);
});

test('own resources: events that name this VM or named it before, and all while its name is unknown', () => {
  const facts = { ownName: 'WEB_0', namedBefore: false };
  assert.equal(publishes('own', eventChange(), facts), true);
  assert.equal(publishes('own', eventChange({ resources: ['db_1'] }), facts), false);
  assert.equal(publishes('own', eventChange({ resources: ['db_1'] }), { ...facts, namedBefore: true }), true);
  assert.equal(publishes('own', eventChange({ resources: ['db_1'] }), { ...facts, ownName: null }), true);
  assert.equal(publishes('own', APPROVAL, { ownName: 'other', namedBefore: false }), false);
  assert.equal(publishes('own', BLIND, { ownName: 'other', namedBefore: false }), true);
  assert.equal(publishes('all', eventChange({ resources: [] }), facts), true);
});

test('a change is routed to the sinks that want it, and the store is asked only where that decides', () => {
  const asked: string[] = [];
  const sinks = [
    { name: 'all', passes: compileFilter({}) },
    { name: 'freezes', passes: compileFilter({ impacts: ['Freeze'] }) },
    { name: 'was-freeze', passes: compileFilter({ impacts: ['Freeze'] }) },
    { name: 'endings', passes: compileFilter({ changes: ['ended'] }) },
  ];
  const wasSent = (sink: string, occurrence: number) => {
    asked.push(`${sink} ${occurrence}`);
    return sink === 'was-freeze';
  };
  assert.deepEqual(routeTo(eventChange(), sinks, { wasSent, nowMs: NOW }), ['all', 'was-freeze']);
  assert.deepEqual(asked, ['freezes 7', 'was-freeze 7']);
  assert.deepEqual(routeTo(BLIND, sinks, { wasSent, nowMs: NOW }), ['all', 'freezes', 'was-freeze']);
  assert.equal(asked.length, 2);
});

test('an approval for an event that nobody knows passes where nothing is asked of events', () => {
  const unknown: ApprovalChange = { ...APPROVAL, occurrence: null, event: null };
  assert.equal(isWanted({}, unknown), true);
  assert.equal(isWanted({ changes: ['approval.failed'] }, unknown), true);
  assert.equal(isWanted({ changes: ['approval.recorded'] }, unknown), false);
  for (const filter of [
    { impacts: ['Freeze'] },
    { initiators: ['User'] },
    { resources: ['*'] },
    { notice: { aboveMs: 0 } },
    { notice: { belowMs: 1 } },
  ])
    assert.equal(isWanted(filter, unknown), false, JSON.stringify(filter));
  assert.equal(isWanted({ notice: {} }, unknown), true);
  assert.equal(publishes('all', unknown, { ownName: 'vm', namedBefore: false }), true);
  assert.equal(publishes('own', unknown, { ownName: 'vm', namedBefore: false }), false);
  assert.equal(publishes('own', unknown, { ownName: null, namedBefore: false }), true);
});

/** A store in memory, and the sinks that a change goes to. */
function routed(change: Change, options: { own?: boolean; ownName?: string | null; before?: boolean; sent?: string }) {
  const { own = true, ownName = 'web_0', before = false, sent } = options;
  const marked: number[] = [];
  const routes = compileRoutes(
    { all: { filter: {} }, reboots: { filter: { impacts: ['reboot'], notice: { belowMs: 3_600_000 } } } },
    own ? 'own' : 'all',
  );
  const outbox = {
    sinks: { wasSent: (sink: string, occurrence: number) => sink === sent && occurrence === 7 },
    known: { isOwn: (occurrence: number) => before && occurrence === 7 },
  };
  const sinks = route(change, { markOwn: (occurrence) => marked.push(occurrence) }, routes, {
    ...{ outbox, ownName, nowMs: NOW },
  });
  return { sinks, marked };
}

test('an event of this VM is remembered as its own and goes to every sink whose filter lets it pass', () => {
  assert.deepEqual(routed(eventChange(), {}), { sinks: ['all', 'reboots'], marked: [7] });
  assert.deepEqual(routed(eventChange({ eventType: 'Freeze' }), {}), { sinks: ['all'], marked: [7] });
});

test('an event of other VMs is not remembered, and is published only without `own`', () => {
  const others = eventChange({ resources: ['db_1'] });
  assert.deepEqual(routed(others, {}), { sinks: [], marked: [] });
  assert.deepEqual(routed(others, { own: false }), { sinks: ['all', 'reboots'], marked: [] });
  assert.deepEqual(routed(others, { before: true }), { sinks: ['all', 'reboots'], marked: [] });
});

test('while the name of the VM is unknown, everything is published and nothing is remembered', () => {
  assert.deepEqual(routed(eventChange(), { ownName: null }), { sinks: ['all', 'reboots'], marked: [] });
});

test('a sink that was sent an event gets its later changes, though they name this VM no more', () => {
  const others = eventChange({ resources: ['db_1'] });
  assert.deepEqual(routed(others, { sent: 'reboots' }), { sinks: ['reboots'], marked: [] });
});

test('a loss of sight and an approval of an unknown event are of no occurrence', () => {
  assert.deepEqual(routed(BLIND, {}), { sinks: ['all', 'reboots'], marked: [] });
  assert.deepEqual(routed({ ...APPROVAL, event: null, occurrence: null }, {}), { sinks: [], marked: [] });
  assert.deepEqual(routed({ ...APPROVAL, event: null }, {}), { sinks: [], marked: [] });
  assert.deepEqual(routed({ ...APPROVAL, occurrence: null }, {}).marked, []);
});
