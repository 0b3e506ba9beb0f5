// `dead-letters`, `replay`, `resume` beside a bridge and after it → output, repeats, exit codes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { type Ended, type Program, run } from '../../support/program.ts';
import { type BridgeFolder, bridgeFolder, hook, peek, startRun } from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

interface Fixture {
  readonly simulator: SimulatedAzure;
  readonly receiver: WebhookReceiver;
  readonly folder: BridgeFolder;
  readonly bridge: Program;
  /** Runs a verb with this configuration. */
  readonly verb: (...args: readonly string[]) => Promise<Ended>;
}

async function fixture(t: TestContext): Promise<Fixture> {
  const simulator = await localSimulator(t);
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
  const bridge = await startRun(t, folder);
  return { simulator, receiver, folder, bridge, verb: (...args) => run(t, [...args, '--config', folder.config]) };
}

/** Schedules so many events, each of which the receiver refuses; their CloudEvents' ids, in order. */
async function refuse({ simulator, receiver, folder }: Fixture, count: number): Promise<string[]> {
  receiver.default = { status: 422 };
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(`${simulator.schedule().EventId.toLowerCase()}:scheduled`);
  await poll(() => peek(folder, (outbox) => outbox.queue.backlog('hooks').dead) === count, 'the dead letters');
  receiver.default = { status: 204 };
  receiver.requests.length = 0;
  return ids;
}

function linesOf({ stdout }: Ended): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('dead-letters list and show print NDJSON while a bridge runs', async (t) => {
  const own = await fixture(t);
  const [first = '', second = ''] = await refuse(own, 2);
  const list = await own.verb('dead-letters', 'list');
  assert.deepEqual([list.code, list.stderr], [0, '']);
  const lines = linesOf(list);
  assert.deepEqual(lines.map(({ id }) => id).sort(), [first, second].sort());
  assert.deepEqual(Object.keys(lines[0] ?? {}), [
    'id',
    'eventId',
    'eventType',
    'resources',
    'sink',
    'type',
    'reason',
    'status',
    'attempts',
    'at',
  ]);
  const one = lines.find(({ id }) => id === first);
  assert.deepEqual([one?.['sink'], one?.['reason'], one?.['status'], one?.['attempts']], ['hooks', 'refused', 422, 1]);
  assert.equal(String(one?.['eventId']).toLowerCase(), first.split(':')[0]);
  const shown = linesOf(await own.verb('dead-letters', 'show', first, '--sink', 'hooks'));
  assert.deepEqual(
    shown.map(({ cloudEvent }) => (cloudEvent as { id: string }).id),
    [first],
  );
});

test('dead-letters list on a terminal names the event and its machines', { skip }, async (t) => {
  const own = await fixture(t);
  const [id] = await refuse(own, 1);
  const args = [process.execPath, MAIN, 'dead-letters', 'list', '--config', own.folder.config];
  const { stdout } = await run(t, args, { node: 'python3', main: ON_TERMINAL });
  assert.match(
    stdout,
    /^\S+Z {2}hooks {2}refused \(422\) after 1 attempt {2}Platform will freeze sim_0, .* {2}\S+\r\n$/,
  );
  assert.ok(stdout.endsWith(`  ${id}\r\n`));
});

test('dead-letters retry makes a running bridge deliver them again, same bytes and ids', async (t) => {
  const own = await fixture(t);
  const ids = await refuse(own, 2);
  const bytes = new Map(
    peek(own.folder, (outbox) => [...outbox.deadLetters.list()].map(({ id, cloudEvent }) => [id, cloudEvent] as const)),
  );
  const { code, stdout } = await own.verb('dead-letters', 'retry', '--sink', 'hooks');
  assert.deepEqual([code, stdout], [0, '{"queued":2}\n']);
  await own.receiver.waitFor(2);
  assert.deepEqual(own.receiver.requests.map(({ headers }) => headers['webhook-id']).sort(), ids.sort());
  for (const { headers, body } of own.receiver.requests)
    assert.deepEqual(JSON.parse(body.toString()), bytes.get(String(headers['webhook-id'])));
  assert.equal((await own.verb('dead-letters', 'list')).stdout, '');
});

test('dead-letters discard removes the given rows, and no others', async (t) => {
  const own = await fixture(t);
  const [first = '', second] = await refuse(own, 2);
  assert.deepEqual((await own.verb('dead-letters', 'discard', first)).stdout, '{"discarded":1}\n');
  assert.deepEqual(
    linesOf(await own.verb('dead-letters', 'list')).map(({ id }) => id),
    [second],
  );
  assert.deepEqual((await own.verb('dead-letters', 'discard', '--sink', 'hooks')).stdout, '{"discarded":1}\n');
  assert.equal((await own.verb('dead-letters', 'list')).stdout, '');
});

test('dead-letters exits with 1 if none has the given id', async (t) => {
  const own = await fixture(t);
  for (const action of ['list', 'show', 'retry', 'discard']) {
    assert.equal((await own.verb('dead-letters', action, 'no-such-id')).code, 1, action);
  }
});

test('dead-letters works on the store of a bridge that has ended', async (t) => {
  const own = await fixture(t);
  const ids = await refuse(own, 1);
  await own.bridge.end('SIGTERM');
  assert.deepEqual(
    linesOf(await own.verb('dead-letters', 'list')).map(({ id }) => id),
    ids,
  );
});

