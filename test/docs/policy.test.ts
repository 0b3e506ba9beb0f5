// docs/approve/policy.md → what the program prints, and the two forms of `documentation` agree.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ADAPTERS } from '../../adapters/index.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { findScenario, shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { compileDecision, type Decide, reportLines } from '../../src/verbs/policy-decision.ts';
import { sightings } from '../../src/verbs/policy-events.ts';
import { OTHER_TOKEN, surroundings, TOKEN } from '../support/config.ts';
import { codeBlocksOf } from './markdown-page.ts';

const BLOCKS = codeBlocksOf('docs/approve/policy.md');
const AROUND = { ...surroundings({ ORDERS_TOKEN: TOKEN, BILLING_TOKEN: OTHER_TOKEN }), adapters: ADAPTERS };
const yamlBelow = (title: string) =>
  BLOCKS.filter(({ language, heading }) => language === 'yaml' && heading === title).map(({ text }) => text);
const [first = ''] = yamlBelow('The policy: what is approved without asking');
const [short = '', long = ''] = yamlBelow('`documentation`');
const [predicted = ''] = yamlBelow('A predicted failure of hardware');

function approvalsOf(yaml: string) {
  const read = readConfig(`version: 1\n${yaml}`, AROUND);
  return 'options' in read ? read.options.approvals : assert.fail(JSON.stringify(read.faults));
}

const shown = BLOCKS.filter(({ language }) => language === 'text').map(({ text }) => text.trimEnd());

test('the page shows two scenarios', () => assert.equal(shown.length, 2));

for (const text of shown) {
  const [, name = ''] = /^([a-z-]+): /.exec(text) ?? [];
  test(`the output of ${name} is what the program prints for the policy of the page`, async () => {
    const script = await findScenario(name);
    const decide = compileDecision(approvalsOf(first));
    const decisions = decide(sightings(script, { vms: ['web_0'] }, '2020-07-01'));
    assert.equal([`${script.name}: ${script.purpose}`, ...reportLines(decisions)].join('\n'), text);
  });
}

test('the rule for a predicted failure approves it at once, and leaves routine maintenance to the approvers', async () => {
  const decide = compileDecision(approvalsOf(predicted));
  const decisionsOn = async (name: string) =>
    decide(sightings(await findScenario(name), {}, '2020-07-01')).map(({ then }) => then);
  assert.deepEqual(await decisionsOn('predicted-failure'), ['approve']);
  for (const name of ['redeploy', 'live-migration', 'user-redeploy'])
    assert.deepEqual(await decisionsOn(name), ['wait'], name);
});

test('documentation decides every event of the scenarios as its long form on the page does, but for its name', async () => {
  assert.equal(parse(short).approvals.policy, 'documentation');
  const [preset, rules] = [compileDecision(approvalsOf(short)), compileDecision(approvalsOf(long))];
  for (const script of await shippedScenarios()) {
    const said = (decide: Decide) =>
      decide(sightings(script, {}, '2024-07-09')).map(({ then, policy }) => [then, policy === null]);
    assert.deepEqual(said(preset), said(rules));
  }
});
