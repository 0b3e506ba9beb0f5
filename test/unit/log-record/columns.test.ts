// Log records → columns of Azure Monitor, by its rules for names.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { toColumns } from '../../../src/log-record/columns.ts';
import { eventChange } from '../cloudevents/changes.ts';
import { hostileRecord, recordOf, sampleRecords, withVm } from './samples.ts';

test('time, id and type have names that Azure Monitor accepts, data is in camelCase, and tags are one object', () => {
  const record = recordOf(eventChange());
  const columns = toColumns(record);
  assert.equal(columns['TimeGenerated'], record.time);
  assert.equal(columns['EventId'], 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled');
  assert.equal(columns['CloudEventType'], 'io.github.scheduled-events-bridge.scheduled.v1');
  assert.equal(columns['dataEventType'], 'Freeze');
  assert.deepEqual(columns['dataResources'], ['WestNO_0', 'WestNO_1']);
  assert.equal(columns['dataObserverName'], 'WestNO_0');
  assert.equal(columns['message'], record.message);
  const vm = toColumns(withVm());
  assert.equal(vm['dataObserverVmVmSize'], 'Standard_D2s_v5');
  assert.deepEqual(vm['dataObserverVmTags'], { team: 'shop', 'cost.center': '=7|' });
});

test('Azure Monitor accepts every column name, and no two differ only in letter case', () => {
  const RESERVED = ['type', 'title', 'tenantid', 'id', 'uniqueid', 'time', 'rawdata', '_resourceid', '_subscriptionid'];
  for (const record of [...sampleRecords(), withVm()]) {
    const names = Object.keys(toColumns(record));
    for (const name of names) assert.match(name, /^[A-Za-z][A-Za-z0-9]{0,44}$/);
    const lower = names.map((name) => name.toLowerCase());
    assert.equal(new Set(lower).size, names.length);
    assert.deepEqual(
      lower.filter((name) => RESERVED.includes(name)),
      [],
    );
  }
});

test('hostile texts do not change', () => {
  fc.assert(
    fc.property(hostileRecord, (record) => {
      const back = JSON.parse(JSON.stringify(toColumns(record)));
      assert.equal(back.dataDescription, record.data['description']);
      assert.deepEqual(back.dataResources, record.data['resources']);
      assert.equal(back.dataObserverName, record.host);
    }),
  );
});
