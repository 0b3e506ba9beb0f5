// Signed deliveries → the vectors of Standard Webhooks, and receivers that verify what arrives.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../adapters/adapter.ts';
import { signer } from '../../../adapters/webhook/signing.ts';
import { webhookSink } from '../../../adapters/webhook/webhook.ts';
import { webhookOptions } from '../../../adapters/webhook/webhook-options.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { formatFault } from '../../../src/schema/faults.ts';
import { readWebhookSecret } from '../../../src/secrets/webhook-secret.ts';
import type { Answer, ReceivedRequest } from '../../far-sides/webhook-receiver.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed, openSecrets } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startWebhook } from './start-webhook.ts';

const never = new AbortController().signal;
const FIRST = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const SECOND = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const SHARED = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PRIVATE = `whsk_${Buffer.alloc(32, 7).toString('base64')}`;
const PUBLIC = 'whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=';

const ID = 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled';
const BODY = `{"specversion":"1.0","id":"${ID}","source":"/s","type":"t"}`;
const SIGNED = 'v1,oumUOlZffieipsqfpkgboBoxrBMaoxNP3k1wOD8pZcc=';
const SIGNED_BY_SECOND = 'v1,oNKoEfbqj7wISoLWkx888KTgGB5JphzdO+icXdIBJxU=';
const SIGNED_BY_ED25519 =
  'v1a,O9dkYfTpmG4fwA+bFOkTOSifH79Sp9tTx4hZE2QVPJHdKwxaMXyxfo2zoDMVsRGXiqRLKHCgpzpkU9hPf7RXBw==';

function signedBy(secrets: readonly string[], id: string, timestampS: number, body: string): string | null {
  const keys = secrets.map((text) => {
    const key = readWebhookSecret(text);
    assert.ok(!('fault' in key));
    return key;
  });
  return signer(keys)(id, timestampS, Buffer.from(body));
}

const VECTORS: readonly (readonly [what: string, secrets: readonly string[], body: string, signature: string])[] = [
  ['a body', [FIRST], BODY, SIGNED],
  ['the same body under another secret', [SECOND], BODY, SIGNED_BY_SECOND],
  ['a body in UTF-8', [FIRST], '{"m":"Grüße €😀"}', 'v1,DaFksPCmZGQxQXZQWgk15kTA5s9V46+KYY55TI4o6hA='],
  ['an empty body', [FIRST], '', 'v1,XJnZkQUU0iGak1FA2xjfzUvOXwMsiopASMRVt+DZXqg='],
  ['a body under an Ed25519 key (S-4)', [PRIVATE], BODY, SIGNED_BY_ED25519],
  ['both secrets during a rotation, in their order (S-5)', [FIRST, SECOND], BODY, `${SIGNED} ${SIGNED_BY_SECOND}`],
  ['the other order (S-5)', [SECOND, FIRST], BODY, `${SIGNED_BY_SECOND} ${SIGNED}`],
  ['a secret and a key side by side (S-5)', [FIRST, PRIVATE], BODY, `${SIGNED} ${SIGNED_BY_ED25519}`],
];

for (const [what, secrets, body, signature] of VECTORS) {
  test(`the signature of ${what} matches the known one (S-2, S-3)`, () => {
    assert.equal(signedBy(secrets, ID, 1_776_723_119, body), signature);
  });
}

