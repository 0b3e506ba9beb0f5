// Standard Webhooks secrets as people keep them → keys, or faults that show none of their value.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import test from 'node:test';
import {
  ed25519Secret,
  publicKeyOf,
  readWebhookSecret,
  type SigningKey,
  symmetricSecret,
} from '../../../src/secrets/webhook-secret.ts';

const SEED = Buffer.alloc(32, 7);
/** Of that seed (wire formats, 2.2). */
const PUBLIC = 'whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=';

function read(text: string): SigningKey {
  const key = readWebhookSecret(text);
  assert.ok(!('fault' in key), JSON.stringify(key));
  return key;
}

test('whsec_ and base64 of 24 to 64 bytes is a symmetric key (S-3)', () => {
  for (const length of [24, 32, 33, 64]) {
    const bytes = Buffer.alloc(length, 0xfb);
    const { version, key } = read(symmetricSecret(bytes));
    assert.equal(version, 'v1');
    assert.deepEqual(key.export(), bytes);
  }
});

test('whsk_ with a seed, or with a seed and its public key, is the same private key (S-4)', () => {
  const publicBytes = Buffer.from(PUBLIC.slice('whpk_'.length), 'base64');
  const both = `whsk_${Buffer.concat([SEED, publicBytes]).toString('base64')}`;
  for (const text of [ed25519Secret(SEED), both]) {
    const { version, key } = read(text);
    assert.equal(version, 'v1a');
    assert.equal(publicKeyOf(key), PUBLIC);
    assert.deepEqual(sign(null, Buffer.from('x'), key), sign(null, Buffer.from('x'), read(ed25519Secret(SEED)).key));
  }
});

test('an Ed25519 private key in PEM is read, even with Windows line ends and text around it', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  for (const text of [pem, pem.trimEnd(), `\n${pem}`, pem.replaceAll('\n', '\r\n')]) {
    assert.equal(publicKeyOf(read(text).key), `whpk_${raw}`);
  }
});

const pemOf = (type: 'rsa' | 'ec') =>
  (type === 'rsa'
    ? generateKeyPairSync('rsa', { modulusLength: 1024 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  ).privateKey.export({
    format: 'pem',
    type: 'pkcs8',
  }) as string;
const ed = generateKeyPairSync('ed25519');
const encrypted = ed.privateKey.export({
  format: 'pem',
  type: 'pkcs8',
  cipher: 'aes-256-cbc',
  passphrase: 'x',
}) as string;
const publicPem = ed.publicKey.export({ format: 'pem', type: 'spki' }) as string;

const FAULTS: readonly (readonly [what: string, text: string, says: RegExp])[] = [
  ['no prefix', Buffer.alloc(32, 1).toString('base64'), /whsec_ or whsk_.*secret` creates one/],
  ['another prefix', 'whxxx_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB', /whsec_ or whsk_/],
  ['a prefix in upper case', 'WHSEC_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB', /whsec_ or whsk_/],
  ['nothing behind the prefix', 'whsec_', /24 to 64 bytes .*not 0/],
  ['23 bytes', symmetricSecret(Buffer.alloc(23, 1)), /24 to 64 bytes .*not 23/],
  ['65 bytes', symmetricSecret(Buffer.alloc(65, 1)), /24 to 64 bytes .*not 65/],
  ['no base64', 'whsec_not base64 at all, but long enough!', /base64/],
  ['base64 without its padding', `whsec_${Buffer.alloc(32, 1).toString('base64').replace('=', '')}`, /padded/],
  ['base64 for URLs', `whsec_${Buffer.alloc(33, 0xff).toString('base64url')}`, /standard alphabet/],
  ['a space behind it', `${symmetricSecret(Buffer.alloc(32, 1))} `, /without spaces/],
  ['two lines', `${symmetricSecret(Buffer.alloc(32, 1))}\n${symmetricSecret(Buffer.alloc(32, 2))}`, /line ends/],
  ['a seed of 31 bytes', ed25519Secret(Buffer.alloc(31, 7)), /32 bytes .*64 .*not 31/],
  ['a whsk_ that is no base64', 'whsk_*', /base64/],
  [
    'a public key that is not of its seed',
    `whsk_${Buffer.concat([SEED, SEED]).toString('base64')}`,
    /does not match its seed/,
  ],
  ['a public key', PUBLIC, /is a public key.*belongs to the receiver/],
  ['an RSA key', pemOf('rsa'), /Ed25519/],
  ['a key of another curve', pemOf('ec'), /Ed25519/],
  ['an encrypted key', encrypted, /unencrypted/],
  ['a public key in PEM', publicPem, /private key/],
  ['PEM with nothing in it', '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n', /is not a private key/],
  ['PEM that is cut', '-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n', /is not a private key/],
];

for (const [what, text, says] of FAULTS) {
  test(`a secret with ${what} is a fault that does not show it`, () => {
    const made = readWebhookSecret(text);
    assert.ok('fault' in made);
    assert.match(made.fault, says);
    const value = text.replace(/^wh\w+?_/, '').trim();
    if (value.length > 4) assert.ok(!made.fault.includes(value));
  });
}
