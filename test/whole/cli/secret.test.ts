// `secret` → secrets and key pairs that the configuration takes, and the public key of one.
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readWebhookSecret } from '../../../src/secrets/webhook-secret.ts';
import { folderOf } from '../../support/folder.ts';
import { run } from '../../support/program.ts';

const CHECKED = 'sinks: { hooks: { type: webhook, url: "https://example.com/", secrets: [{ file: hook.secret }] } }';

test('secret prints one line: whsec_ and 32 bytes, others each time, good for the configuration as it is', async (t) => {
  const [one, other] = await Promise.all([run(t, ['secret']), run(t, ['secret'])]);
  assert.deepEqual([one.code, one.stderr], [0, '']);
  assert.match(one.stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
  assert.notEqual(one.stdout, other.stdout);
  const folder = folderOf(t);
  const config = join(folder, 'bridge.yaml');
  writeFileSync(config, `version: 1\n${CHECKED}\n`);
  writeFileSync(join(folder, 'hook.secret'), one.stdout);
  const { code, stderr } = await run(t, ['check', '--config', config]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

test('secret --type ed25519 prints a matching key pair', async (t) => {
  const { code, stdout, stderr } = await run(t, ['secret', '--type', 'ed25519']);
  assert.deepEqual([code, stderr], [0, '']);
  const { privateKey, publicKey, ...more } = JSON.parse(stdout);
  assert.deepEqual(more, {});
  const signing = readWebhookSecret(privateKey);
  assert.ok(!('fault' in signing) && signing.version === 'v1a');
  const raw = createPublicKey(signing.key).export({ format: 'der', type: 'spki' }).subarray(-32);
  assert.equal(publicKey, `whpk_${raw.toString('base64')}`);
  const file = join(folderOf(t), 'hook.key');
  writeFileSync(file, `${privateKey}\n`);
  assert.equal((await run(t, ['secret', '--public', file])).stdout, `${publicKey}\n`);
});

test('secret --public prints the public key of a key in PEM', async (t) => {
  const pair = generateKeyPairSync('ed25519');
  const file = join(folderOf(t), 'hook.pem');
  writeFileSync(file, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const raw = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const { code, stdout } = await run(t, ['secret', '--public', file]);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: `whpk_${raw.toString('base64')}\n` });
});

test('secret --public reports the fault of a file without showing its content', async (t) => {
  const file = join(folderOf(t), 'hook.secret');
  for (const [text, says] of [
    [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, /shared secret, which has no public key/],
    ['hidden', /must be whsec_ or whsk_/],
    ['', /is empty/],
  ] as const) {
    writeFileSync(file, text);
    const { code, stdout, stderr } = await run(t, ['secret', '--public', file]);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, says);
    assert.ok(text === '' || !stderr.includes(text));
  }
});
