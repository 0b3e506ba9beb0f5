// Documents in a row → the changes between them: seen, update, start, end (behaviour 3 and 4).
import assert from 'node:assert/strict';
import test from 'node:test';
import type { DocumentEvent, EventField } from '../../../src/model/events.ts';
import { eidOf } from '../../../src/model/ids.ts';
import { documentOf, EVENT_ID, momentAt } from '../../support/events.ts';
import { told, Watcher } from './watcher.ts';

const EID = EVENT_ID.toLowerCase();

test('the example of the documentation gives scheduled, started and ended', () => {
  const watcher = new Watcher();
  assert.deepEqual(watcher.see(documentOf(1), 0), []);
  assert.equal(watcher.news, true, 'the first epoch is stored');
  const [scheduled] = watcher.see(documentOf(2, [{}]), 1000);
  const [started] = watcher.see(documentOf(3, [{ eventStatus: 'Started', notBefore: null }]), 2000);
  const [ended] = watcher.see(documentOf(4), 3000);
  assert.deepEqual(scheduled, {
    kind: 'event',
    phase: 'scheduled',
    id: `${EID}:scheduled`,
    key: EID,
    occurrence: 1,
    event: documentOf(2, [{}]).events.map(({ unreadable: _, ...event }) => event)[0],
    previousStatus: null,
    changedFields: [],
    outcome: null,
    withoutNotice: false,
    incarnation: 2,
    at: momentAt(1000),
  });
  assert.deepEqual([started?.id, started?.previousStatus, started?.changedFields], [`${EID}:started`, 'Scheduled', []]);
  assert.deepEqual([ended?.id, ended?.previousStatus, ended?.outcome], [`${EID}:ended`, 'Started', 'completed']);
  assert.equal(ended?.event.eventStatus, 'Started', 'an end tells the last seen content');
  assert.deepEqual([started?.withoutNotice, ended?.withoutNotice], [false, false], 'it was announced');
  assert.equal(watcher.state.events.size, 0);
});

test('the same incarnation and content give no change, for any order of names and any case of the id', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(2, [{}]), 0);
  assert.deepEqual(watcher.see(documentOf(2, [{}]), 1000), []);
  assert.equal(watcher.news, false);
  assert.deepEqual(watcher.state.lastGoodAt, momentAt(1000));
  for (const [fields, atMs] of [
    [{ eventId: EID }, 2000],
    [{ eventId: EID, resources: ['WestNO_1', 'WestNO_0'] }, 3000],
  ] as const) {
    assert.deepEqual(watcher.see(documentOf(2, [fields]), atMs), []);
    assert.equal(watcher.news, true, 'the service’s own letter case and order are stored: a StartRequest carries them');
  }
  assert.equal(watcher.state.events.get(EID)?.event.eventId, EID);
});

test('a document without a usable status is stored once, not at each poll', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(2, [{}]), 0);
  const news = [1000, 2000].map((at) => {
    watcher.see(documentOf(2, [], { statusless: [EID] }), at);
    return watcher.news;
  });
  assert.deepEqual(news, [true, false]);
});

test('a repeated document is compared again if its commit failed', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1), 0);
  const before = watcher.state;
  const document = documentOf(2, [{}]);
  assert.deepEqual(told(watcher.see(document, 1000)), ['scheduled']);
  watcher.state = before;
  watcher.usedIds.clear();
  assert.deepEqual(watcher.see(document, 2000)[0]?.id, `${EID}:scheduled`);
});

test('other content under the same incarnation is a change', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(2, [{}]), 0);
  const [updated] = watcher.see(documentOf(2, [{ durationInSeconds: 9, resources: ['WestNO_0'] }]), 1000);
  assert.deepEqual(
    [updated?.phase, updated?.changedFields, updated?.previousStatus],
    ['updated', ['durationInSeconds', 'resources'], 'Scheduled'],
  );
  assert.match(updated?.id ?? '', new RegExp(`^${EID}:updated:[0-9a-f]{16}$`));
});

test('a new incarnation with the same content gives no change, but is stored', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(2, [{}]), 0);
  assert.deepEqual(watcher.see(documentOf(7, [{}]), 1000), []);
  assert.equal(watcher.news, true);
  assert.equal(watcher.state.incarnation, 7);
});

test('every field but the EventId is compared, and letter case counts', () => {
  const others: Partial<DocumentEvent> = {
    description: 'virtual machine',
    durationInSeconds: -1,
    eventSource: 'User',
    eventType: 'freeze',
    notBefore: null,
    resourceType: '',
    resources: ['westno_0', 'WestNO_1'],
  };
  for (const [field, value] of Object.entries(others)) {
    const watcher = new Watcher();
    watcher.see(documentOf(1, [{}]), 0);
    const [updated] = watcher.see(documentOf(2, [{ [field]: value }]), 1000);
    assert.deepEqual([updated?.phase, updated?.changedFields], ['updated', [field]]);
  }
});

test('Started that becomes Scheduled again is updated', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{ eventStatus: 'Started' }]), 0);
  const [change] = watcher.see(documentOf(2, [{}]), 1000);
  assert.deepEqual(
    [change?.phase, change?.changedFields, change?.previousStatus],
    ['updated', ['eventStatus'], 'Started'],
  );
});

test('an event first seen Started is started, without notice if a good document at most 10 s older did not list it', () => {
  for (const [ageMs, withoutNotice] of [
    [10_000, true],
    [10_001, false],
  ] as const) {
    const watcher = new Watcher();
    watcher.see(documentOf(1), 0);
    const [started] = watcher.see(documentOf(2, [{ eventStatus: 'Started' }]), ageMs);
    assert.deepEqual(
      [started?.phase, started?.previousStatus, started?.withoutNotice],
      ['started', null, withoutNotice],
    );
  }
  const [first] = new Watcher().see(documentOf(2, [{ eventStatus: 'Started' }]), 0);
  assert.equal(first?.withoutNotice, false, 'the first document of all has none before it');
});

