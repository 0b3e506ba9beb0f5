// `hold`, `release`, `pause`, `resume` and `reload` of a running bridge → what they do and print.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { type Ended, run } from '../../support/program.ts';
import { bridgeFolder, hook, posts, type Sections, startRun, TOKEN } from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

const ADMIN_TOKEN = 'another-horse-another-staple';
const ENV = { ORDERS: TOKEN, OPS: ADMIN_TOKEN };
const APPROVERS = { orders: { token: { env: 'ORDERS' } }, ops: { token: { env: 'OPS' }, admin: true } };

/** A bridge with an approver, an admin, a sink and one listed event. */
async function runningBridge(t: TestContext) {
  const simulator = await localSimulator(t);
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const listen = `127.0.0.1:${await freePorts()}`;
  const sections = { approvals: { approvers: APPROVERS }, http: { listen }, sinks: { hooks: hook(receiver.url) } };
  const folder = bridgeFolder(t, simulator.url, sections);
  await startRun(t, folder, { env: ENV });
  const eventId = simulator.schedule().EventId;
  await poll(() => receiver.requests.length === 1, 'the delivery of the event');
  const url = `http://${listen}`;
  return {
    ...{ url, eventId, simulator, sections, config: folder.config },
    /** As `orders`, an approver. */
    orders: ['--bridge', url, '--token-env', 'ORDERS'],
    /** As `ops`, the first admin of the configuration. */
    ops: ['--config', folder.config],
    read: async (path: string) => (await fetch(`${url}${path}`)).json(),
    rewrite: (changed: Sections) => bridgeFolder(t, simulator.url, { ...sections, ...changed }, dirname(folder.config)),
  };
}

function act(t: TestContext, args: readonly string[]): Promise<Ended> {
  return run(t, args, { env: ENV });
}

test('hold and release of an approver, and of the first admin that the configuration names', async (t) => {
  const { eventId, orders, ops, read } = await runningBridge(t);
  const held = await act(t, ['hold', eventId, '--reason', 'closing of the month', ...orders]);
  assert.deepEqual([held.code, held.stderr], [0, '']);
  assert.partialDeepStrictEqual(JSON.parse(held.stdout), {
    eventId,
    holds: [{ approver: 'orders', reason: 'closing of the month' }],
  });
  await act(t, ['hold', eventId, '--reason', 'a backup runs', ...ops]);
  const holders = async () =>
    ((await read(`/v1/approvals/${eventId}`)) as { holds: { approver: string }[] }).holds.map(
      ({ approver }) => approver,
    );
  assert.deepEqual(await holders(), ['orders', 'ops']);
  const released = await act(t, ['release', eventId, ...ops]);
  assert.deepEqual([released.code, released.stderr], [0, '']);
  assert.deepEqual(JSON.parse(released.stdout), { eventId, released: true });
  assert.deepEqual(await holders(), ['orders']);
  assert.equal((await act(t, ['release', eventId, '--approver', 'orders', ...ops])).code, 0);
  assert.deepEqual(await holders(), []);
  const again = await act(t, ['release', eventId, ...orders]);
  assert.deepEqual([again.code, again.stdout], [1, '']);
  assert.match(again.stderr, /^the bridge answered 404: /);
});

test('hold --all and release --all: nothing is submitted in between, status says so first, and only an admin may', async (t) => {
  const { eventId, orders, ops, url, simulator } = await runningBridge(t);
  const refused = await act(t, ['hold', '--all', '--reason', 'mine', ...orders]);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^the bridge answered 403: orders is no admin/);
  const held = await act(t, ['hold', '--all', '--reason', 'a release is under way', ...ops]);
  assert.deepEqual([held.code, held.stderr], [0, '']);
  assert.partialDeepStrictEqual(JSON.parse(held.stdout), {
    eventId: '*',
    holds: [{ approver: 'ops', reason: 'a release is under way', all: true }],
    submitting: [],
  });
  const { code, stdout } = await act(t, ['approve', eventId, ...orders]);
  assert.deepEqual([code, stdout], [0, `${JSON.stringify({ eventId, status: 202 })}\n`]);
  const status = JSON.parse((await act(t, ['status', '--bridge', url])).stdout);
  assert.partialDeepStrictEqual(status.heldAll, { by: 'ops', reason: 'a release is under way' });
  const explained = JSON.parse((await act(t, ['explain', eventId, '--bridge', url])).stdout);
  assert.partialDeepStrictEqual(explained, { state: 'held', nextStep: { action: 'start' }, holds: [{ all: true }] });
  assert.deepEqual(posts(simulator), []);
  const released = await act(t, ['release', '--all', ...ops]);
  assert.deepEqual([released.code, JSON.parse(released.stdout)], [0, { eventId: '*', released: true }]);
  await poll(() => posts(simulator).length === 1, 'the StartRequest');
  assert.match((await act(t, ['release', '--all', ...ops])).stderr, /^the bridge answered 404: No hold of everything/);
});

