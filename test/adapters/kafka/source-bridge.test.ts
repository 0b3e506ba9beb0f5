// The built command with a Kafka source: what kcat writes → StartRequests, CloudEvents, log lines.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import type { Program } from '../../support/program.ts';
import { bridgeFolder, polled, startRun } from '../../support/running-bridge.ts';

async function setUp(t: TestContext) {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const azure = await localSimulator(t);
  const source = { type: 'kafka', brokers: kafka.brokers, topic, groupId: kafka.uniqueName('group'), approver: 'ops' };
  const approvals = { approvers: { ops: {} }, sources: { 'ops-topic': source } };
  const folder = bridgeFolder(t, azure.url, { sinks: { audit: { type: 'stdout' } }, approvals });
  return { azure, topic, begin: () => startRun(t, folder), write: (text: string) => kcat(kafka.brokers, topic, text) };
}

/** As the README shows it. */
async function kcat(brokers: readonly string[], topic: string, text: string): Promise<void> {
  const child = spawn('kcat', ['-P', '-b', brokers.join(), '-t', topic], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(text);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
}

function approvalOf(EventId: string): string {
  return JSON.stringify({ StartRequests: [{ EventId }] });
}

/** The CloudEvents of this type that a bridge wrote so far, with their data. */
function written(bridge: Program, type: string): { readonly data: Readonly<Record<string, unknown>> }[] {
  const events = bridge.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return events.filter((event) => event.type === `io.github.scheduled-events-bridge.${type}.v1`);
}

test('an approval that kcat writes to the topic starts the event, plain or as a CloudEvent', {
  skip: withoutKafka,
}, async (t) => {
  const { azure, begin, write } = await setUp(t);
  const bridge = await begin();
  await bridge.logs('the consumer group is new');
  const [plain, carried] = [azure.schedule(), azure.schedule()];
  await polled(azure);
  await write(approvalOf(plain.EventId));
  const event = {
    specversion: '1.0',
    id: '1',
    source: '/pipeline',
    type: 'com.example.drained',
    data: JSON.parse(approvalOf(carried.EventId)),
  };
  await write(JSON.stringify(event));
  await azure.until(() => azure.approvals().length === 2, { timeoutMs: 20_000 });
  assert.deepEqual(azure.approvals(), [plain.EventId, carried.EventId]);
  await poll(() => written(bridge, 'approval.submitted').length === 2, 'both approvals on standard output');
  assert.deepEqual(
    written(bridge, 'approval.recorded').map(({ data }) => [data['eventId'], data['approver']]),
    [
      [plain.EventId, 'ops'],
      [carried.EventId, 'ops'],
    ],
  );
  assert.equal((await bridge.end('SIGTERM')).code, 0);
  assert.doesNotMatch(bridge.stderr, /"level":"(warn|error)"/);
});

test('an invalid message is skipped with one warning, and a late approval gives approval.failed', {
  skip: withoutKafka,
}, async (t) => {
  const { azure, topic, begin, write } = await setUp(t);
  const bridge = await begin();
  await bridge.logs('the consumer group is new');
  const [running, waiting] = [azure.schedule(), azure.schedule()];
  azure.start(running.EventId);
  await polled(azure);
  await write('yes, please');
  await write(approvalOf(running.EventId));
  await write(approvalOf(waiting.EventId));
  await azure.until(() => azure.approvals().includes(waiting.EventId), { timeoutMs: 20_000 });
  await poll(() => written(bridge, 'approval.failed').length === 1, 'a failed approval on standard output');
  const [failed] = written(bridge, 'approval.failed');
  assert.deepEqual(
    [failed?.data['eventId'], failed?.data['approver'], failed?.data['reason']],
    [running.EventId, 'ops', 'started'],
  );
  const warnings = bridge.stderr
    .split('\n')
    .filter((line) => line.includes('"level":"warn"'))
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    warnings.map(({ source, place }) => [source, place]),
    [['ops-topic', { topic, partition: 0, offset: 0 }]],
  );
  assert.doesNotMatch(bridge.stderr, /yes, please/);
});

test('a killed bridge processes the messages that were sent before its restart', { skip: withoutKafka }, async (t) => {
  const { azure, begin, write } = await setUp(t);
  const bridge = await begin();
  await bridge.logs('the consumer group is new');
  const event = azure.schedule();
  await polled(azure);
  await bridge.end('SIGKILL');
  await write(approvalOf(event.EventId));
  await begin();
  await azure.until(() => azure.approvals().includes(event.EventId), { timeoutMs: 20_000 });
});
