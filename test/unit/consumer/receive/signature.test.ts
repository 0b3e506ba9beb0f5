// Signed deliveries, valid or not → accepted or 401, by the vectors of Standard Webhooks and more.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ConsumerError } from '../../../../src/consumer/consumer-error.ts';
import { signatureVerifier } from '../../../../src/consumer/receive/signature.ts';
import { OTHER_SECRET, SECRET } from '../deliveries.ts';

const ID = 'c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled';
const TIMESTAMP = 1_776_723_119;
const BODY = '{"specversion":"1.0","id":"c7061bac-afdc-4513-b24b-aa5f13a16123:scheduled","source":"/s","type":"t"}';
const SIGNATURE = 'v1,oumUOlZffieipsqfpkgboBoxrBMaoxNP3k1wOD8pZcc=';
const OTHER_SIGNATURE = 'v1,oNKoEfbqj7wISoLWkx888KTgGB5JphzdO+icXdIBJxU=';
const PUBLIC_KEY = 'whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=';
const ED25519 = 'v1a,O9dkYfTpmG4fwA+bFOkTOSifH79Sp9tTx4hZE2QVPJHdKwxaMXyxfo2zoDMVsRGXiqRLKHCgpzpkU9hPf7RXBw==';

interface Attempt {
  readonly secrets?: readonly string[];
  readonly id?: string | null;
  readonly timestamp?: number | string | null;
  readonly signature?: string | null;
  readonly body?: string;
  /** Seconds from the timestamp of the vectors to now. */
  readonly lateS?: number;
}

/**
 * Returns the id of an accepted delivery.
 * @throws ConsumerError
 */
function verify({
  secrets = [SECRET],
  id = ID,
  timestamp = TIMESTAMP,
  signature = SIGNATURE,
  body = BODY,
  lateS = 0,
}: Attempt): string {
  const clock = { wallMs: () => (TIMESTAMP + lateS) * 1000 };
  const headers: Record<string, string | null> = {
    'webhook-id': id,
    'webhook-timestamp': timestamp === null ? null : String(timestamp),
    'webhook-signature': signature,
  };
  return signatureVerifier({ secrets, toleranceMs: 300_000 }, clock)(
    (name) => headers[name] ?? null,
    Buffer.from(body),
  );
}

const GOOD: readonly [string, Attempt][] = [
  ['the worked example', {}],
  ['the second key', { secrets: [OTHER_SECRET], signature: OTHER_SIGNATURE }],
  [
    'a body with non-ASCII characters',
    { body: '{"m":"Grüße €😀"}', signature: 'v1,DaFksPCmZGQxQXZQWgk15kTA5s9V46+KYY55TI4o6hA=' },
  ],
  ['an empty body', { body: '', signature: 'v1,XJnZkQUU0iGak1FA2xjfzUvOXwMsiopASMRVt+DZXqg=' }],
  ['Ed25519', { secrets: [PUBLIC_KEY], signature: ED25519 }],
  [
    'the test data of the reference libraries',
    {
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      lateS: 1_614_265_330 - TIMESTAMP,
      body: '{"test": 2432232314}',
      signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  ],
  ['one valid signature among others', { signature: `v2,xxxx v1,AAAA ${OTHER_SIGNATURE} ${SIGNATURE}` }],
  ['a valid signature after 31 others', { signature: `${'v1,AAAA '.repeat(31)}${SIGNATURE}` }],
  ['the old secret or the new one', { secrets: [OTHER_SECRET, SECRET] }],
  ['a timestamp 300 s old', { lateS: 300 }],
  ['a timestamp 300 s ahead', { lateS: -300 }],
];

for (const [what, attempt] of GOOD) {
  test(`${what} is accepted`, () => assert.equal(verify(attempt), attempt.id ?? ID));
}

const BAD: readonly [string, Attempt][] = [
  ['another body', { body: `${BODY} ` }],
  ['another id', { id: `${ID}:r2` }],
  ['another timestamp', { timestamp: TIMESTAMP + 1 }],
  ['another secret', { secrets: [OTHER_SECRET] }],
  ['a signature of another version', { signature: SIGNATURE.replace('v1', 'v1a') }],
  ['a signature cut short', { signature: SIGNATURE.slice(0, 20) }],
  ['a signature without its version', { signature: SIGNATURE.slice(3) }],
  ['an Ed25519 signature of another body', { secrets: [PUBLIC_KEY], signature: ED25519, body: '' }],
  ['a v1 signature with a public key', { secrets: [PUBLIC_KEY] }],
  ['a timestamp 301 s old', { lateS: 301 }],
  ['a timestamp 301 s ahead', { lateS: -301 }],
  ['a timestamp that is not a number', { timestamp: 'now' }],
  ['a timestamp with a fraction', { timestamp: `${TIMESTAMP}.5` }],
  ['no id', { id: null }],
  ['no timestamp', { timestamp: null }],
  ['no signature', { signature: null }],
  ['an empty signature', { signature: '' }],
  ['a valid signature after more than a sink makes', { signature: `${'v1,AAAA '.repeat(32)}${SIGNATURE}` }],
];

for (const [what, attempt] of BAD) {
  test(`${what} is refused, and the message shows no secret and no signature`, () => {
    assert.throws(
      () => verify(attempt),
      (error: unknown) => {
        assert.ok(error instanceof ConsumerError && error.code === 'unauthorized', String(error));
        assert.doesNotMatch(error.message, /whsec|oumUO|MDEy/);
        return true;
      },
    );
  });
}

for (const [what, secret, message] of [
  ['an unknown prefix', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', /must be whsec_/],
  ['too few bytes', 'whsec_c2hvcnQ=', /24 to 64 bytes/],
  ['text that is not base64', 'whsec_not base64', /base64/],
  ['a private key', `whsk_${Buffer.alloc(32, 7).toString('base64')}`, /whpk_/],
  ['a public key cut short', 'whpk_6kpsYKcUgq', /32 bytes/],
] as const) {
  test(`a secret with ${what} is refused at the start, and not shown`, () => {
    assert.throws(
      () => verify({ secrets: [secret] }),
      (error: unknown) => {
        assert.ok(error instanceof ConsumerError && error.code === 'usage', String(error));
        assert.match(error.message, message);
        assert.ok(!error.message.includes(secret.slice(6)));
        return true;
      },
    );
  });
}
