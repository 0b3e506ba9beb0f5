// A source and a prefix → the samples, which tell one maintenance and one loss of sight.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sampleEntries } from '../../../src/cloudevents/samples.ts';
import { CHANGE_NAMES } from '../../../src/model/change-names.ts';
import { EVENT_ID, scheduledEvent } from '../../support/events.ts';

const EID = EVENT_ID.toLowerCase();
const ENTRIES = sampleEntries({ source: '/subscriptions/s', typePrefix: 'com.example' });
const EVENTS = ENTRIES.map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)));

test('there is one sample of each type, in the order of the list, with the given source and prefix', () => {
  assert.deepEqual(
    ENTRIES.map(({ change }) => change),
    CHANGE_NAMES,
  );
  assert.deepEqual(
    EVENTS.map(({ source, type }) => `${source} ${type}`),
    CHANGE_NAMES.map((name) => `/subscriptions/s com.example.${name}.v1`),
  );
});

test('the maintenance is the one of the documentation: announced, moved, approved, started and completed', () => {
  const { eventStatus: _, notBefore: __, ...content } = scheduledEvent();
  const moved = '2022-04-11T22:41:58Z';
  const seen = (documentIncarnation: number, more = {}) => ({
    observer: { name: 'WestNO_0', documentIncarnation, affected: true, ...more },
  });
  const approval = { approvedBy: ['orders'], policy: null, at: '2022-04-11T22:14:02.240Z' };
  const started = { ...content, eventStatus: 'Started', previousStatus: 'Scheduled', notBefore: null };
  const scheduled = { ...content, eventStatus: 'Scheduled' };
  assert.deepEqual(
    EVENTS.slice(0, 4).map(({ id, time, data }) => ({ id: id.slice(0, 44), time, data })),
    [
      {
        ...{ id: `${EID}:schedul`, time: '2022-04-11T22:11:58.402Z' },
        data: { ...scheduled, previousStatus: null, notBefore: '2022-04-11T22:26:58Z', ...seen(3) },
      },
      {
        ...{ id: `${EID}:updated`, time: '2022-04-11T22:13:10.951Z' },
        data: {
          ...{ ...scheduled, previousStatus: 'Scheduled', notBefore: moved, changedFields: ['notBefore'] },
          ...seen(4),
        },
      },
      {
        ...{ id: `${EID}:started`, time: '2022-04-11T22:14:06.518Z' },
        data: { ...started, ...seen(5, { approval }) },
      },
      {
        ...{ id: `${EID}:ended`, time: '2022-04-11T22:14:21.733Z' },
        data: {
          ...{ ...started, eventStatus: 'Ended', previousStatus: 'Started', outcome: 'completed' },
          ...seen(6),
        },
      },
    ],
  );
});

test('its approver is recorded and submitted in time, and another one is refused', () => {
  const observer = { name: 'WestNO_0', affected: true };
  const said = (approver: string, reason: string | null, at: string) => {
    const time = `2022-04-11T22:14:${at}Z`;
    return {
      key: EID,
      time,
      impact: 'freeze',
      data: { eventId: EVENT_ID, approver, policy: null, reason, at: time, observer },
    };
  };
  assert.deepEqual(
    EVENTS.slice(4, 7).map(({ partitionkey, time, impact, data }) => ({ key: partitionkey, time, impact, data })),
    [said('orders', null, '02.117'), said('orders', null, '02.240'), said('billing', 'scope', '03.005')],
  );
  assert.deepEqual(
    ENTRIES.slice(0, 7).map(({ key, occurrence }) => [key, occurrence]),
    Array.from({ length: 7 }, () => [EID, 1]),
  );
});

test('the loss of sight ends, and both samples have its beginning', () => {
  const since = '2022-04-11T22:30:00Z';
  const data = { since, lastDocumentAt: since, observer: { name: 'WestNO_0' } };
  assert.deepEqual(
    EVENTS.slice(7).map(({ partitionkey, time, data }) => ({ partitionkey, time, data })),
    [
      {
        ...{ partitionkey: 'westno_0', time: '2022-04-11T22:31:00.000Z' },
        data: { ...data, reason: 'the metadata service did not answer within 10 s' },
      },
      { partitionkey: 'westno_0', time: '2022-04-11T22:34:12.660Z', data: { ...data, reason: null } },
    ],
  );
});

test('the samples always have the same bytes', () => {
  const again = sampleEntries({ source: '/subscriptions/s', typePrefix: 'com.example' });
  assert.deepEqual(again, ENTRIES);
});
