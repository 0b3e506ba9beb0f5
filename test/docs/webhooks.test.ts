// The receivers of docs/operate/webhooks.md → what they make of our deliveries and of forged ones.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { failed } from '../adapters/contract.ts';
import { sampleDelivery } from '../adapters/sample-deliveries.ts';
import { createWebhook } from '../adapters/webhook/start-webhook.ts';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { Program } from '../support/program.ts';
import { writeProgram } from './page-program.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OTHER = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
/** The seed is 32 bytes of 0x07. */
const ED25519 = {
  privateKey: `whsk_${Buffer.alloc(32, 7).toString('base64')}`,
  publicKey: 'whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=',
};
const OTHER_PUBLIC_KEY = 'whpk_KXulZec2jF0Y8HtVsECoiA3BoWy2BfNeilvLJuQJz+I=';
const never = new AbortController().signal;

const noPython = spawnSync('python3', ['--version']).status !== 0 && 'there is no python3';
const PLACE = { page: 'docs/operate/webhooks.md', heading: 'A receiver' };
const RECEIVERS = [
  {
    name: 'the receiver with the standardwebhooks library',
    language: 'js',
    file: 'receiver.mjs',
    command: process.execPath,
    skip: false,
  },
  { name: 'the receiver in Python', language: 'python', file: 'receiver.py', command: 'python3', skip: noPython },
] as const;
type Receiver = (typeof RECEIVERS)[number];

interface Running {
  readonly url: string;
  /** What it printed since it listens. */
  readonly lines: (count: number) => Promise<string[]>;
}

async function run(t: TestContext, { language, file, command }: Receiver): Promise<Running> {
  const main = writeProgram(t, { ...PLACE, language, file });
  const program = new Program([], { node: command, main, env: { HOOK_SECRET: SECRET, PORT: '0' } });
  t.after(() => program.end('SIGKILL'));
  const [listening = ''] = await program.lines(1);
  return {
    url: `http://127.0.0.1:${/^listening on port (\d+)$/.exec(listening)?.[1]}/`,
    lines: async (count) => (await program.lines(1 + count)).slice(1),
  };
}

/** Sinks that post to it, by the secrets they sign with. */
function sinkFor(
  t: TestContext,
  url: string,
  secrets: readonly string[],
  options: Readonly<Record<string, unknown>> = {},
) {
  const names = secrets.map((_, index) => `SECRET_${index}`);
  const values = Object.fromEntries(names.map((name, index) => [name, secrets[index] ?? '']));
  return createWebhook(t, { options: { url, secrets: names.map((env) => ({ env })), ...options }, secrets: values })
    .adapter;
}

for (const receiver of RECEIVERS) {
  test(`${receiver.name} takes structured deliveries and batches, drops repeats by webhook-id, and refuses what is forged or old`, {
    skip: receiver.skip,
  }, async (t) => {
    const { url, lines } = await run(t, receiver);
    const [first, second, third] = [sampleDelivery({ seq: 1 }), sampleDelivery({ seq: 2 }), sampleDelivery({ seq: 3 })];

    const structured = sinkFor(t, url, [OTHER, SECRET]);
    assert.deepEqual(await structured.deliver([first], never), ['accepted']);
    assert.deepEqual(await structured.deliver([first], never), ['accepted'], 'a repeat is accepted and dropped');
    const batch = sinkFor(t, url, [SECRET], { mode: 'batch' });
    assert.deepEqual(await batch.deliver([second, third], never), ['accepted', 'accepted']);
    assert.deepEqual(
      (await lines(3)).map((line) => line.split(' ')),
      [first, second, third].map(({ id }) => [id, 'io.github.scheduled-events-bridge.updated.v1']),
    );

    assert.equal(failed((await sinkFor(t, url, [OTHER]).deliver([first], never))[0]).status, 401);
    assert.equal(
      failed((await createWebhook(t, { options: { url } }).adapter.deliver([first], never))[0]).status,
      401,
      'unsigned',
    );

    await using other = await WebhookReceiver.start();
    await sinkFor(t, other.url, [SECRET]).deliver([sampleDelivery({ seq: 4 })], never);
    const [signed] = other.requests;
    assert.ok(signed);
    const signature: Record<string, string> = Object.fromEntries(
      Object.entries(signed.headers).flatMap(([name, value]) =>
        name.startsWith('webhook-') ? [[name, String(value)]] : [],
      ),
    );
    const replay = async (headers: object, body: Buffer) => {
      const answer = await fetch(url, { method: 'POST', headers: { ...signature, ...headers }, body });
      return answer.status;
    };
    assert.equal(await replay({}, Buffer.concat([signed.body, Buffer.from(' ')])), 401, 'another body');
    assert.equal(await replay({ 'webhook-id': 'another' }, signed.body), 401, 'another id');
    const old = Number(signed.headers['webhook-timestamp']) - 301;
    assert.equal(await replay({ 'webhook-timestamp': String(old) }, signed.body), 401, 'another time');
    assert.equal(await replay({ 'webhook-timestamp': 'now' }, signed.body), 401, 'no time');
    assert.equal(await replay({}, signed.body), 204, 'as it was signed');
    assert.equal((await lines(4)).length, 4);
  });
}