test('content A, B, A, B gets a new id each time', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  const ids = [9, 5, 9, 5, 9].map(
    (seconds, n) => watcher.see(documentOf(n + 2, [{ durationInSeconds: seconds }]), n * 1000)[0]?.id,
  );
  const [b, a] = ids;
  assert.notEqual(a, b);
  assert.deepEqual(ids, [b, a, `${b}:r2`, `${a}:r2`, `${b}:r3`]);
});

test('an event that returns after its end is a new occurrence with new ids', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  watcher.see(documentOf(2), 1000);
  const [again] = watcher.see(documentOf(3, [{}]), 2000);
  assert.deepEqual([again?.id, again?.occurrence, again?.previousStatus], [`${EID}:scheduled:r2`, 2, null]);
  const [ended] = watcher.see(documentOf(4), 3000);
  assert.deepEqual([ended?.id, ended?.occurrence], [`${EID}:ended:r2`, 2]);
});

test('listed events come first in the order of the document, then ended ones in the order in which they were first seen', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{ eventId: 'b' }, { eventId: 'a' }]), 0);
  watcher.see(documentOf(2, [{ eventId: 'c' }, { eventId: 'a' }, { eventId: 'b' }]), 1000);
  const changes = watcher.see(documentOf(3, [{ eventId: 'd' }, { eventId: 'c', eventStatus: 'Started' }]), 2000);
  assert.deepEqual(
    changes.map(({ key, phase }) => `${key} ${phase}`),
    ['d scheduled', 'c started', 'b ended', 'a ended'],
  );
});

test('an unreadable field keeps a known event’s last value, and is absent in a new one', () => {
  const unreadable: EventField[] = ['notBefore', 'resources'];
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  assert.deepEqual(watcher.see(documentOf(2, [{ notBefore: null, resources: [], unreadable }]), 1000), []);
  assert.equal(watcher.state.events.get(EID)?.event.notBefore, '2022-04-11T22:26:58Z');
  const [updated] = watcher.see(
    documentOf(3, [{ notBefore: null, resources: [], durationInSeconds: 9, unreadable }]),
    2000,
  );
  assert.deepEqual(
    [updated?.changedFields, updated?.event.resources],
    [['durationInSeconds'], ['WestNO_0', 'WestNO_1']],
  );
  const [fresh] = new Watcher().see(documentOf(1, [{ notBefore: null, resources: [], unreadable }]), 0);
  assert.deepEqual([fresh?.event.notBefore, fresh?.event.resources], [null, []]);
});

test('a known event with an unusable status keeps its last state, and an unknown one is ignored', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  assert.deepEqual(watcher.see(documentOf(2, [], { statusless: [EID, 'other'] }), 1000), []);
  assert.deepEqual([watcher.news, watcher.state.events.get(EID)?.listed, watcher.state.events.size], [true, false, 1]);
  assert.deepEqual(told(watcher.see(documentOf(3, [{ eventStatus: 'Started' }]), 2000)), ['started']);
});

test('nothing ends by a document that lists an entry without a usable EventId', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  const incomplete = documentOf(2, [{ eventId: 'other' }], { complete: false });
  assert.deepEqual(told(watcher.see(incomplete, 1000)), ['scheduled']);
  assert.deepEqual(watcher.see(incomplete, 2000), []);
  assert.deepEqual(told(watcher.see(documentOf(3, [{ eventId: 'other' }]), 3000)), ['ended canceled']);
});

test('a field that one of two api-versions lacks is not compared between them', () => {
  const watcher = new Watcher();
  watcher.see(
    documentOf(1, [{ description: '', eventSource: '', durationInSeconds: -1 }], { apiVersion: '2017-08-01' }),
    0,
  );
  assert.deepEqual(watcher.see(documentOf(2, [{}]), 1000), []);
  const [updated] = watcher.see(
    documentOf(3, [{ eventSource: '', durationInSeconds: -1, description: 'other' }], { apiVersion: '2019-04-01' }),
    2000,
  );
  assert.deepEqual(updated?.changedFields, ['description']);
  assert.deepEqual(
    watcher.see(documentOf(4, [{ description: 'other', eventSource: 'User', durationInSeconds: 9 }]), 3000),
    [],
  );
  assert.equal(
    watcher.state.events.get(EID)?.event.eventSource,
    'User',
    'the known content is that of the last document',
  );
});

test('two events of one document with the same eid get distinct ids', () => {
  const watcher = new Watcher();
  const changes = watcher.see(documentOf(1, [{ eventId: 'odd id' }, { eventId: eidOf('odd id') }]), 0);
  assert.deepEqual(
    changes.map(({ id }) => id),
    [`${eidOf('odd id')}:scheduled`, `${eidOf('odd id')}:scheduled:r2`],
  );
});

test('an event named __proto__ is an event like any other', () => {
  const watcher = new Watcher();
  assert.equal(watcher.see(documentOf(1, [{ eventId: '__proto__' }]), 0)[0]?.id, '__proto__:scheduled');
  assert.equal(watcher.see(documentOf(2), 1000)[0]?.id, '__proto__:ended');
});

test('neither the state nor the document is touched', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  const before = watcher.state;
  const copy = structuredClone({ ...before, document: undefined });
  watcher.see(documentOf(2, [{ eventId: 'other' }]), 1000);
  assert.deepEqual({ ...before, document: undefined }, copy);
});
