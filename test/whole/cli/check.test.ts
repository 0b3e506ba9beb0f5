// `check`, and bad configurations of any verb → every fault with its path; what can be reached.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, hook } from '../../support/running-bridge.ts';

const BAD = `
version: 1
metadata: { endpoint: "http://127.0.0.1:1", pollIntervall: 1s, timeout: soon }
store: { path: store, retain: 0s }
sinks:
  hooks: { type: webhook, url: "ftp://example.com", mode: bulk }
  birds: { type: pigeon }
approvals:
  approvers: { orders: { token: { env: NO_SUCH_TOKEN } } }
`;
const FAULTY_PATHS = [
  'metadata.pollIntervall',
  'metadata.timeout',
  'store.retain',
  'sinks.hooks.url',
  'sinks.hooks.mode',
  'sinks.birds.type',
  'approvals.approvers.orders.token',
];

function badConfig(t: TestContext): string {
  const file = join(folderOf(t), 'bridge.yaml');
  writeFileSync(file, BAD);
  return file;
}

const WITH_CONFIG = [['check'], ['run'], ['dead-letters', 'list'], ['replay', '--sink', 'hooks', '--since', '1h']];

for (const args of WITH_CONFIG) {
  test(`\`${args.join(' ')}\` with a bad configuration names every fault with its path and exits with 78`, async (t) => {
    const { code, stdout, stderr } = await run(t, [...args, '--config', badConfig(t)]);
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
    for (const path of FAULTY_PATHS)
      assert.ok(stderr.includes(`\n  ${path}: `) || stderr.includes(`\n  ${path}.`), `${path} in ${stderr}`);
    assert.match(stderr, /did you mean pollInterval\?/);
  });

  test(`\`${args.join(' ')}\` with a configuration that cannot be read names the file and exits with 78`, async (t) => {
    const file = join(folderOf(t), 'missing.yaml');
    const { code, stdout, stderr } = await run(t, [...args, '--config', file]);
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
    assert.ok(stderr.includes(`${file} cannot be read`), stderr);
  });
}

test('check reports that a good configuration is valid, and sends no request', async (t) => {
  const simulator = await localSimulator(t);
  const { config } = bridgeFolder(t, simulator.url, { sinks: { audit: { type: 'stdout' } } });
  const { code, stdout, stderr } = await run(t, ['check', '--config', config]);
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 0, stdout: `${config}: the configuration is valid\n`, stderr: '' },
  );
  assert.deepEqual(simulator.requests(), []);
});

test('check finds what only an adapter can find: a secret URL that is not a URL', async (t) => {
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', {
    sinks: { hooks: { type: 'webhook', url: { env: 'HOOK_URL' } } },
  });
  const { code, stderr } = await run(t, ['check', '--config', config], { env: { HOOK_URL: 'not-a-url-but-a-secret' } });
  assert.equal(code, 78);
  assert.match(stderr, /sinks\.hooks\.url/);
  assert.doesNotMatch(stderr, /not-a-url-but-a-secret/);
});

test('check --schema prints a JSON Schema that takes a good configuration and refuses a misspelt key', async (t) => {
  const { code, stdout, stderr } = await run(t, ['check', '--schema']);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const validate = new Ajv({ strict: false }).compile(JSON.parse(stdout));
  assert.equal(validate({ version: 1, sinks: { audit: { type: 'stdout' } } }), true, JSON.stringify(validate.errors));
  assert.equal(validate({ version: 1, sinkz: {} }), false);
});

test('check --connect reaches the metadata service and each sink without sending an event', async (t) => {
  const simulator = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  const { config } = bridgeFolder(t, simulator.url, {
    sinks: { audit: { type: 'stdout' }, hooks: hook(receiver.url) },
  });
  const { code, stdout, stderr } = await run(t, ['check', '--connect', '--config', config]);
  const lines = 'metadata: can be reached\nsinks.audit: can be reached\nsinks.hooks: can be reached\n';
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: lines, stderr: '' });
  assert.equal(receiver.connections, 1);
  assert.deepEqual(receiver.requests, []);
});

test('check --connect names what cannot be reached, checks the rest too, and exits with 1', async (t) => {
  const simulator = await localSimulator(t);
  simulator.fault({ status: 403 });
  await using receiver = await WebhookReceiver.start();
  const closed = await closedPort();
  const sinks = { gone: hook(`http://127.0.0.1:${closed}/hook`), hooks: hook(receiver.url) };
  const { config } = bridgeFolder(t, simulator.url, { sinks });
  const { code, stdout } = await run(t, ['check', '--connect', '--config', config]);
  assert.equal(code, 1);
  assert.match(stdout, /^metadata: .*403.*\nsinks\.gone: .*ECONNREFUSED.*\nsinks\.hooks: can be reached\n$/);
});

/** Of a server that was and is no more. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
