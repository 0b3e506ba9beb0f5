// docs/approve/policy.md → what the program prints, and the two forms of `documentation` agree.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ADAPTERS } from '../../adapters/index.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { findScenario, shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { START_MS } from '../../src/verbs/policy/events.ts';
import { decisionsIn } from '../../src/verbs/policy/play.ts';
import { reportLines } from '../../src/verbs/policy/text.ts';
import { OTHER_TOKEN, surroundings, TOKEN } from '../support/config.ts';
import { codeBlocksOf } from './markdown-page.ts';

const BLOCKS = codeBlocksOf('docs/approve/policy.md');
const AROUND = { ...surroundings({ ORDERS_TOKEN: TOKEN, BILLING_TOKEN: OTHER_TOKEN }), adapters: ADAPTERS };
const PLAY = { machines: {}, apiVersion: '2020-07-01', startMs: START_MS };
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
    const judged = [...decisionsIn(script, approvalsOf(first), { ...PLAY, machines: { vms: ['web_0'] } })];
    assert.equal([`${script.name}: ${script.purpose}`, ...reportLines(judged)].join('\n'), text);
  });
}

test('the rule for a predicted failure approves it at once, and leaves routine maintenance to the approvers', async () => {
  const approvals = approvalsOf(predicted);
  const decisionsOn = async (name: string) =>
    [...decisionsIn(await findScenario(name), approvals, PLAY)].map(({ decision }) => decision.then);
  assert.deepEqual(await decisionsOn('predicted-failure'), ['approve']);
  for (const name of ['redeploy', 'live-migration', 'user-redeploy'])
    assert.deepEqual(await decisionsOn(name), ['wait'], name);
});

test('documentation decides every event of the scenarios as its long form on the page does, but for its name', async () => {
  assert.equal(parse(short).approvals.policy, 'documentation');
  const [preset, rules] = [approvalsOf(short), approvalsOf(long)];
  for (const script of await shippedScenarios()) {
    const decided = (approvals: typeof preset) =>
      [...decisionsIn(script, approvals, PLAY)].map(({ decision: { at, eventId, policy, then } }) => ({
        ...{ at, eventId, then },
        hasRule: policy !== null,
      }));
    assert.deepEqual(decided(preset), decided(rules), script.name);
  }
});
