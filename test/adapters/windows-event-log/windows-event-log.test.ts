// Each row of the sink's table of failures: codes of Windows, and a helper that ends or hangs.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { WindowsEventLogAdapter } from '../../../adapters/windows-event-log/windows-event-log.ts';
import { windowsEventLogOptions } from '../../../adapters/windows-event-log/windows-event-log-options.ts';
import { EventLogFarSide } from '../../far-sides/windows-event-log/event-log.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const never = new AbortController().signal;

function start(t: TestContext, options: object = {}, command?: EventLogFarSide['command']) {
  const log = new EventLogFarSide(t);
  const parsed = v.parse(windowsEventLogOptions('win32'), options);
  const adapter = new WindowsEventLogAdapter(parsed, adapterDeps(), command ?? log.command);
  t.after(() => adapter.close());
  const deliver = (count = 1): Promise<readonly Outcome[]> =>
    adapter.deliver(
      Array.from({ length: count }, (_, index) => sampleDelivery({ seq: index + 1 })),
      never,
    );
  return { log, adapter, deliver };
}

test('an entry has the source, the id, the level and the text', async (t) => {
  const { log, deliver } = start(t, { source: 'AzureScheduledEvents', format: 'document' });
  assert.deepEqual(await deliver(), ['accepted']);
  const [entry] = log.entries();
  assert.deepEqual(
    { ...entry, text: JSON.parse(entry?.text ?? '').EventId },
    {
      source: 'AzureScheduledEvents',
      id: 1234,
      level: 'information',
      text: sampleDelivery().partitionKey.toUpperCase(),
    },
  );
});

test('one helper writes all entries, and ends with the adapter', async (t) => {
  const { log, adapter, deliver } = start(t);
  await adapter.check(never);
  await deliver(20);
  await deliver(1);
  const [pid, ...others] = log.starts();
  assert.deepEqual(others, []);
  await adapter.close();
  assert.throws(() => process.kill(pid as number, 0), { code: 'ESRCH' });
});

test('a source that is not registered, and a missing right, are misconfigured: check says so, and nothing is written', async (t) => {
  const { log, adapter, deliver } = start(t);
  for (const code of [2, 5]) {
    log.behave(code);
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_EVENT_LOG_MISCONFIGURED' });
    for (const outcome of await deliver(2)) assert.equal(failed(outcome).disposition, 'misconfigured');
  }
  assert.deepEqual(log.entries(), []);
  log.behave('accept');
  assert.deepEqual(await deliver(2), ['accepted', 'accepted'], 'without a restart of the bridge');
});

test('a full log is retried, and after the first failure the rest of the batch waits', async (t) => {
  const { log, deliver } = start(t);
  log.behave(1502);
  const outcomes = await deliver(3);
  assert.deepEqual(
    outcomes.map((outcome) => failed(outcome).disposition),
    ['retry', 'retry', 'retry'],
  );
  assert.match(failed(outcomes[0]).message, /is full: archive and clear it/);
});

test('an entry that Windows rejects becomes a dead letter, by itself', async (t) => {
  const { log, deliver } = start(t);
  log.behave(87);
  const [failure] = await deliver();
  assert.deepEqual([failed(failure).disposition, failed(failure).isNamed], ['refused', true]);
});

test('a helper that ends is started again by the next delivery, and the message has its last words', async (t) => {
  const { log, deliver } = start(t);
  assert.deepEqual(await deliver(), ['accepted']);
  log.behave('end');
  const [failure] = await deliver();
  assert.equal(failed(failure).disposition, 'retry');
  assert.match(failed(failure).message, /the helper for the event log ended \(exit code 3\): the log is gone/);
  log.behave('accept');
  assert.deepEqual(await deliver(), ['accepted']);
  assert.equal(log.starts().length, 2);
});

test('a killed helper loses nothing: the delivery is retried', async (t) => {
  const { log, deliver } = start(t);
  assert.deepEqual(await deliver(), ['accepted']);
  process.kill(log.starts()[0] as number, 'SIGKILL');
  const [failure] = await deliver();
  assert.equal(failed(failure).disposition, 'retry');
  assert.deepEqual(await deliver(), ['accepted']);
});

test('a helper that does not answer within timeout is ended, and the delivery is retried', async (t) => {
  const { log, deliver } = start(t, { timeout: '200ms' });
  log.behave('hang');
  // Two: the second does not wait again.
  const [failure] = await deliver(2);
  assert.match(failed(failure).message, /did not write the entries within 200ms/);
  const [pid] = log.starts();
  await poll(() => !isRunning(pid as number), 'the end of the helper');
});

test('an answer that is none is a failure, not an acceptance', async (t) => {
  const { log, deliver } = start(t);
  log.behave('babble');
  assert.match(failed((await deliver())[0]).message, /gave an answer that is not valid/);
  log.behave('accept');
  assert.deepEqual(await deliver(), ['accepted']);
});

test('a missing helper is misconfigured, and the message names its path', async (t) => {
  const program = join(folderOf(t), 'scheduled-events-bridge-service.exe');
  const { adapter, deliver } = start(t, {}, [program, 'event-log']);
  const failure = failed((await deliver())[0]);
  assert.equal(failure.disposition, 'misconfigured');
  assert.ok(failure.message.includes(program));
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_EVENT_LOG_MISCONFIGURED' });
});

test('the helper gets no variable of the bridge', async (t) => {
  const script = 'process.stderr.write(JSON.stringify(process.env)); process.exit(1)';
  process.env['HELPER_MUST_NOT_SEE'] = 'a-secret-of-the-bridge';
  t.after(() => delete process.env['HELPER_MUST_NOT_SEE']);
  const { deliver } = start(t, {}, [process.execPath, '--eval', script]);
  const { message } = failed((await deliver())[0]);
  assert.match(message, /exit code 1\): \{/);
  assert.ok(!message.includes('HELPER_MUST_NOT_SEE') && !message.includes('a-secret-of-the-bridge'), message);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
