// The built command with a Service Bus source: what the SDK sends → StartRequests, dead letters.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sdkClient } from '../../far-sides/service-bus/sdk-client.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { bridgeFolder, polled, startRun } from '../../support/running-bridge.ts';

test('an approval that the SDK sends to a queue starts its event, also after a kill; refused and invalid messages become dead letters', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('approvals');
  const azure = await localSimulator(t);
  const source = { type: 'service-bus', connectionString: { env: 'BUS' }, queue: 'approvals', approver: 'ops' };
  const approvals = { approvers: { ops: {} }, sources: { 'ops-queue': source } };
  const folder = bridgeFolder(t, azure.url, { sinks: { audit: { type: 'stdout' } }, approvals });
  const env = { BUS: server.connectionString };
  const sender = sdkClient(server).createSender('approvals');
  const approve = (EventId: string) => sender.sendMessages({ body: { StartRequests: [{ EventId }] } });

  const first = await startRun(t, folder, { env });
  const [running, waiting, later] = [azure.schedule(), azure.schedule(), azure.schedule()];
  azure.start(running.EventId);
  await polled(azure);
  await approve(waiting.EventId);
  await azure.until(() => azure.approvals().includes(waiting.EventId), { timeoutMs: 20_000 });
  await approve(running.EventId);
  await sender.sendMessages({ body: 'yes, please' });
  await poll(() => queue.deadLetters().length === 2, 'two dead letters');
  assert.deepEqual(
    queue.deadLetters().map(({ deadLetter }) => deadLetter?.reason),
    ['started', 'bad-request'],
  );
  await poll(() => first.stdout.includes('approval.failed.v1'), 'the refusal on standard output');

  await first.end('SIGKILL');
  await approve(later.EventId);
  const second = await startRun(t, folder, { env });
  await azure.until(() => azure.approvals().includes(later.EventId), { timeoutMs: 20_000 });
  assert.deepEqual(azure.approvals(), [waiting.EventId, later.EventId]);
  await poll(() => queue.messages().length === 0, 'an empty queue');
  assert.equal((await second.end('SIGTERM')).code, 0);
});
