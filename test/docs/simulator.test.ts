// docs/simulate/simulator.md → its options, routes, fields and state are those of the program.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { eventEntries } from '../../src/simulator/control/event-fields.ts';
import { faultOrder } from '../../src/simulator/control/fault-fields.ts';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { simulateVerb } from '../../src/verbs/simulate.ts';
import { simulatedGroup } from '../virtual/simulated-group.ts';
import { jsonOf } from '../virtual/simulation.ts';
import { codeBlocksOf, tableBelow } from './markdown-page.ts';

const PAGE = 'docs/simulate/simulator.md';

/** What stands between backquotes in the first cell of each row. */
function firstCells(heading: string): readonly string[] {
  return tableBelow(PAGE, heading).flatMap(([cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? ''),
  );
}

test('the page lists every option of simulate, with its value, and none that it does not take', () => {
  const options = Object.entries(simulateVerb.options).map(([name, { value }]) =>
    value ? `--${name} ${value}` : `--${name}`,
  );
  assert.deepEqual(
    firstCells('Start')
      .map((option) => option.replaceAll('\\', ''))
      .sort(),
    options.sort(),
  );
});

test('the page lists control routes that there are, and of each path every method', () => {
  const { first } = simulatedGroup();
  const listed = Map.groupBy(firstCells('Control routes'), (route) => route.split(' ')[1] ?? '');
  assert.ok(listed.size > 8);
  for (const [path, routes] of listed) {
    const answer = first.ask('TRACE', path);
    const methods = routes.map((route) => route.split(' ')[0]);
    assert.deepEqual([answer.status, answer.headers['allow']?.split(', ').sort()], [405, methods.sort()], path);
  }
});

test('the page lists every field of an event and every key of a fault, in their order', () => {
  assert.deepEqual(firstCells('Fields of an event'), Object.keys(eventEntries(v.string())));
  assert.deepEqual(firstCells('Faults'), Object.keys(faultOrder(v.string()).pipe[0].entries));
});

/** The names of all keys, at every depth; of a list those of its first member. */
function keysOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(keysOf);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, keysOf(member)]));
}

test('the state that the page shows has the keys of the real one', async () => {
  const { first } = simulatedGroup({ vms: ['web_0'], scenarios: await shippedScenarios() });
  first.order('POST', '/scenarios/live-migration');
  first.order('PUT', '/faults', { status: 503, times: 5 }, 204);
  const block = codeBlocksOf(PAGE).find(({ heading }) => heading === 'The state');
  assert.deepEqual(keysOf(JSON.parse(block?.text ?? '')), keysOf(jsonOf(first.order('GET', ''))));
});
