// docs/operate/recipes/pacemaker.md → the command lines of azure-events-az, as the page cites them.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { poll } from '../support/poll.ts';
import { posts } from '../support/running-bridge.ts';
import { tableBelow } from './markdown-page.ts';
import { Recipe, wholeRecord } from './recipe.ts';

/** Commands that record how they were called; the cluster has settled once there is a file of that name. */
const COMMANDS = {
  crm_node: 'echo node-1',
  crm_attribute: '',
  crm_resource: 'echo "vip (ocf::heartbeat:IPaddr2): Started: vip_start_0 (node=node-1, call=9, rc=0): complete"',
  crm_simulate:
    'echo "Current cluster status:"; echo "Transition Summary:"; [ -e settled ] || echo " * Move vip ( node-1 -> node-2 )"; echo "Executing Cluster Transition:"; echo " * nothing"',
};

test('the node gives its resources away as azure-events-az makes it, is approved once nothing is left to do, and takes them again', async (t) => {
  const recipe = await Recipe.on(t, 'pacemaker', {
    '/var/lib/scheduled-events-bridge\n': 'bridge-data\n',
    '      MARKS: /var/lib/scheduled-events-bridge/pacemaker\n': `      MARKS: marks\n      PATH: .:${process.env['PATH']}\n`,
    'version: 1\n': 'version: 1\nmetadata:\n  endpoint: http://127.0.0.1:8080\n',
  });
  const { azure, folder } = recipe;
  for (const [name, body] of Object.entries(COMMANDS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} "$@" >> calls\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  await recipe.bridge();
  const { EventId } = azure.schedule({ EventType: 'Reboot' });
  const calls = () =>
    existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [];
  await poll(() => calls().some((call) => call.startsWith('crm_simulate')), 'the program to look at the cluster');
  assert.deepEqual(posts(azure), []);
  writeFileSync(join(folder, 'settled'), '');
  await recipe.approved(EventId);
  azure.advance('10m');
  await recipe.says('completed: node-1 may have resources again');
  assert.deepEqual(recipe.said(), recipe.promised);
  assert.deepEqual(await recipe.record(EventId), wholeRecord('cluster', 'pacemaker'));
  const cited = tableBelow('docs/operate/recipes/pacemaker.md', 'Compared with the agent')
    .filter(([, , here]) => here === 'the same')
    .map(([, runs = '']) => runs.replaceAll('`', '').replace('NODE', 'node-1'));
  assert.equal(cited.length, 4);
  assert.deepEqual(
    cited.filter((line) => !calls().includes(line)),
    [],
  );
});
