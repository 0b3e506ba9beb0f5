// `approve` on a terminal, and at a hold of the bridge on this machine → what it asks and refuses.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePorts, localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { type Ended, run, start } from '../../support/program.ts';
import { bridgeFolder, posts, startRun, TOKEN } from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

const ADMIN_TOKEN = 'another-horse-another-staple';
const ENV = { ORDERS: TOKEN, OPS: ADMIN_TOKEN, NO_COLOR: '1' };

/** Types these lines on a terminal, and resolves with all that it shows. */
function onTerminal(t: TestContext, args: readonly string[], input: string): Promise<Ended> {
  return run(t, [process.execPath, MAIN, ...args], { node: 'python3', main: ON_TERMINAL, env: ENV, input });
}

/** A bridge with an approver and an admin, two listed events, and a hold on the first. */
async function heldEvent(t: TestContext, host = '127.0.0.1') {
  const simulator = await localSimulator(t);
  const listen = `${host}:${await freePorts()}`;
  const approvers = { orders: { token: { env: 'ORDERS' } }, ops: { token: { env: 'OPS' }, admin: true } };
  const folder = bridgeFolder(t, simulator.url, { approvals: { approvers }, http: { listen, allowInsecure: true } });
  await startRun(t, folder, { env: ENV });
  const [held, other] = [simulator.schedule().EventId, simulator.schedule().EventId];
  const hold = ['hold', held, '--reason', 'closing of the month', '--config', folder.config];
  await poll(async () => (await run(t, hold, { env: ENV })).code === 0, 'the hold');
  return { simulator, held, other, config: folder.config, listen };
}

const REFUSED = /held by ops \(closing of the month\).*--force/;

test('a hold at the bridge of the configuration: nothing is posted for any of the ids, unless --force is given', async (t) => {
  const { simulator, held, other, config } = await heldEvent(t);
  const args = ['approve', other, held.toLowerCase(), '--endpoint', simulator.url];
  for (const way of [
    { args: [...args, '--config', config] },
    { args, env: { SCHEDULED_EVENTS_BRIDGE_CONFIG: config } },
  ]) {
    const { code, stdout, stderr } = await run(t, way.args, { env: { ...ENV, ...way.env } });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, REFUSED);
  }
  assert.deepEqual(posts(simulator), []);
  assert.equal((await run(t, ['approve', other, '--endpoint', simulator.url, '--config', config])).code, 0);
  const forced = await run(t, ['approve', held, '--endpoint', simulator.url, '--config', config, '--force']);
  assert.deepEqual([forced.code, forced.stderr], [0, '']);
  assert.deepEqual(posts(simulator), [200, 200]);
});

test('under a hold of everything nothing is posted, also for an event that the bridge does not know', async (t) => {
  const { simulator, other, config } = await heldEvent(t, '0.0.0.0');
  const hold = ['hold', '--all', '--reason', 'a release', '--config', config];
  assert.equal((await run(t, hold, { env: ENV })).code, 0);
  for (const eventId of [other, 'C7061BAC-AFDC-4513-B24B-AA5F13A16123']) {
    const { code, stderr } = await run(t, ['approve', eventId, '--endpoint', simulator.url, '--config', config], {
      env: ENV,
    });
    assert.equal(code, 1);
    assert.match(stderr, /everything is held by ops \(a release\).*--force/);
  }
  assert.deepEqual(posts(simulator), []);
});

test('a bridge that needs a token is asked with that of its first admin, or that of --token-env', async (t) => {
  const { simulator, held, config } = await heldEvent(t, '0.0.0.0');
  const args = ['approve', held, '--endpoint', simulator.url, '--config', config];
  const byAdmin = await run(t, args, { env: { OPS: ADMIN_TOKEN } });
  const byOption = await run(t, [...args, '--token-env', 'ORDERS'], { env: { ORDERS: TOKEN } });
  for (const { code, stderr } of [byAdmin, byOption]) {
    assert.equal(code, 1);
    assert.match(stderr, REFUSED);
  }
  assert.deepEqual(posts(simulator), []);
  const unable = await run(t, args);
  assert.deepEqual([unable.code, posts(simulator)], [0, [200]]);
  assert.match(unable.stderr, /answered 401.* holds/);
});

