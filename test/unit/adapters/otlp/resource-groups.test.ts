// Deliveries → groups of one resource each, in the order of the deliveries.
import assert from 'node:assert/strict';
import test from 'node:test';
import { resourceGroups } from '../../../../adapters/otlp/resource-groups.ts';
import { deliveryOf } from '../../../adapters/otlp/deliveries.ts';
import { eventChange } from '../../cloudevents/changes.ts';

test('records of one VM share a resource; once its name is known it is another one, and nothing changes places', () => {
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

test('of nothing there is no group', () => {
  assert.deepEqual(resourceGroups([]), []);
});

test('a repeat is equal', () => {
  const batch = [deliveryOf(eventChange())];
  assert.deepEqual(resourceGroups(batch), resourceGroups(batch));
});
