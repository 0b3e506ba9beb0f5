// docs/simulate/simulator.md → two unmodified clients in two namespaces, each another machine.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { NetworkNamespace, noNetworkNamespace } from '../support/network-namespace.ts';
import { start } from '../support/program.ts';
import { codeBlocksOf } from './markdown-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const SERVICE = 'http://169.254.169.254';
const EVENTS = `${SERVICE}/metadata/scheduledevents?api-version=2020-07-01`;
const skip = noNetworkNamespace();

const [making = '', simulating = '', asking = ''] = codeBlocksOf('docs/simulate/simulator.md')
  .filter(({ heading }) => heading === 'Clients with a fixed address')
  .map(({ text }) => text);

/** The page's namespaces, under names that no other test has. */
function namespaces(t: TestContext) {
  const prefix = `bridge-${process.pid}-vm`;
  const azure = NetworkNamespace.named(t);
  const vms = [0, 1].map((n) => NetworkNamespace.named(t, `${prefix}${n}`));
  const renamed = (lines: string) => lines.replaceAll(/\bazure\b/g, azure.name).replaceAll(/\bvm(?=\$n|1)/g, prefix);
  const typed = (lines: string) =>
    start(t, ['-c', `cd -- "$0" || exit\n${renamed(lines)}`, ROOT], { node: 'bash', main: '--norc' });
  return { azure, vms, typed };
}

test('two clients that ask 169.254.169.254 are two machines of one group', { skip }, async (t) => {
  const { azure, vms, typed } = namespaces(t);
  const made = await typed(`set -e\n${making}`).ended();
  assert.deepEqual([made.code, made.stderr], [0, '']);
  const simulator = typed(`exec ${simulating}`);
  assert.deepEqual(
    (await simulator.lines(2)).map((line) => JSON.parse(line)),
    ['sap_0', 'sap_1'].map((vm) => ({ vm, endpoint: `${SERVICE}:80` })),
  );
  assert.equal((await typed(asking).ended()).stdout, 'sap_1');
  const order = await azure.run(
    `curl -sS -d '{"EventId":"A","EventType":"Reboot","seen":["sap_1"]}' ${SERVICE}/simulator/events`,
  );
  assert.match(order.stdout, /"EventId":"A"/);
  const documents = await Promise.all(vms.map((vm) => vm.run(`curl -sS -H Metadata:true '${EVENTS}'`)));
  assert.deepEqual(
    documents.map(({ stdout }) => JSON.parse(stdout).Events.length),
    [0, 1],
  );
  const approved = await vms[1]?.run(
    `curl -sS -w '%{http_code}' -H Metadata:true -d '{"StartRequests":[{"EventId":"A"}]}' '${EVENTS}'`,
  );
  assert.equal(approved?.stdout, '200');
  const { stdout } = await azure.run(`curl -sS ${SERVICE}/simulator/requests`);
  const asked = JSON.parse(stdout) as { vm: string; method: string; status: number | null }[];
  assert.deepEqual(asked.map(({ vm, method, status }) => `${vm} ${method} ${status}`).sort(), [
    'sap_0 GET 200',
    'sap_1 GET 200',
    'sap_1 GET 200',
    'sap_1 POST 200',
  ]);
  azure.signal('SIGINT');
  await simulator.ended();
});