test('--all takes no EventId and no approver', async (t) => {
  const { eventId, ops } = await runningBridge(t);
  for (const args of [
    ['hold', '--all', eventId, '--reason', 'mine'],
    ['hold', '--all'],
    ['release', '--all', eventId],
    ['release', '--all', '--approver', 'ops'],
    ['release'],
  ])
    assert.equal((await act(t, [...args, ...ops])).code, 2, args.join(' '));
});

test('--config with --token-env is the bridge of the file, with the own token', async (t) => {
  const { eventId, ops } = await runningBridge(t);
  const { code, stdout } = await act(t, ['hold', eventId, '--reason', 'mine', '--token-env', 'ORDERS', ...ops]);
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).holds[0].approver, 'orders');
});

test('--config reads the token of the admin alone: other secrets and faults of the file do not matter', async (t) => {
  const { eventId, rewrite, ops } = await runningBridge(t);
  rewrite({ sinks: { hooks: { type: 'webhook', url: { env: 'NOT_SET' }, faulty: true } } });
  const { code, stderr } = await run(t, ['hold', eventId, '--reason', 'x', ...ops], { env: { OPS: ADMIN_TOKEN } });
  assert.deepEqual([code, stderr], [0, '']);
  const unset = await run(t, ['hold', eventId, '--reason', 'x', ...ops]);
  assert.equal(unset.code, 2);
  assert.match(unset.stderr, /the token of the admin ops cannot be read: the environment variable OPS is not set/);
});

test('pause and resume of an admin print the sink; another approver may not, and an unknown sink is a refusal', async (t) => {
  const { ops, orders, read } = await runningBridge(t);
  const state = async () => ((await read('/v1/sinks')) as { state: string }[])[0]?.state;
  const paused = await act(t, ['pause', 'hooks', ...ops]);
  assert.deepEqual([paused.code, paused.stderr], [0, '']);
  assert.partialDeepStrictEqual(JSON.parse(paused.stdout), { name: 'hooks', state: 'paused' });
  const forbidden = await act(t, ['resume', 'hooks', ...orders]);
  assert.deepEqual([forbidden.code, forbidden.stdout], [1, '']);
  assert.match(forbidden.stderr, /^the bridge answered 403: .*admin/);
  assert.equal(await state(), 'paused');
  const resumed = await act(t, ['resume', 'hooks', ...ops]);
  assert.equal(resumed.code, 0);
  assert.partialDeepStrictEqual(JSON.parse(resumed.stdout), { name: 'hooks', state: 'delivering' });
  const unknown = await act(t, ['pause', 'hocks', ...ops]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^the bridge answered 404: .*no sink with this name/);
});

test('reload prints what changed; each fault, and each key that needs a restart, is a line and the exit code is 1', async (t) => {
  const { ops, rewrite, sections } = await runningBridge(t);
  rewrite({ log: { level: 'debug' } });
  const changed = await act(t, ['reload', ...ops]);
  assert.deepEqual([changed.code, changed.stderr], [0, '']);
  assert.deepEqual(JSON.parse(changed.stdout), { changed: ['log.level'] });
  rewrite({ http: { ...sections.http, health: '127.0.0.1:0' } });
  const restart = await act(t, ['reload', ...ops]);
  assert.deepEqual([restart.code, restart.stdout], [1, '']);
  assert.match(restart.stderr, /^the bridge answered 409: .*\nhttp\.health: needs a restart\n$/);
  rewrite({ log: { lvel: 'debug' }, sinks: {} });
  const faulty = await act(t, ['reload', ...ops]);
  assert.deepEqual([faulty.code, faulty.stdout], [1, '']);
  assert.match(
    faulty.stderr,
    /^the bridge answered 422: .*2 faults.*\nlog\.lvel: .*did you mean level\?\nsinks: .*\n$/,
  );
  rewrite({ log: { lvel: 'debug' }, approvals: { aprovers: {} } });
  const hidden = await act(t, ['reload', ...ops]);
  assert.deepEqual([hidden.code, hidden.stdout], [1, '']);
  assert.match(
    hidden.stderr,
    /^nothing was reloaded: the configuration has 2 faults:\n(.*\n)* {2}approvals\.aprovers: /,
  );
});