test('replay queues what lies since a duration ago, or since a moment, for the sink again: same bytes and ids', async (t) => {
  const own = await fixture(t);
  const before = new Date().toISOString();
  own.simulator.schedule();
  await own.receiver.waitFor(1);
  for (const since of ['1h', before]) {
    const count = own.receiver.requests.length;
    const { code, stdout, stderr } = await own.verb('replay', '--sink', 'hooks', '--since', since);
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '{"queued":1}\n', stderr: '' });
    await own.receiver.waitFor(count + 1);
  }
  const [first, ...again] = own.receiver.requests.map(({ headers, body }) => [headers['webhook-id'], body.toString()]);
  for (const each of again) assert.deepEqual(each, first);
});

test('replay keeps to --until and --event', async (t) => {
  const own = await fixture(t);
  const eventId = own.simulator.schedule().EventId;
  await own.receiver.waitFor(1);
  own.simulator.schedule();
  await own.receiver.waitFor(2);
  const count = async (...args: readonly string[]) =>
    (await own.verb('replay', '--sink', 'hooks', '--since', '1h', ...args)).stdout;
  assert.equal(await count('--until', '30m'), '{"queued":0}\n');
  assert.equal(await count('--event', eventId), '{"queued":1}\n');
  assert.equal(await count('--event', 'no-such-event'), '{"queued":0}\n');
});

test('replay refuses an invalid time and an unknown sink with exit code 2', async (t) => {
  const own = await fixture(t);
  const time = await own.verb('replay', '--sink', 'hooks', '--since', 'yesterday');
  assert.deepEqual([time.code, time.stdout], [2, '']);
  assert.match(time.stderr, /--since takes RFC 3339 .* or a duration ago \(90m\), not "yesterday"/);
  const sink = await own.verb('replay', '--sink', 'hook', '--since', '1h');
  assert.deepEqual([sink.code, sink.stdout], [2, '']);
  assert.match(sink.stderr, /the configuration has no sink "hook"; it has "hooks"/);
});

/** Schedules an event, of which the receiver says that it wants none any more. */
async function retire({ simulator, receiver, folder, bridge }: Fixture): Promise<void> {
  receiver.default = { status: 410 };
  simulator.schedule();
  await bridge.logs('wants no more deliveries');
  await poll(() => peek(folder, (outbox) => outbox.queue.retirement('hooks')) !== null, 'the stored retirement');
}

test('resume makes a running bridge deliver to a retired sink again, and says what waits for it and why it was retired', async (t) => {
  const own = await fixture(t);
  await retire(own);
  own.simulator.schedule();
  await poll(
    () => peek(own.folder, (outbox) => outbox.queue.backlog('hooks').queued) === 2,
    'the second delivery in the queue',
  );
  assert.equal(own.receiver.requests.length, 1, 'a retired sink gets nothing');
  own.receiver.default = { status: 204 };
  const { code, stdout, stderr } = await own.verb('resume', '--sink', 'hooks');
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const [said] = linesOf({ code, stdout, stderr, signal: null });
  assert.deepEqual(Object.keys(said ?? {}), ['resumed', 'queued', 'since', 'reason']);
  assert.deepEqual([said?.['resumed'], said?.['queued']], ['hooks', 2]);
  assert.match(String(said?.['since']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(String(said?.['reason']), /answered 410/);
  await own.receiver.waitFor(3);
  await own.bridge.logs('is resumed');
  assert.equal(
    peek(own.folder, (outbox) => outbox.queue.retirement('hooks')),
    null,
  );
});

test('resume works on the store of a bridge that has ended: the next start delivers', async (t) => {
  const own = await fixture(t);
  await retire(own);
  await own.bridge.end('SIGTERM');
  own.receiver.default = { status: 204 };
  assert.equal((await own.verb('resume', '--sink', 'hooks')).code, 0);
  await startRun(t, own.folder);
  await own.receiver.waitFor(2);
});

test('resume exits with 1 if the sink is neither retired nor paused, with 2 if no sink has that name', async (t) => {
  const own = await fixture(t);
  const idle = await own.verb('resume', '--sink', 'hooks');
  assert.deepEqual([idle.code, idle.stdout], [1, '']);
  assert.match(idle.stderr, /the sink "hooks" is neither retired nor paused/);
  const unknown = await own.verb('resume', '--sink', 'hook');
  assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
  assert.match(unknown.stderr, /the configuration has no sink "hook"; it has "hooks"/);
});

test('if no bridge ever ran in the folder, the store verbs name it, create nothing, and exit with 1', async (t) => {
  const folder = bridgeFolder(t, 'http://127.0.0.1:1', { sinks: { hooks: hook('http://127.0.0.1:1/') } });
  for (const args of [
    ['dead-letters', 'list'],
    ['replay', '--sink', 'hooks', '--since', '1h'],
    ['resume', '--sink', 'hooks'],
  ]) {
    const { code, stdout, stderr } = await run(t, [...args, '--config', folder.config]);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.ok(stderr.includes(`there is no store in ${folder.store}`), stderr);
  }
});
