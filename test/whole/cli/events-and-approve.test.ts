// `events` and `approve`, at a metadata service or a bridge → what they print, and exit codes.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import packageJson from '../../../package.json' with { type: 'json' };
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { trapProxy } from '../../far-sides/trap-proxy.ts';
import { type Program, run, start } from '../../support/program.ts';
import { bridgeFolder, polled, startRun, TOKEN, urlOf } from '../../support/running-bridge.ts';

test('events prints the document as indented JSON, with unknown fields', async (t) => {
  const document = { DocumentIncarnation: 7, Events: [{ EventId: 'A', Strange: { deep: [1] } }], More: true };
  const simulator = await localSimulator(t);
  simulator.fault({ body: document });
  const { code, stdout, stderr } = await run(t, ['events', '--endpoint', simulator.url]);
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${JSON.stringify(document, null, 2)}\n`, stderr: '' });
  const [request] = simulator.requests();
  assert.equal(request?.path, '/metadata/scheduledevents?api-version=2020-07-01');
  assert.equal(request.headers['metadata'], 'true');
});

test('every request to the metadata service names this program: run, events, approve, check, and who the VM is', async (t) => {
  const simulator = await localSimulator(t);
  const { EventId } = simulator.schedule();
  const folder = bridgeFolder(t, simulator.url, {});
  await run(t, ['check', '--config', folder.config, '--connect']);
  const bridge = await startRun(t, folder);
  await simulator.until(() => simulator.requests().some(({ path }) => path.startsWith('/metadata/instance')));
  await polled(simulator);
  await bridge.end('SIGTERM');
  await run(t, ['events', '--endpoint', simulator.url]);
  await run(t, ['approve', EventId, '--endpoint', simulator.url]);
  const agents = new Set(simulator.requests().map(({ headers }) => headers['user-agent']));
  assert.deepEqual([...agents], [`scheduled-events-bridge/${packageJson.version}`]);
  assert.ok(simulator.requests().some(({ method }) => method === 'POST'));
});

test('events --api-version asks for that version', async (t) => {
  const simulator = await localSimulator(t);
  simulator.schedule();
  const old = await run(t, ['events', '--endpoint', simulator.url, '--api-version', '2017-11-01']);
  assert.equal(old.code, 0);
  assert.equal('DurationInSeconds' in JSON.parse(old.stdout).Events[0], false);
});

test('events --watch prints each new document as a line and ends after --count of them', async (t) => {
  const simulator = await localSimulator(t);
  const program = start(t, ['events', '--watch', '--count', '2', '--endpoint', simulator.url]);
  await polled(simulator);
  await polled(simulator);
  simulator.fault({ status: 503 });
  await simulator.until(() => simulator.requests().some(({ status }) => status === 503));
  simulator.schedule();
  const { code, stdout, stderr } = await program.ended();
  const lines = stdout.trimEnd().split('\n');
  assert.equal(code, 0);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).DocumentIncarnation),
    [1, 2],
  );
  assert.match(stderr, /503/, 'what failed in between is told on standard error');
});

test('events prints what failed and exits with 1: no listener, a status, HTML', async (t) => {
  const simulator = await localSimulator(t);
  simulator.fault({ status: 403 });
  const denied = await run(t, ['events', '--endpoint', simulator.url]);
  simulator.fault({ body: '<html>' });
  const html = await run(t, ['events', '--endpoint', simulator.url]);
  await simulator.close();
  const gone = await run(t, ['events', '--endpoint', simulator.url]);
  for (const { code, stdout } of [denied, html, gone]) assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(denied.stderr, /answered 403/);
  assert.match(html.stderr, /BRIDGE_METADATA_INVALID/);
  assert.match(gone.stderr, /ECONNREFUSED/);
});

test('events --watch ends at SIGTERM with exit code 0', async (t) => {
  const simulator = await localSimulator(t);
  const program = start(t, ['events', '--watch', '--endpoint', simulator.url]);
  await program.lines(1);
  assert.equal((await program.end('SIGTERM')).code, 0);
});

test('events --watch ends cleanly when the reader of its output has ended, as after `| head -1`', async (t) => {
  const simulator = await localSimulator(t);
  const program = start(t, ['events', '--watch', '--endpoint', simulator.url]);
  await program.lines(1);
  program.child.stdout?.destroy();
  simulator.schedule();
  const { code, stderr } = await program.ended();
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

test('approve starts events at the metadata service and prints a line for each', async (t) => {
  const simulator = await localSimulator(t);
  const ids = [simulator.schedule().EventId, simulator.schedule().EventId];
  const { code, stdout, stderr } = await run(t, ['approve', ...ids, '--endpoint', simulator.url]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.equal(stdout, ids.map((eventId) => `${JSON.stringify({ eventId, status: 200 })}\n`).join(''));
  assert.deepEqual(statusesOf(simulator), ['Started', 'Started']);
});

test('approve of many stays below the 5 requests a second that the service takes', async (t) => {
  const simulator = await localSimulator(t);
  const ids = Array.from({ length: 7 }, () => simulator.schedule().EventId);
  const { code } = await run(t, ['approve', ...ids, '--endpoint', simulator.url]);
  assert.equal(code, 0);
  const times = simulator.requests().map(({ at }) => Date.parse(at));
  for (const fromMs of times) assert.ok(times.filter((ms) => ms >= fromMs && ms < fromMs + 1000).length <= 5);
});

test('approve exits with 1 if one of them was refused, and continues with the rest', async (t) => {
  const simulator = await localSimulator(t);
  const id = simulator.schedule().EventId;
  const { code, stdout } = await run(t, ['approve', 'no-such-event', id, '--endpoint', simulator.url]);
  const lines = stdout.trimEnd().split('\n');
  assert.equal(code, 1);
  assert.deepEqual(
    lines.map((line) => [JSON.parse(line).eventId, JSON.parse(line).status]),
    [
      ['no-such-event', 400],
      [id, 200],
    ],
  );
});

test('approve exits with 1 and the status null if there is no answer', async (t) => {
  const simulator = await localSimulator(t);
  await simulator.close();
  const { code, stdout } = await run(t, ['approve', 'A', '--endpoint', simulator.url]);
  assert.equal(code, 1);
  assert.equal(JSON.parse(stdout).status, null);
});

test('approve --interactive asks before each one: a no, or the end of the input, approves nothing', async (t) => {
  const simulator = await localSimulator(t);
  const ids = [simulator.schedule().EventId, simulator.schedule().EventId, simulator.schedule().EventId];
  const args = ['approve', ...ids, '--endpoint', simulator.url, '--interactive'];
  const unanswered = await run(t, args, { input: '' });
  assert.deepEqual([unanswered.code, unanswered.stdout], [1, '']);
  for (const id of ids) assert.ok(unanswered.stderr.includes(`${id}: not approved`));
  assert.deepEqual(statusesOf(simulator), ['Scheduled', 'Scheduled', 'Scheduled']);
  const answered = await run(t, args, { input: 'n\nYes\nmaybe\n' });
  assert.deepEqual([answered.code, answered.stdout], [1, `${JSON.stringify({ eventId: ids[1], status: 200 })}\n`]);
  for (const id of ids) assert.ok(answered.stderr.includes(`Start ${id} now, for every VM in its Resources? [y/N] `));
  assert.deepEqual(statusesOf(simulator), ['Scheduled', 'Started', 'Scheduled']);
});

test('approve --bridge approves through a bridge, in the name of the token in the variable', async (t) => {
  const { simulator, bridge } = await bridgeWithApprover(t);
  const eventId = simulator.schedule().EventId;
  await polled(simulator);
  await polled(simulator);
  const { code, stdout, stderr } = await run(t, ['approve', eventId, ...through(bridge)], { env: { MY_TOKEN: TOKEN } });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: `${eventId}: submitted\n` });
  assert.deepEqual(JSON.parse(stdout), { eventId, status: 200 });
  assert.deepEqual(statusesOf(simulator), ['Started']);
});

test('approve --bridge exits with 1 for an unknown event and for a wrong token, and prints the reason', async (t) => {
  const { bridge } = await bridgeWithApprover(t);
  const unknown = await run(t, ['approve', 'no-such-event', ...through(bridge)], { env: { MY_TOKEN: TOKEN } });
  assert.equal(unknown.code, 1);
  assert.deepEqual(JSON.parse(unknown.stdout), { eventId: 'no-such-event', status: 404 });
  assert.match(unknown.stderr, /^no-such-event: .+/);
  const wrong = await run(t, ['approve', 'no-such-event', ...through(bridge)], {
    env: { MY_TOKEN: 'wrong-token-of-nobody' },
  });
  assert.equal(wrong.code, 1);
  assert.equal(JSON.parse(wrong.stdout).status, 401);
  assert.doesNotMatch(wrong.stdout + wrong.stderr, /wrong-token-of-nobody/);
});

test('approve --bridge sends no token over http:// beyond loopback without --allow-insecure', async (t) => {
  // A name that resolves nowhere (RFC 2606): nothing leaves this machine.
  const args = ['approve', 'A', '--bridge', 'http://bridge.invalid:8700', '--token-env', 'MY_TOKEN'];
  const refused = await run(t, args, { env: { MY_TOKEN: TOKEN } });
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
  assert.match(refused.stderr, /clear text.*--allow-insecure/);
  const tried = await run(t, [...args, '--allow-insecure'], { env: { MY_TOKEN: TOKEN } });
  assert.equal(tried.code, 1);
  assert.equal(JSON.parse(tried.stdout).status, null);
});

test('approve --bridge passes by every proxy of the environment, since a token goes along', async (t) => {
  const { bridge } = await bridgeWithApprover(t);
  const proxy = await trapProxy(t);
  const { code, stdout } = await run(t, ['approve', 'A', ...through(bridge)], {
    env: { ...proxy.env, MY_TOKEN: TOKEN },
  });
  assert.deepEqual([code, JSON.parse(stdout).status, proxy.visits()], [1, 404, 0]);
});

test('events --count watches, and ends after so many documents', async (t) => {
  const { url } = await localSimulator(t);
  const { code, stdout } = await run(t, ['events', '--endpoint', url, '--count', '1']);
  assert.deepEqual([code, stdout], [0, '{"DocumentIncarnation":1,"Events":[]}\n']);
});

async function bridgeWithApprover(t: TestContext): Promise<{ simulator: SimulatedAzure; bridge: Program }> {
  const simulator = await localSimulator(t);
  const approvals = { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } };
  const folder = bridgeFolder(t, simulator.url, { approvals });
  const bridge = await startRun(t, folder, { env: { ORDERS_TOKEN: TOKEN } });
  return { simulator, bridge };
}

function through(bridge: Program): string[] {
  return ['--bridge', urlOf(bridge), '--token-env', 'MY_TOKEN'];
}

function statusesOf(simulator: SimulatedAzure): string[] {
  return simulator.events().map(({ EventStatus }) => EventStatus);
}