test('a bridge that cannot be asked is a warning, and the approval is sent; one that is not there is none', async (t) => {
  const simulator = await localSimulator(t);
  const server = await WebhookReceiver.start();
  t.after(() => server.stop());
  const at = (port: number | string) => {
    const path = join(folderOf(t), 'bridge.yaml');
    writeFileSync(path, `{ version: 1, http: { listen: "127.0.0.1:${port}" } }`);
    return ['approve', simulator.schedule().EventId, '--endpoint', simulator.url, '--config', path];
  };
  const gone = await run(t, at(1));
  assert.deepEqual([gone.code, gone.stderr], [0, '']);
  for (const status of [401, 503]) {
    server.default = { status, body: '{}' };
    const { code, stderr } = await run(t, at(new URL(server.url).port));
    assert.equal(code, 0);
    assert.match(stderr, new RegExp(`^the bridge at http://127\\.0\\.0\\.1:\\d+ answered ${status}.* holds`));
  }
  const approve = ['approve', simulator.schedule().EventId, '--endpoint', simulator.url];
  const unreadable = await run(t, approve, { env: { SCHEDULED_EVENTS_BRIDGE_CONFIG: '/nowhere/bridge.yaml' } });
  assert.equal(unreadable.code, 0);
  assert.match(unreadable.stderr, /^holds of the bridge on this machine are unknown: .*\/nowhere\/bridge\.yaml/);
  const given = await run(t, [...approve, '--config', '/nowhere/bridge.yaml']);
  assert.deepEqual([given.code, given.stdout], [78, '']);
  assert.deepEqual(posts(simulator), [200, 200, 200, 200]);
});

test('on a terminal it names type, machines and NotBefore and asks; all but y and yes is a no', { skip }, async (t) => {
  const simulator = await localSimulator(t);
  const event = simulator.schedule({ EventType: 'Redeploy', Resources: ['web_0', 'web_1'] });
  const { EventId, NotBefore } = event;
  const args = ['approve', EventId, '--endpoint', simulator.url];
  for (const answer of ['', 'n', 'yeah', 'j']) {
    const { code, stdout } = await onTerminal(t, args, `${answer}\n`);
    assert.equal(code, 1, stdout);
    assert.ok(stdout.includes(`Redeploy of web_0, web_1 (2 machines), NotBefore ${rfc3339(NotBefore)} (UTC)`), stdout);
    assert.ok(stdout.includes(`${EventId}: not approved`), stdout);
  }
  assert.deepEqual(posts(simulator), []);
  const yes = await onTerminal(t, args, 'YES\n');
  assert.equal(yes.code, 0, yes.stdout);
  assert.deepEqual(posts(simulator), [200]);
  const next = simulator.schedule().EventId;
  const unasked = await onTerminal(t, ['approve', next, '--endpoint', simulator.url, '--yes'], '');
  assert.deepEqual([unasked.code, unasked.stdout], [0, `${JSON.stringify({ eventId: next, status: 200 })}\r\n`]);
});

test('on a terminal an approval through a bridge is asked for too, and a held event is answered 202', {
  skip,
}, async (t) => {
  const { simulator, held, listen } = await heldEvent(t);
  const args = ['approve', held, '--bridge', `http://${listen}`, '--token-env', 'ORDERS'];
  const no = await onTerminal(t, args, 'n\n');
  assert.equal(no.code, 1);
  assert.match(no.stdout, /Freeze of \S+ \(1 machine\), NotBefore \S+ \(UTC\)/);
  const yes = await onTerminal(t, args, 'y\n');
  assert.equal(yes.code, 0, yes.stdout);
  assert.match(yes.stdout, /"status":202/);
  assert.deepEqual(posts(simulator), []);
});

test('a hold that somebody sets during the question counts', { skip }, async (t) => {
  const { simulator, other, config } = await heldEvent(t);
  const command = [process.execPath, MAIN, 'approve', other, '--endpoint', simulator.url, '--config', config];
  const terminal = start(t, command, { node: 'python3', main: ON_TERMINAL, env: ENV, input: null });
  await poll(() => terminal.stdout.includes('[y/N]'), 'the question');
  await run(t, ['hold', other, '--reason', 'closing of the month', '--config', config], { env: ENV });
  terminal.child.stdin?.write('y\n');
  const { code, stdout } = await terminal.ended();
  assert.equal(code, 1);
  assert.match(stdout, REFUSED);
  assert.deepEqual(posts(simulator), []);
});

/** The metadata service's form of a time → RFC 3339. */
function rfc3339(time: string | undefined): string {
  return new Date(time ?? '').toISOString().replace('.000', '');
}