test('explain shows what an event waits for, what happens next, and its story, also after its end', async (t) => {
  const { eventId, simulator, ops, orders, url } = await runningBridge(t);
  await act(t, ['hold', eventId, '--reason', 'closing of the month', ...ops]);
  const listed = await run(t, ['explain', eventId.toLowerCase(), '--bridge', url]);
  assert.deepEqual([listed.code, listed.stderr], [0, '']);
  const explained = JSON.parse(listed.stdout);
  assert.deepEqual(Object.keys(explained).slice(0, 1), ['eventId']);
  assert.partialDeepStrictEqual(explained, {
    eventId,
    state: 'held',
    nextStep: { action: 'start', by: null },
    waitingFor: ['orders', 'ops'],
    holds: [{ approver: 'ops', reason: 'closing of the month' }],
    steps: [{ step: 'held', approver: 'ops', reason: 'closing of the month' }],
    event: { eventId, eventType: 'Freeze' },
    journal: [{ deliveries: [{ sink: 'hooks', state: 'delivered' }] }],
  });
  await run(t, ['release', eventId, ...ops], { env: ENV });
  simulator.start(eventId);
  simulator.end(eventId);
  await poll(async () => {
    const { stdout } = await act(t, ['explain', eventId, ...ops]);
    const { event, nextStep } = JSON.parse(stdout);
    return event === null && nextStep.action === null;
  }, 'the end of the event');
  const unknown = await act(t, ['explain', 'no-such-event', ...orders]);
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /^the bridge answered 404: .*no-such-event/);
});

test('no bridge, another program or a wrong token: exit code 1 and one line', async (t) => {
  const { eventId, url } = await runningBridge(t);
  const hold = ['hold', eventId, '--reason', 'x', '--token-env', 'T'];
  const wrong = await run(t, [...hold, '--bridge', url], { env: { T: 'nobody-has-this-token' } });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^the bridge answered 401: [^\n]+\n$/);
  const gone = await run(t, [...hold, '--bridge', 'http://127.0.0.1:1'], { env: { T: TOKEN } });
  assert.deepEqual([gone.code, gone.stdout], [1, '']);
  assert.match(gone.stderr, /^http:\/\/127\.0\.0\.1:1 gave no answer of a bridge: .*ECONNREFUSED.*\n$/);
  const page = await WebhookReceiver.start();
  t.after(() => page.stop());
  page.default = { status: 200, body: '<html>' };
  const other = await run(t, [...hold, '--bridge', page.url], { env: { T: TOKEN } });
  assert.equal(other.code, 1);
  assert.match(other.stderr, /gave no answer of a bridge: it answered 200/);
});

test('on a terminal they print sentences', { skip }, async (t) => {
  const { eventId, ops } = await runningBridge(t);
  const words = async (args: readonly string[]): Promise<string> => {
    const command = [process.execPath, MAIN, ...args, ...ops];
    const { stdout } = await run(t, command, { node: 'python3', main: ON_TERMINAL, env: { ...ENV, NO_COLOR: '1' } });
    return stdout.replaceAll('\r\n', '\n');
  };
  assert.equal(
    await words(['hold', eventId, '--reason', 'a\u001b[2Jbackup']),
    `${eventId} is held by ops (a\\u001b[2Jbackup)\nA hold does not stop Azure, which starts the event at its NotBefore.\n`,
  );
  const [id, what, next, story, scheduled, delivery, held] = (await words(['explain', eventId])).split('\n');
  assert.deepEqual([id, story], [eventId, 'story']);
  assert.match(what ?? '', /^Freeze of sim_0 \(1 machine\), NotBefore \S+Z \(UTC\)$/);
  assert.match(
    next ?? '',
    /^held by ops: a\\u001b\[2Jbackup; waits for: orders, ops; if nobody acts: left to Azure, .*Z$/,
  );
  assert.match(scheduled ?? '', /^ {2}\S+Z {2}Platform will freeze sim_0, /);
  assert.equal(delivery, '      hooks: delivered');
  assert.match(held ?? '', /^ {2}\S+Z {2}held by ops \(token\): a\\u001b\[2Jbackup$/);
  assert.equal(await words(['release', eventId]), `${eventId} is released\n`);
  assert.match(await words(['pause', 'hooks']), /^hooks {2}webhook {2}paused {2}0 queued {2}0 dead {2}no error\n$/);
  assert.match(await words(['resume', 'hooks']), /^hooks {2}webhook {2}delivering /);
  assert.equal(await words(['reload']), 'reloaded; nothing has changed\n');
  assert.deepEqual(JSON.parse(await words(['reload', '--json'])), { changed: [] });
});
