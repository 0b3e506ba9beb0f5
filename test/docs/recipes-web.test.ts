// docs/operate/recipes/nginx.md, haproxy.md → real ones drain, over a kill -9 of the bridge.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { freePorts } from '../far-sides/simulator-server.ts';
import { poll } from '../support/poll.ts';
import { posts } from '../support/running-bridge.ts';
import { Recipe, wholeRecord } from './recipe.ts';
import { answering, application, missingProgram, runHaproxy, runNginx } from './web-servers.ts';

const ARE_REQUIRED = process.env['REQUIRE_RECIPES'] === '1';

/** A request that runs in each of these, by whoever is in between. */
async function slowRequests(url: string, apps: readonly { readonly slow: readonly ServerResponse[] }[]) {
  const answers = apps.map(() => fetch(`${url}/slow`).then((response) => response.text()));
  await poll(() => apps.every(({ slow }) => slow.length === 1), 'the requests to run');
  return {
    end: (index: number) => void apps[index]?.slow[0]?.end('whole'),
    areWhole: async () => assert.ok((await Promise.all(answers)).every((text) => text === 'whole')),
  };
}

async function startNginx(t: TestContext) {
  const [app, web] = [await application(t, 'vm0'), await freePorts()];
  const recipe = await Recipe.on(t, 'nginx', {
    '127.0.0.1:8081': `127.0.0.1:${web}`,
    '"10"': '"0.1"',
    '/run/drain/nginx': 'marks',
  });
  const { folder } = recipe;
  const server = recipe.block('nginx', {
    '127.0.0.1:8081': `127.0.0.1:${web}`,
    '127.0.0.1:3000': `127.0.0.1:${app.port}`,
    '/run/drain/nginx': join(folder, 'marks'),
  });
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  runNginx(t, folder, `events {}\nhttp {\n${server} }`, user);
  const url = `http://127.0.0.1:${web}`;
  const health = () => fetch(`${url}/health`).then(({ status }) => status);
  await poll(async () => (await health().catch(() => 0)) === 200, 'nginx to serve');
  return { recipe, app, url, health };
}

test('nginx leaves the pool, the bridge is killed, one yes comes when no request runs, and after the maintenance it serves again', {
  skip: missingProgram(ARE_REQUIRED, 'nginx', 'curl'),
}, async (t) => {
  const { recipe, app, url, health } = await startNginx(t);
  const { azure } = recipe;
  const first = await recipe.bridge();
  const slow = await slowRequests(url, [app]);
  const { EventId } = azure.schedule({ EventType: 'Reboot', EventSource: 'User' });
  await poll(async () => (await health()) === 503, 'the probe to fail');
  assert.equal(await (await fetch(url)).text(), 'vm0', 'who comes all the same is served');
  await first.end('SIGKILL');
  const second = await recipe.bridge();
  await second.logs('outlived');
  assert.deepEqual([posts(azure), await health()], [[], 503]);
  slow.end(0);
  await slow.areWhole();
  await recipe.approved(EventId);
  assert.equal(await health(), 503);
  azure.advance('10m');
  await recipe.says('completed: back in the pool');
  assert.equal(await health(), 200);
  assert.deepEqual(posts(azure), [200]);
  const again = recipe.promised.map((line) => line.replace('run 1', 'run 2'));
  assert.deepEqual(recipe.said(), again, 'the run that was cut off is not told of');
  assert.deepEqual(await recipe.record(EventId), wholeRecord('web', 'nginx'));
});

test('called off while nginx drains, it serves again and nothing is approved; of two events the last one counts', {
  skip: missingProgram(ARE_REQUIRED, 'nginx', 'curl'),
}, async (t) => {
  const { recipe, app, url, health } = await startNginx(t);
  const { azure } = recipe;
  await recipe.bridge();
  const slow = await slowRequests(url, [app]);
  const [one, other] = [azure.schedule({ EventType: 'Reboot' }), azure.schedule({ EventType: 'Redeploy' })];
  await poll(async () => (await health()) === 503, 'the probe to fail');
  azure.cancel(one.EventId);
  await recipe.says('canceled: another event is still there');
  assert.equal(await health(), 503);
  azure.cancel(other.EventId);
  await recipe.says('canceled: back in the pool');
  assert.equal(await health(), 200);
  slow.end(0);
  await slow.areWhole();
  assert.deepEqual(posts(azure), []);
});

test('HAProxy sends no new sessions while one is left; then it is approved, and afterwards the machine is back', {
  skip: missingProgram(ARE_REQUIRED, 'haproxy', 'socat'),
}, async (t) => {
  const [one, other, web, api] = [
    await application(t, 'vm0'),
    await application(t, 'vm1'),
    await freePorts(),
    await freePorts(),
  ];
  const recipe = await Recipe.on(t, 'haproxy', {
    '127.0.0.1:9999': `127.0.0.1:${api}`,
    '/var/lib/scheduled-events-bridge/haproxy': 'marks',
  });
  const { azure, folder } = recipe;
  const config = recipe.block('haproxy', {
    '127.0.0.1:9999': `127.0.0.1:${api}`,
    '127.0.0.1:8081': `127.0.0.1:${web}`,
    '10.0.0.4:80': `127.0.0.1:${one.port}`,
    '10.0.0.5:80': `127.0.0.1:${other.port}`,
  });
  runHaproxy(t, folder, config);
  const url = `http://127.0.0.1:${web}`;
  await poll(async () => (await answering(url)) === 'vm0 vm1', 'both to serve');
  await recipe.bridge();
  const slow = await slowRequests(url, [one, other]);
  const { EventId } = azure.schedule({ EventType: 'Redeploy' });
  await poll(async () => (await answering(url)) === 'vm1', 'the machine to get nothing new');
  assert.deepEqual(posts(azure), []);
  slow.end(0);
  await recipe.approved(EventId);
  azure.advance('20m');
  await recipe.says('completed: new sessions are taken');
  assert.equal(await answering(url), 'vm0 vm1');
  slow.end(1);
  await slow.areWhole();
  assert.deepEqual(recipe.said(), recipe.promised);
  assert.deepEqual(await recipe.record(EventId), wholeRecord('web', 'haproxy'));
});
