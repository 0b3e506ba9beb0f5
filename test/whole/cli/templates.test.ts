// The built command with templates → a chat gets what happens at Azure; faults end the start.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, hook, startRun } from '../../support/running-bridge.ts';

const KEY = { ROUTING_KEY: 'R0123456789abcdef0123456789abcde' };

test('check finds every shipped template valid', async (t) => {
  const sinks = {
    ...Object.fromEntries(
      ['slack', 'teams'].map((name) => [name, hook('http://127.0.0.1:1', { body: { template: name } })]),
    ),
    pager: hook('http://127.0.0.1:1', {
      body: { template: 'pagerduty', values: { routingKey: { env: 'ROUTING_KEY' } } },
    }),
  };
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks });
  assert.deepEqual(await run(t, ['check', '--config', config], { env: KEY }), {
    ...{ code: 0, signal: null, stderr: '' },
    stdout: `${config}: the configuration is valid\n`,
  });
});

for (const verb of ['check', 'run']) {
  test(`${verb} names the fault of a template and all other faults, and exits with 78`, async (t) => {
    const sinks = { chat: hook('http://127.0.0.1:1', { body: { template: './chat.liquid' }, timeout: 'soon' }) };
    const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks });
    writeFileSync(join(dirname(config), 'chat.liquid'), '{\n"text": "{{ data.descripton }}"\n}');
    const { code, stderr } = await run(t, [verb, '--config', config]);
    assert.equal(code, 78);
    assert.match(stderr, /sinks\.chat\.body\.template: uses data\.descripton in line 2, which no event has/);
    assert.match(stderr, /sinks\.chat\.timeout: must be a duration/);
  });
}

test('an event reaches a chat in its own shape, and one for which the template fails becomes a dead letter alone', async (t) => {
  const azure = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  const sinks = {
    chat: hook(receiver.url, { body: { template: 'slack' } }),
    own: hook(`${receiver.url}/own`, { body: { template: './own.liquid' } }),
  };
  const folder = bridgeFolder(t, azure.url, { sinks });
  writeFileSync(
    join(dirname(folder.config), 'own.liquid'),
    '{"of":{{ data.resources | size }},"d":{% if data.durationInSeconds == 7 %}x{% else %}1{% endif %}}',
  );
  const bridge = await startRun(t, folder);
  azure.schedule({ EventType: 'Reboot', Description: 'of "all" <machines>', DurationInSeconds: 7 });
  await receiver.waitFor(1);
  azure.schedule({ EventType: 'Freeze' });
  await receiver.waitFor(3);
  const chat = receiver.requests.filter(({ path }) => path === '/hook').map(({ body }) => JSON.parse(body.toString()));
  assert.deepEqual(
    chat.map(({ text }) => text.replace(/^\S+ /, '').split(':')[0]),
    ['Reboot scheduled', 'Freeze scheduled'],
  );
  assert.match(JSON.stringify(chat[0].blocks), /of \\"all\\" &lt;machines&gt;/);
  const own = receiver.requests.filter(({ path }) => path === '/hook/own');
  assert.deepEqual(
    own.map(({ body }) => body.toString()),
    ['{"of":1,"d":1}'],
  );
  const { stdout } = await run(t, ['dead-letters', 'list', '--config', folder.config]);
  const [letter, ...more] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    [letter.sink, letter.reason, letter.status, more.length],
    ['own', 'refused', 'BRIDGE_WEBHOOK_TEMPLATE', 0],
  );
  await bridge.end('SIGTERM');
});
