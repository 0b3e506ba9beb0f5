// docs/simulate/scenarios.md → the shipped scenarios, a file's keys, and an example that plays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as v from 'valibot';
import { formatFault } from '../../src/schema/faults.ts';
import { entriesOf } from '../../src/schema/validate.ts';
import { readScenario } from '../../src/simulator/script/scenario-file.ts';
import { scenarioSchema } from '../../src/simulator/script/scenario-schema.ts';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { codeBlocksOf, tableBelow } from './markdown-page.ts';
import { ScenarioPlay } from './scenario-play.ts';

const PAGE = 'docs/simulate/scenarios.md';

function keysBelow(heading: string): readonly string[] {
  return tableBelow(PAGE, heading).map(([key = '']) => key.replaceAll('`', ''));
}

/** The schema of one key, without what makes it optional. */
function member(schema: v.GenericSchema, key: string): v.GenericSchema {
  const own = entriesOf(schema)[key] as v.GenericSchema;
  return 'wrapped' in own ? (own.wrapped as v.GenericSchema) : own;
}

const step = (member(scenarioSchema, 'steps') as unknown as { item: v.GenericSchema }).item;

test('the page lists every shipped scenario with its purpose, in the order of --list, and none that is not shipped', async () => {
  const rows = tableBelow(PAGE, 'Shipped scenarios');
  assert.deepEqual(
    rows,
    (await shippedScenarios()).map(({ name, purpose }) => [`\`${name}\``, purpose]),
  );
});

test('the page lists every key of a scenario file, and none that does not exist', () => {
  const { group, ...top } = entriesOf(scenarioSchema);
  const groupKeys = Object.keys(entriesOf(member(scenarioSchema, 'group'))).map((key) => `group.${key}`);
  assert.ok(group);
  assert.deepEqual([...keysBelow('The file')].sort(), [...Object.keys(top), ...groupKeys].sort());
  assert.deepEqual(keysBelow('A step'), Object.keys(entriesOf(step)));
  assert.deepEqual(keysBelow('schedule'), Object.keys(entriesOf(member(step, 'schedule'))));
  assert.deepEqual(keysBelow('fault'), Object.keys(entriesOf(member(step, 'fault'))));
  const ofSchedule = keysBelow('schedule').filter((key) => !['as', 'EventId', 'count'].includes(key));
  assert.deepEqual([...keysBelow('change'), ...ofSchedule], Object.keys(entriesOf(member(step, 'change'))));
});

function example(language: string): string {
  const blocks = codeBlocksOf(PAGE).filter(
    (block) => block.heading === 'Your own scenario' && block.language === language,
  );
  assert.equal(blocks.length, 1);
  return blocks[0]?.text ?? '';
}

test('the example of the page is a valid scenario that does what the text says and ends', () => {
  const read = readScenario(example('yml'), 'pay');
  assert.ok('script' in read, 'faults' in read ? read.faults.map(formatFault).join('\n') : '');
  const played = new ScenarioPlay(read.script).run();
  assert.deepEqual(
    played.group.machines.map(({ name }) => name),
    ['pay_0', 'pay_1', 'pay_2'],
  );
  assert.deepEqual(
    [...played.lives.values()].map(({ statuses }) => statuses),
    [['Scheduled'], ['Started']],
  );
  assert.deepEqual(played.group.events.entries(), []);
});

test('the page shows the faults of the example with these two typos', () => {
  const slipped = example('yml').replace('notice: 20m', 'notise: 20m').replace('cancel: update', 'cancel: updat');
  const read = readScenario(slipped, 'pay');
  const faults = 'faults' in read ? read.faults.map(formatFault) : [];
  assert.equal(example('text'), `${['the scenario ./pay.yaml has 2 faults:', ...faults].join('\n  ')}\n`);
});
