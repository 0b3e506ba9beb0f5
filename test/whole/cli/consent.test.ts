// A webhook that wants to be asked → nothing before its consent, which outlives kill -9.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, hook, startRun, urlOf } from '../../support/running-bridge.ts';

const ORIGIN = 'bridge.example.com';

async function askedReceiver(
  t: TestContext,
): Promise<{ receiver: WebhookReceiver; consent: (headers: Record<string, string>) => void }> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  let given: Record<string, string> = {};
  receiver.default = (response, _socket, { method }) =>
    void response.writeHead(method === 'OPTIONS' ? 200 : 204, given).end();
  const consent = (headers: Record<string, string>) => {
    given = headers;
  };
  return { receiver, consent };
}

test('nothing is delivered before the receiver consents; its consent outlives kill -9, and another configuration asks again', async (t) => {
  const { receiver, consent } = await askedReceiver(t);
  const methods = () => receiver.requests.map(({ method }) => method);
  const azure = await localSimulator(t);
  const asking = hook(`${receiver.url}?code=abc`, { handshake: true, origin: ORIGIN });
  const folder = bridgeFolder(t, azure.url, { sinks: { hooks: asking } });
  const first = await startRun(t, folder);
  await azure.schedule({});
  await poll(() => methods().length >= 2, 'two questions');
  assert.deepEqual(new Set(methods()), new Set(['OPTIONS']));
  const readyz = (await (await fetch(`${urlOf(first)}/readyz`)).json()) as {
    sinks: Record<string, { state: string; reason: string }>;
  };
  assert.equal(readyz.sinks['hooks']?.state, 'misconfigured');
  assert.match(readyz.sinks['hooks']?.reason ?? '', /does not consent to deliveries from bridge\.example\.com/);
  consent({ 'WebHook-Allowed-Origin': ORIGIN.toUpperCase() });
  await poll(() => methods().includes('POST'), 'the delivery');
  assert.equal(receiver.requests.at(-1)?.headers['webhook-request-origin'], ORIGIN);
  assert.equal(receiver.requests.at(-1)?.path, '/hook?code=abc');
  await first.end('SIGKILL');

  const asked = methods().filter((method) => method === 'OPTIONS').length;
  const second = await startRun(t, folder);
  await azure.schedule({});
  // What the killed process could not note any more comes once again.
  const posts = () =>
    new Set(receiver.requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers['webhook-id']))
      .size;
  await poll(() => posts() >= 2, 'the second delivery');
  assert.equal(methods().filter((method) => method === 'OPTIONS').length, asked);
  await second.end('SIGTERM');

  bridgeFolder(
    t,
    azure.url,
    { sinks: { hooks: { ...asking, headers: { 'x-team': 'ops' } } } },
    folder.config.replace(/\/bridge\.yaml$/, ''),
  );
  await startRun(t, folder);
  await azure.schedule({});
  await poll(() => posts() >= 3, 'the third delivery');
  assert.equal(methods().filter((method) => method === 'OPTIONS').length, asked + 1);
});

test('check --connect asks without sending an event, and prints consent and rate', async (t) => {
  const { receiver, consent } = await askedReceiver(t);
  const azure = await localSimulator(t);
  const sinks = { hooks: hook(receiver.url, { handshake: true, origin: ORIGIN, ratePerMinute: 600 }) };
  const { config } = bridgeFolder(t, azure.url, { sinks });
  const refused = await run(t, ['check', '--connect', '--config', config]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /\nsinks\.hooks: sink hooks: http:\/\/127\.0\.0\.1:\d+ does not consent to deliveries from bridge\.example\.com/,
  );
  consent({ 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '60' });
  const { code, stdout, stderr } = await run(t, ['check', '--connect', '--config', config]);
  const lines = `metadata: can be reached\nsinks.hooks: can be reached; it consents to deliveries from ${ORIGIN}, at most 60 a minute\n`;
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: lines, stderr: '' });
  assert.deepEqual(new Set(receiver.requests.map(({ method }) => method)), new Set(['OPTIONS']));
});

test('a handshake without an origin, an origin that is not a name and a rate of zero are faults, each with its path', async (t) => {
  const sinks = {
    asks: { type: 'webhook', url: 'https://example.com/hook', handshake: true },
    names: { type: 'webhook', url: 'https://example.com/hook', origin: 'https://example.com/' },
    limits: { type: 'webhook', url: 'https://example.com/hook', ratePerMinute: 0 },
  };
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks });
  const { code, stderr } = await run(t, ['check', '--config', config]);
  assert.equal(code, 78);
  assert.match(stderr, /sinks\.asks\.origin: is missing: a handshake needs it/);
  assert.match(stderr, /sinks\.names\.origin: must be a DNS name such as bridge\.example\.com/);
  assert.match(stderr, /sinks\.limits\.ratePerMinute: must be a whole number of requests a minute, 1 or more/);
});
