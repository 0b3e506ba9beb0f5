// A server on loopback, a sink's options → what its HTTP client gets, and its failures in words.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { connectionEntries } from '../../../../adapters/http/connections.ts';
import { HttpClient } from '../../../../adapters/http/http-client.ts';
import { httpChecks, httpEntries, httpTarget } from '../../../../adapters/http/http-options.ts';
import { oauthEntries } from '../../../../adapters/http/oauth/oauth-options.ts';
import { adapterDeps } from '../../../adapters/adapter-deps.ts';
import { WebhookReceiver } from '../../../far-sides/webhook-receiver.ts';
import { poll } from '../../../support/poll.ts';

const never = new AbortController().signal;
const schema = v.pipe(v.strictObject({ ...httpEntries, ...connectionEntries, ...oauthEntries }), httpChecks());

async function started(t: TestContext, more: Readonly<Record<string, unknown>> = {}) {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const options = v.parse(schema, { url: receiver.url, allowInsecure: true, allowPrivate: ['127.0.0.0/8'], ...more });
  const deps = adapterDeps();
  const http = new HttpClient(options, { target: httpTarget(options, deps.name), inFlight: 2, deps });
  t.after(() => http.close());
  return { receiver, http };
}

test('exchange returns the body of an answer too, or null if it is longer than allowed', async (t) => {
  const { receiver, http } = await started(t);
  receiver.default = { status: 200, body: '{"errors":true}' };
  const ask = (most: number) =>
    http.attempt(never, (limited) => http.exchange({ method: 'POST', headers: {}, body: 'x' }, most, limited));
  const { status, body } = await ask(15);
  assert.deepEqual([status, body?.toString()], [200, '{"errors":true}']);
  assert.equal((await ask(14)).body, null);
});

test('the configured headers go along, and those of the request come before them', async (t) => {
  const { receiver, http } = await started(t, { headers: { 'X-Team': 'ops', 'X-Kind': 'configured' } });
  await http.attempt(never, (limited) =>
    http.send({ method: 'POST', headers: { 'x-kind': 'own' }, body: 'x' }, limited),
  );
  const { headers } = receiver.requests[0] ?? assert.fail('no request');
  assert.deepEqual(
    [headers['x-team'], headers['x-kind'], headers['user-agent']],
    ['ops', 'own', 'scheduled-events-bridge'],
  );
});

test('what fails in an attempt comes out as a BridgeError; an abort with its reason', async (t) => {
  const { receiver, http } = await started(t, { timeout: '50ms' });
  receiver.default = 'hang';
  const send = (limited: AbortSignal) => http.send({ method: 'POST', headers: {}, body: 'x' }, limited);
  await assert.rejects(http.attempt(never, send), { code: 'BRIDGE_SINK_TIMEOUT', disposition: 'retry' });
  const controller = new AbortController();
  const aborted = assert.rejects(http.attempt(controller.signal, send), (reason) => reason === 'enough');
  controller.abort('enough');
  await aborted;
  receiver.default = { status: 403 };
  const refused = http.attempt(never, async (limited) => http.accept(await send(limited)));
  await assert.rejects(refused, {
    code: 'BRIDGE_SINK_MISCONFIGURED',
    message: /^sink under-test: http:.* answered 403: check the credentials/,
  });
});

test('a touch connects and sends nothing; closing leaves no connection', async (t) => {
  const { receiver, http } = await started(t);
  await http.attempt(never, (limited) => http.touch(limited));
  assert.deepEqual([receiver.connections, receiver.requests.length], [1, 0]);
  await http.attempt(never, (limited) => http.send({ method: 'POST', headers: {}, body: 'x' }, limited));
  http.close();
  await poll(() => receiver.open === 0, 'the connections to close');
});

test('an http:// url without allowInsecure, and oauth2 beside an authorization header, are faults of their keys', () => {
  const oauth2 = { tokenUrl: 'http://login.test/token', clientId: 'me', clientSecret: { env: 'SECRET' } };
  const { issues = [] } = v.safeParse(schema, { url: 'http://hooks.test/', headers: { Authorization: 'x' }, oauth2 });
  assert.deepEqual(issues.map((issue) => v.getDotPath(issue)).sort(), ['headers', 'oauth2.tokenUrl', 'url']);
});
