// docs/operate/load-balancers.md → its recipes with HAProxy, nginx, bridges and a maintenance.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { freePorts, localSimulator, startServer } from '../far-sides/simulator-server.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { bridgeFolder, startRun } from '../support/running-bridge.ts';
import { codeBlocksOf } from './markdown-page.ts';
import { answering, application, missingProgram, runHaproxy, runNginx } from './web-servers.ts';

const PAGE = 'docs/operate/load-balancers.md';
const ARE_REQUIRED = process.env['REQUIRE_LOAD_BALANCERS'] === '1';
const DRAIN = { drain: {} };

function recipe(language: string): string {
  const [block] = codeBlocksOf(PAGE).filter((each) => each.language === language);
  assert.ok(block, `${PAGE} has no block of ${language}`);
  return block.text;
}

async function bridgeAt(
  t: TestContext,
  endpoint: string,
): Promise<{ readonly port: number; readonly program: Program }> {
  const port = await freePorts();
  const http = { listen: '127.0.0.1:0', health: `127.0.0.1:${port}`, ...DRAIN };
  return {
    port,
    program: await startRun(t, bridgeFolder(t, endpoint, { http, sinks: { audit: { type: 'stdout' } } })),
  };
}

test('HAProxy sends nothing to a machine from the announcement of its maintenance on, and all to it again after the end', {
  skip: missingProgram(ARE_REQUIRED, 'haproxy'),
}, async (t) => {
  const { url, urls } = await startServer(t, { vms: 2 });
  const [one, other] = [await bridgeAt(t, url), await bridgeAt(t, urls[1]?.url ?? '')];
  const [app0, app1, web] = [await application(t, 'vm0'), await application(t, 'vm1'), await freePorts()];
  const config = recipe('haproxy')
    .replace('127.0.0.1:8080', `127.0.0.1:${web}`)
    .replaceAll('10.0.0.4:80', `127.0.0.1:${app0.port}`)
    .replaceAll('10.0.0.5:80', `127.0.0.1:${app1.port}`)
    .replace(/(vm0 .*) port 8701/, `$1 port ${one.port}`)
    .replace(/(vm1 .*) port 8701/, `$1 port ${other.port}`);
  runHaproxy(t, folderOf(t), config);
  const pool = `http://127.0.0.1:${web}/`;
  await poll(async () => (await answering(pool)) === 'vm0 vm1', 'both to serve');
  const schedule = async (Resources?: string[]) => {
    const body = JSON.stringify({ EventType: 'Reboot', ...(Resources && { Resources }) });
    const answer = await fetch(`${url}/simulator/events`, { method: 'POST', body });
    return (await answer.json()) as { EventId: string; Resources: string[] };
  };
  const move = (id: string, to: string) => fetch(`${url}/simulator/events/${id}/${to}`, { method: 'POST' });
  const all = await schedule();
  await poll(async () => (await fetch(`http://127.0.0.1:${one.port}/drainz`)).status === 503, 'the first to drain');
  await poll(async () => (await fetch(`http://127.0.0.1:${other.port}/drainz`)).status === 503, 'the second to drain');
  assert.equal(await answering(pool), 'vm0 vm1', 'where all drain, all serve');
  await move(all.EventId, 'cancel');
  await poll(async () => (await fetch(`http://127.0.0.1:${other.port}/drainz`)).status === 200, 'the second to serve');
  const { EventId } = await schedule([all.Resources[0] ?? '']);
  await poll(async () => (await answering(pool)) === 'vm1', 'the first to be out');
  await move(EventId, 'start');
  await move(EventId, 'end');
  await poll(async () => (await answering(pool)) === 'vm0 vm1', 'both to serve again');
});

test("a machine's nginx answers the probe by /drainz, and stays in the pool while the bridge is stopped", {
  skip: missingProgram(ARE_REQUIRED, 'nginx'),
}, async (t) => {
  const azure = await localSimulator(t);
  const bridge = await bridgeAt(t, azure.url);
  const [app, web] = [await application(t, 'vm0'), await freePorts()];
  const config = recipe('nginx')
    .replace('127.0.0.1:8080', `127.0.0.1:${web}`)
    .replace('127.0.0.1:8701', `127.0.0.1:${bridge.port}`)
    .replace('127.0.0.1:3000', `127.0.0.1:${app.port}`);
  runNginx(t, folderOf(t), config);
  const health = async () => (await fetch(`http://127.0.0.1:${web}/health`)).status;
  await poll(
    () =>
      health().then(
        (status) => status === 200,
        () => false,
      ),
    'nginx to serve',
  );
  assert.equal(await (await fetch(`http://127.0.0.1:${web}/`)).text(), 'vm0');
  azure.schedule({ EventType: 'Redeploy' });
  await poll(async () => (await health()) === 503, 'the probe to fail');
  assert.equal(await (await fetch(`http://127.0.0.1:${web}/`)).text(), 'vm0', 'who comes all the same is served');
  bridge.program.child.kill('SIGKILL');
  await poll(async () => (await health()) === 200, 'the machine to be back');
});
