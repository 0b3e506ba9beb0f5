// docs/approve/cases/approve-from-a-topic.md → its configuration for Service Bus, with a queue.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sdkClient } from '../far-sides/service-bus/sdk-client.ts';
import { serviceBusServer } from '../far-sides/service-bus/service-bus-server.ts';
import { localSimulator } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { bridgeFolder, posts, startRun, urlOf } from '../support/running-bridge.ts';
import { codeBlocksOf } from './markdown-page.ts';

const PAGE = 'docs/approve/cases/approve-from-a-topic.md';

test('docs/approve/cases/approve-from-a-topic.md, "With Service Bus": the same messages in its queue do the same, and a late one is a dead letter', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('approvals');
  const azure = await localSimulator(t);
  const folder = bridgeFolder(t, azure.url, {});
  const yaml = codeBlocksOf(PAGE).findLast(({ language }) => language === 'yaml')?.text ?? '';
  const around = `metadata: { endpoint: "${azure.url}", pollInterval: 50ms }\nhttp: { listen: 127.0.0.1:0 }\n`;
  writeFileSync(
    folder.config,
    yaml.replace('namespace: my-ns.servicebus.windows.net', 'connectionString: { env: BUS }') + around,
  );
  const bridge = await startRun(t, folder, { env: { BUS: server.connectionString } });
  const sender = sdkClient(server).createSender('approvals');
  const { EventId } = azure.schedule();
  const steps = async (): Promise<readonly string[]> => {
    const answer = await fetch(`${urlOf(bridge)}/v1/approvals/${EventId}`);
    const { steps = [] } = (await answer.json()) as { steps?: readonly { step: string; via: string | null }[] };
    return steps.map(({ step, via }) => (via === null ? step : `${step} ${via}`));
  };
  const comesTo = async (...expected: readonly string[]) => {
    await poll(async () => (await steps()).length >= expected.length, `${expected.length} steps`);
    assert.deepEqual(await steps(), expected);
  };

  const [held, approved] = ['held source:ops-queue', 'recorded source:ops-queue'];
  await sender.sendMessages({ body: { Holds: [{ EventId, reason: 'draining' }] } });
  await comesTo(held);
  await sender.sendMessages({ body: { StartRequests: [{ EventId }] } });
  await comesTo(held, approved, 'decided');
  assert.deepEqual(posts(azure), []);
  await sender.sendMessages({ body: { Releases: [{ EventId }] } });
  await comesTo(held, approved, 'decided', 'released source:ops-queue', 'submitted', 'confirmed');

  const late = azure.schedule();
  azure.start(late.EventId);
  await poll(() => bridge.stdout.includes(`${late.EventId.toLowerCase()}:started`), 'the start');
  await sender.sendMessages({ body: { StartRequests: [{ EventId: late.EventId }] } });
  await poll(() => queue.deadLetters().length === 1, 'a dead letter');
  assert.equal(queue.deadLetters()[0]?.deadLetter?.reason, 'started');
});
