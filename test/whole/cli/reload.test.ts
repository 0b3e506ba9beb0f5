// SIGHUP and POST /v1/reload to a process, under load and kill -9 → nothing lost or repeated.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as moment } from 'node:timers/promises';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { type Program, start } from '../../support/program.ts';
import {
  type BridgeFolder,
  bridgeFolder,
  hook,
  received,
  type Sections,
  startRun,
  TOKEN,
  urlOf,
} from '../../support/running-bridge.ts';

const OTHER_TOKEN = 'another-horse-another-staple';

/** The file of the running bridge says this from now on. */
function rewrite(t: TestContext, folder: BridgeFolder, simulator: SimulatedAzure, sections: Sections): void {
  bridgeFolder(t, simulator.url, sections, dirname(folder.config));
}

function count(program: Program, what: string): number {
  return program.stderr.split(what).length - 1;
}

/** Resolves once one more reload has been told in the log. */
async function hangUp(program: Program): Promise<void> {
  const before = count(program, '"by":"SIGHUP"');
  program.child.kill('SIGHUP');
  await poll(() => count(program, '"by":"SIGHUP"') > before, 'a reload in the log');
}

async function post(program: Program, token = TOKEN): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${urlOf(program)}/v1/reload`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('SIGHUP applies another file; a faulty one is refused, and shown in /readyz until the next good one', async (t) => {
  const simulator = await localSimulator(t);
  await using one = await WebhookReceiver.start();
  await using other = await WebhookReceiver.start();
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(one.url) } });
  const bridge = await startRun(t, folder);
  const readyz = async () => {
    const answer = await fetch(`${urlOf(bridge)}/readyz`);
    const { configuration } = (await answer.json()) as {
      configuration: { refused: { faults: { path: string }[] } | null };
    };
    return { status: answer.status, refused: configuration.refused };
  };
  simulator.schedule();
  await one.waitFor(1);
  rewrite(t, folder, simulator, { sinks: { hooks: hook(other.url) } });
  await hangUp(bridge);
  simulator.schedule();
  await other.waitFor(1);
  assert.equal(one.requests.length, 1);

  writeFileSync(folder.config, 'version: 1\nsinks: { hooks: { type: webhook } }\npublish: { resource: own }\n');
  await hangUp(bridge);
  const shown = await readyz();
  assert.equal(shown.status, 200);
  assert.deepEqual(shown.refused?.faults.map(({ path }) => path).sort(), ['publish.resource', 'sinks.hooks.url']);
  assert.match(bridge.stderr, /the configuration is rejected: sinks\.hooks\.url: is missing/);
  writeFileSync(folder.config, 'version: 1\nsinks: [\n');
  await hangUp(bridge);
  assert.match((await readyz()).refused?.faults[0]?.path ?? '', /^line 3/);
  simulator.schedule();
  await other.waitFor(2);

  rewrite(t, folder, simulator, { sinks: { hooks: hook(one.url) } });
  await hangUp(bridge);
  assert.equal((await readyz()).refused, null);
  simulator.schedule();
  await one.waitFor(2);
  assert.equal((await bridge.end('SIGTERM')).code, 0);
});

test('POST /v1/reload: 200 with the paths, 422, 409, 403 without an admin’s token; a token in a file is read again', async (t) => {
  const simulator = await localSimulator(t);
  const tokens = { orders: { token: { file: 'orders.token' }, admin: true }, billing: { token: { env: 'BILLING' } } };
  const sections = { approvals: { approvers: tokens }, sinks: { audit: { type: 'stdout' } } };
  const folder = bridgeFolder(t, simulator.url, sections);
  writeFileSync(join(dirname(folder.config), 'orders.token'), TOKEN, { mode: 0o600 });
  const bridge = await startRun(t, folder, { env: { BILLING: OTHER_TOKEN } });
  assert.deepEqual(await post(bridge), { status: 200, body: { changed: [] } });
  assert.equal((await post(bridge, OTHER_TOKEN)).status, 403);
  assert.equal((await post(bridge, 'nobody-has-this-token')).status, 401);

  rewrite(t, folder, simulator, {
    ...sections,
    metadata: { endpoint: simulator.url, pollInterval: '60ms' },
    publish: { resources: 'own' },
  });
  assert.deepEqual(await post(bridge), {
    status: 200,
    body: { changed: ['metadata.pollInterval', 'publish.resources'] },
  });

  rewrite(t, folder, simulator, { ...sections, http: { listen: '127.0.0.1:1' }, store: { path: '/elsewhere' } });
  const restart = await post(bridge);
  assert.deepEqual(
    [restart.status, restart.body['type'], restart.body['restart']],
    [409, 'needs-restart', ['store', 'http.listen']],
  );
  rewrite(t, folder, simulator, { ...sections, http: { listen: '127.0.0.1:1' }, sinks: { audit: { type: 'stdin' } } });
  const faulty = await post(bridge);
  assert.deepEqual([faulty.status, (faulty.body['faults'] as { path: string }[])[0]?.path], [422, 'sinks.audit.type']);

  writeFileSync(join(dirname(folder.config), 'orders.token'), 'a-third-horse-a-third-staple', { mode: 0o600 });
  rewrite(t, folder, simulator, sections);
  await hangUp(bridge);
  assert.match(
    bridge.stderr,
    /"changed":\["metadata\.pollInterval","approvals\.approvers\.orders\.token","publish\.resources"\]/,
  );
  assert.equal((await post(bridge)).status, 401);
  assert.equal((await post(bridge, 'a-third-horse-a-third-staple')).status, 200);
  for (const secret of [TOKEN, OTHER_TOKEN, 'a-third-horse']) assert.ok(!bridge.stderr.includes(secret));
});

test('log.level holds from the reload on, in every part, unless --log-level said another', async (t) => {
  const simulator = await localSimulator(t);
  const sections = { sinks: { audit: { type: 'stdout' } } };
  const folder = bridgeFolder(t, simulator.url, sections);
  const bridge = await startRun(t, folder);
  const fixed = await startRun(
    t,
    bridgeFolder(t, simulator.url, { ...sections, log: { level: 'warn' } }, folderOf(t)),
    {
      logLevel: 'info',
    },
  );
  const ask = async (program: Program) => (await fetch(`${urlOf(program)}/v1/events`)).status;
  assert.equal(await ask(bridge), 200);
  assert.doesNotMatch(bridge.stderr, /"level":"debug"/);
  rewrite(t, folder, simulator, { ...sections, log: { level: 'debug' } });
  await hangUp(bridge);
  assert.equal(await ask(bridge), 200);
  await bridge.logs('"msg":"http request"');
  await hangUp(fixed);
  assert.doesNotMatch(fixed.stderr, /"level":"debug"/);
});

test('a missing file is refused like one with faults, and the bridge continues', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, { sinks: { audit: { type: 'stdout' } } });
  const bridge = await startRun(t, folder);
  rmSync(folder.config);
  await hangUp(bridge);
  assert.match(
    bridge.stderr,
    /the configuration is rejected: the configuration [^ ]+bridge\.yaml (does not exist|is not there|cannot|is missing)/,
  );
  simulator.schedule();
  await bridge.lines(1);
  assert.equal((await bridge.end('SIGTERM')).code, 0);
});

test('under load, with a reload at every moment, a sink that does not change keeps its connection, and no sink gets anything twice', async (t) => {
  const simulator = await localSimulator(t);
  await using still = await WebhookReceiver.start();
  await using left = await WebhookReceiver.start();
  await using right = await WebhookReceiver.start();
  for (const receiver of [left, right])
    receiver.default = (response) => setTimeout(() => response.writeHead(204).end(), 40);
  const sinks = (moving: string) => ({ still: hook(still.url), moving: hook(moving) });
  const folder = bridgeFolder(t, simulator.url, { sinks: sinks(left.url) });
  const bridge = await startRun(t, folder);
  const ids: string[] = [];
  const load = async (until: AbortSignal) => {
    while (!until.aborted) {
      ids.push(`${simulator.schedule().EventId.toLowerCase()}:scheduled`);
      await moment(15);
    }
  };
  const stop = new AbortController();
  const loading = load(stop.signal);
  for (let round = 0; round < 12; round++) {
    const moving = sinks(round % 2 === 0 ? right.url : left.url);
    const sections = {
      sinks: round % 3 === 2 ? { ...moving, extra: hook(right.url, { headers: { 'x-extra': 'yes' } }) } : moving,
    };
    rewrite(t, folder, simulator, sections);
    await hangUp(bridge);
    await moment(60);
  }
  rewrite(t, folder, simulator, { sinks: sinks(left.url) });
  await hangUp(bridge);
  stop.abort();
  await loading;
  const moved = () => [...left.requests, ...right.requests].filter(({ headers }) => headers['x-extra'] === undefined);
  await poll(
    () => received(moved()).size >= ids.length && received(still.requests).size >= ids.length,
    'all of them at both sinks',
  );
  for (const requests of [moved(), still.requests]) {
    const byId = received(requests);
    assert.deepEqual([...byId.keys()].sort(), [...ids].sort());
    assert.deepEqual([...byId.values()].filter((bodies) => bodies.length > 1).length, 0, 'none twice');
  }
  assert.ok(left.requests.length > 0 && right.requests.length > 0);
  // A webhook has 16 places; with new connections at each of the 13 reloads there would be more.
  assert.ok(still.connections <= 16, `${still.connections} connections to the sink that did not change`);
  const polls = simulator
    .requests()
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/metadata/scheduledevents'));
  const times = polls.map(({ at }) => Date.parse(at));
  const longest = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  assert.ok(longest < 5000, `a poll came ${longest} ms after the one before`);
});

test('kill -9 during reloads loses nothing: the next start continues with the current file', async (t) => {
  const simulator = await localSimulator(t);
  await using left = await WebhookReceiver.start();
  await using right = await WebhookReceiver.start();
  for (const receiver of [left, right])
    receiver.default = (response) => setTimeout(() => response.writeHead(204).end(), 30);
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(left.url) } });
  const ids: string[] = [];
  for (let round = 0; round < 8; round++) {
    const program = await startRun(t, folder);
    for (let event = 0; event < 5; event++) ids.push(`${simulator.schedule().EventId.toLowerCase()}:scheduled`);
    await moment(20 * round);
    rewrite(t, folder, simulator, {
      sinks: { hooks: hook(round % 2 === 0 ? right.url : left.url), ...(round % 2 === 0 && { also: hook(left.url) }) },
    });
    program.child.kill('SIGHUP');
    await moment(5 * round);
    await program.end('SIGKILL');
  }
  const last = await startRun(t, folder);
  const arrived = () => received([...left.requests, ...right.requests]);
  await poll(() => ids.every((id) => arrived().has(id)), 'every event at one of the two');
  for (const [id, bodies] of arrived()) assert.equal(new Set(bodies).size, 1, `${id} has other bytes the second time`);
  assert.equal((await last.end('SIGTERM')).code, 0);
});

test('SIGHUP during the start takes effect after it; another verb ends by it, as usual', async (t) => {
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, { sinks: { audit: { type: 'stdout' } } });
  const program = start(t, ['run', '--config', folder.config]);
  await program.logs('listening');
  program.child.kill('SIGHUP');
  await program.logs('"by":"SIGHUP"');
  assert.equal((await program.end('SIGTERM')).code, 0);
  const watching = start(t, ['events', '--endpoint', simulator.url, '--watch']);
  await watching.lines(1);
  assert.equal((await watching.end('SIGHUP')).signal, 'SIGHUP');
});
