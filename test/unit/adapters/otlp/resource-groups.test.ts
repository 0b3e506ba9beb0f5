// Deliveries → groups of one resource each, in the order of the deliveries.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resourceGroups } from '../../../../adapters/otlp/resource-groups.ts';
import { deliveryOf } from '../../../adapters/otlp/deliveries.ts';
import { eventChange } from '../../cloudevents/changes.ts';

test('records of one VM share a resource until its name becomes known, and the order is kept', () => {
  const batch = [null, null, 'WestNO_0', 'WestNO_0', null].map((name) => deliveryOf(eventChange(), name));
  assert.deepEqual(
    resourceGroups(batch).map(({ resource, records }) => [resource['host.name'], records.length]),
    [
      [undefined, 2],
      ['WestNO_0', 2],
      [undefined, 1],
    ],
  );
});

test('no records give no group', () => {
  assert.deepEqual(resourceGroups([]), []);
});

test('a repeat gives the same groups', () => {
  const batch = [deliveryOf(eventChange())];
  assert.deepEqual(resourceGroups(batch), resourceGroups(batch));
});
