// Api-versions → the fields and event types that each of them lists.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Simulation } from '../../../virtual/simulation.ts';

const OLDEST = ['EventId', 'EventStatus', 'EventType', 'NotBefore', 'ResourceType', 'Resources'];
const FIRST_TYPES = ['Freeze', 'Reboot', 'Redeploy'];

const TABLE: readonly (readonly [version: string, addedFields: readonly string[], addedTypes: readonly string[]])[] = [
  ['2017-03-01', [], []],
  ['2017-08-01', [], []],
  ['2017-11-01', [], ['Preempt']],
  ['2019-01-01', [], ['Preempt', 'Terminate']],
  ['2019-04-01', ['Description'], ['Preempt', 'Terminate']],
  ['2019-08-01', ['Description', 'EventSource'], ['Preempt', 'Terminate']],
  ['2020-07-01', ['Description', 'EventSource', 'DurationInSeconds'], ['Preempt', 'Terminate']],
  [
    '2024-07-09',
    ['Description', 'EventSource', 'DurationInSeconds'],
    ['Preempt', 'Terminate', 'SpotRebalanceRecommendation'],
  ],
];

for (const [version, addedFields, addedTypes] of TABLE) {
  test(`${version} lists ${[...FIRST_TYPES, ...addedTypes].join(', ')}${addedFields.length > 0 ? ` with ${addedFields.join(', ')}` : ''} (F-14, F-31, F-32, F-34)`, () => {
    const simulation = new Simulation();
    for (const EventType of ['SpotRebalanceRecommendation', 'Terminate', 'Preempt', 'Redeploy', 'Reboot', 'Freeze'])
      simulation.schedule({ EventType });
    const { DocumentIncarnation, Events } = simulation.document(version);
    assert.equal(DocumentIncarnation, 7);
    assert.deepEqual(Events.map((event) => event.EventType).sort(), [...FIRST_TYPES, ...addedTypes].sort());
    for (const event of Events) assert.deepEqual(Object.keys(event).sort(), [...OLDEST, ...addedFields].sort());
  });
}

test('2017-03-01 writes names with a leading underscore, the others do not (F-33)', () => {
  const simulation = new Simulation();
  simulation.schedule({ Resources: ['sim_0', 'other'] });
  assert.deepEqual(simulation.document('2017-03-01').Events[0]?.Resources, ['_sim_0', '_other']);
  assert.deepEqual(simulation.document('2017-08-01').Events[0]?.Resources, ['sim_0', 'other']);
});

test('a type that no version knows is listed by all of them (F-21, F-35)', () => {
  const simulation = new Simulation();
  for (const EventType of ['Pause', 'constructor']) simulation.schedule({ EventType });
  for (const [version] of TABLE)
    assert.deepEqual(
      simulation.document(version).Events.map((event) => event.EventType),
      ['Pause', 'constructor'],
      version,
    );
});