test('the receiver in Node consents to its configured origin, and to no other', async (t) => {
  const [receiver] = RECEIVERS;
  const { url, lines } = await run(t, receiver);
  const known = sinkFor(t, url, [SECRET], { handshake: true, origin: 'bridge.example.com', ratePerMinute: 600 });
  assert.match((await known.check(never)) ?? '', /120/);
  assert.deepEqual(await known.deliver([sampleDelivery()], never), ['accepted']);
  assert.equal(known.limits.perMinute, 120);
  const stranger = sinkFor(t, url, [SECRET], { handshake: true, origin: 'stranger.example.com' });
  assert.equal(
    failed((await stranger.deliver([sampleDelivery({ seq: 2 })], never))[0]).code,
    'BRIDGE_WEBHOOK_NO_CONSENT',
  );
  assert.equal((await lines(1)).length, 1);
});

test('the lines that verify Ed25519 take what was signed with the private key, and nothing else', async (t) => {
  const file = writeProgram(t, { ...PLACE, heading: 'Signatures', language: 'js', file: 'is-signed.mjs' });
  const { isSigned } = (await import(pathToFileURL(file).href)) as {
    isSigned: (publicKey: string, headers: object, body: Buffer) => boolean;
  };

  await using receiver = await WebhookReceiver.start();
  assert.deepEqual(await sinkFor(t, receiver.url, [SECRET, ED25519.privateKey]).deliver([sampleDelivery()], never), [
    'accepted',
  ]);
  const { headers, body } = receiver.requests[0] ?? assert.fail('nothing came');
  assert.equal(isSigned(ED25519.publicKey, headers, body), true);
  assert.equal(isSigned(OTHER_PUBLIC_KEY, headers, body), false, 'of another key');
  assert.equal(isSigned(ED25519.publicKey, headers, Buffer.concat([body, Buffer.from(' ')])), false, 'another body');
  assert.equal(isSigned(ED25519.publicKey, { ...headers, 'webhook-id': 'another' }, body), false, 'another id');
  const old = Number(headers['webhook-timestamp']) - 301;
  assert.equal(
    isSigned(ED25519.publicKey, { ...headers, 'webhook-timestamp': String(old) }, body),
    false,
    'another time',
  );
  for (const missing of ['webhook-timestamp', 'webhook-signature']) {
    assert.equal(isSigned(ED25519.publicKey, { ...headers, [missing]: undefined }, body), false, `no ${missing}`);
  }
  for (const given of ['v1a,', 'v1a', 'v1a,AAAA', String(headers['webhook-signature']).replace('v1a,', 'v2,')]) {
    assert.equal(isSigned(ED25519.publicKey, { ...headers, 'webhook-signature': given }, body), false, given);
  }
});
