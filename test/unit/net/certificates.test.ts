// PEM texts → the certificate that expires first.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { firstToExpire } from '../../../src/net/certificates.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/certificates/${name}`, import.meta.url), 'utf8');
const LOCALHOST = { subject: 'CN=localhost', expiresAtMs: Date.parse('2126-10-28T12:19:22Z') };

test('the certificate of a file that expires first counts, beside a private key too', () => {
  assert.deepEqual(firstToExpire(PRIVATE_KEY + CERTIFICATE), LOCALHOST);
  assert.deepEqual(firstToExpire(fixture('application-1.pem') + CERTIFICATE), LOCALHOST);
});

test('of certificates with the same subject, the one that expires last counts', () => {
  const [one, two] = [fixture('application-1.pem'), fixture('application-2.pem')].map((pem) => firstToExpire(pem));
  assert.ok(one != null && two != null && one.subject === two.subject, 'the fixtures have one subject');
  const both = firstToExpire(fixture('application-1.pem') + fixture('application-2.pem'));
  assert.equal(both?.expiresAtMs, Math.max(one.expiresAtMs, two.expiresAtMs));
});

test('a text without a readable certificate has no expiry', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  assert.deepEqual([firstToExpire(PRIVATE_KEY), firstToExpire(broken), firstToExpire('')], [null, null, null]);
});