test("the signature matches the reference libraries' own tests", () => {
  const signature = signedBy([SHARED], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}');
  assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

const variable = (_: unknown, index: number) => ({ env: `S${index}` });
const signing = (...values: readonly string[]) => ({
  options: { secrets: values.map(variable) },
  secrets: Object.fromEntries(values.map((value, index) => [`S${index}`, value])),
});

/** As the page of the library has it, on what came over the wire. Throws where the signature does not hold. */
function verified(secret: string, { body, headers }: ReceivedRequest): unknown {
  const wh = new Webhook(secret);
  return wh.verify(body.toString(), headers as Record<string, string>);
}

/** A receiver that takes what the library verifies, and refuses everything else. */
function verifying(secret: string): Answer {
  return (response, _, request) => {
    try {
      verified(secret, request);
      response.writeHead(204).end();
    } catch {
      response.writeHead(400).end();
    }
  };
}

test('a receiver with the published library accepts the deliveries, and rejects those of another secret', async (t) => {
  for (const mode of ['structured', 'binary', 'batch']) {
    const { options, secrets } = signing(FIRST);
    const { receiver, deliver } = await startWebhook(t, { options: { ...options, mode }, secrets });
    receiver.default = verifying(FIRST);
    assert.equal(await deliver(), 'accepted');
    receiver.default = verifying(SECOND);
    assert.equal(failed(await deliver()).status, 400);
  }
});

for (const mode of ['structured', 'binary', 'batch']) {
  test(`in ${mode} mode the published library accepts id, time and bytes of a delivery unchanged (S-1, S-8)`, async (t) => {
    const { options, secrets } = signing(FIRST);
    const { receiver, deliver } = await startWebhook(t, { options: { ...options, mode }, secrets });
    assert.equal(await deliver(), 'accepted');
    const [request] = receiver.requests;
    assert.ok(request);
    assert.deepEqual(verified(FIRST, request), JSON.parse(request.body.toString()));
    assert.throws(() => verified(SECOND, request), /No matching signature/);
    assert.throws(
      () => verified(FIRST, { ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }),
      /No matching signature/,
    );
    assert.throws(
      () => verified(FIRST, { ...request, headers: { ...request.headers, 'webhook-id': 'another' } }),
      /No matching signature/,
    );
    assert.match(String(request.headers['webhook-timestamp']), /^\d{10}$/);
  });
}

test('a receiver of either secret accepts a delivery during a rotation (S-5)', async (t) => {
  const { options, secrets } = signing(SECOND, FIRST);
  const { receiver, deliver } = await startWebhook(t, { options, secrets });
  assert.equal(await deliver(), 'accepted');
  const [request] = receiver.requests;
  assert.ok(request);
  for (const secret of [FIRST, SECOND]) verified(secret, request);
  assert.throws(() => verified(SHARED, request), /No matching signature/);
});

test('a receiver that supports only v1 skips v1a (S-8)', async (t) => {
  const { options, secrets } = signing(PRIVATE, FIRST);
  const { receiver, deliver } = await startWebhook(t, { options, secrets });
  assert.equal(await deliver(), 'accepted');
  const [request] = receiver.requests;
  assert.ok(request);
  assert.match(String(request.headers['webhook-signature']), /^v1a,\S+ v1,\S+$/);
  verified(FIRST, request);
});

test('a receiver with only the public key verifies v1a (S-4)', async (t) => {
  const { options, secrets } = signing(PRIVATE);
  const { receiver, deliver } = await startWebhook(t, { options, secrets });
  assert.equal(await deliver(), 'accepted');
  const [request] = receiver.requests;
  assert.ok(request);
  const { headers, body } = request;
  const [version, signature = ''] = String(headers['webhook-signature']).split(',');
  assert.equal(version, 'v1a');
  const x = Buffer.from(PUBLIC.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body]);
  assert.ok(verify(null, signed, key, Buffer.from(signature, 'base64')));
});

test('each attempt has a new time and signature over the same id and bytes (S-6)', async (t) => {
  const time = new VirtualTime();
  const { options, secrets } = signing(FIRST);
  const { receiver, deliver } = await startWebhook(t, { options, secrets, time });
  receiver.next({ status: 503 });
  await deliver();
  await time.advance(1_700);
  await deliver();
  const [first, second] = receiver.requests;
  assert.deepEqual(first?.body, second?.body);
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  const times = [first, second].map((request) => Number(request?.headers['webhook-timestamp']));
  const nowS = Math.floor(time.wallMs() / 1000);
  assert.equal(times[1], nowS);
  assert.ok((times[0] ?? nowS) < nowS);
  assert.notEqual(first?.headers['webhook-signature'], second?.headers['webhook-signature']);
});

test('without secrets a delivery has an id, but neither time nor signature', async (t) => {
  const { receiver, deliver } = await startWebhook(t);
  assert.equal(await deliver(), 'accepted');
  const names = Object.keys(receiver.requests[0]?.headers ?? {}).filter((name) => name.startsWith('webhook-'));
  assert.deepEqual(names, ['webhook-id']);
});

test('no id of a delivery or batch has a dot (S-7)', async (t) => {
  for (const mode of ['structured', 'binary', 'batch']) {
    const { receiver, adapter } = await startWebhook(t, { options: { mode } });
    assert.deepEqual(await adapter.deliver([sampleDelivery()], never), ['accepted']);
    assert.match(String(receiver.requests[0]?.headers['webhook-id']), /^[0-9a-z_:-]+$/);
  }
});

test('secretFaults names the path of each invalid secret, and shows none', () => {
  const parsed = v.parse(webhookOptions, {
    url: 'https://example.com',
    secrets: [{ env: 'A' }, { env: 'B' }, { env: 'C' }],
  });
  openSecrets(parsed, { A: 'hidden', B: FIRST, C: 'whsec_aGlkZGVu' });
  const faults = webhookSink.secretFaults?.(parsed) ?? [];
  assert.deepEqual(
    faults.map(({ key }) => key),
    ['secrets[0]', 'secrets[2]'],
  );
  assert.doesNotMatch(JSON.stringify(faults), /hidden|aGlkZGVu/);
});

test('a configuration with an invalid secret has a fault at its path, without the value', () => {
  const yaml =
    'version: 1\nsinks: { hooks: { type: webhook, url: "https://example.com", secrets: [{ env: OLD }, { file: new }] } }';
  const around = {
    adapters: [webhookSink as AdapterDefinition<unknown>],
    env: { OLD: FIRST },
    readFile: () => 'whsec_aGlkZGVu\n',
    directory: '/',
  };
  const checked = readConfig(yaml, around);
  const faults = 'faults' in checked ? checked.faults.map(formatFault) : [];
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? '', /^sinks\.hooks\.secrets\[1\]: must have .*bytes after whsec_/);
  assert.doesNotMatch(faults.join(), /aGlkZGVu/);
});
