// Requests with and without proof → who calls, 401 or 503, and the limit on failures.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Authentication, ClientCertificate, Credentials } from '../../../src/auth/caller.ts';
import { Callers } from '../../../src/http/callers.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const CERTIFICATE: ClientCertificate = { exact: ['orders'], dns: [] };
const ORDERS = { kind: 'approver', name: 'orders', via: 'certificate' } as const;

/** Callers of whom one has a certificate and a token, and what was asked of them. */
function fixture(answer?: Authentication) {
  const time = new VirtualTime();
  const asked: Credentials[] = [];
  const authenticate = async (credentials: Credentials): Promise<Authentication> => {
    asked.push(credentials);
    if (answer) return answer;
    const isKnown = credentials.token === 'good' || credentials.certificate !== null;
    return isKnown ? { outcome: 'known', caller: ORDERS } : { outcome: 'nobody', detail: 'Nobody.' };
  };
  const known = { authenticate, hasApprovers: true, isAdmin: () => false };
  const callers = new Callers({ known, requireToken: true, host: '0.0.0.0', deps: time });
  const identify = (
    headers: Readonly<Record<string, string>>,
    certificate: ClientCertificate | null = null,
    address = '192.0.2.1',
  ) => callers.identify({ headers, certificate: () => certificate, address });
  const statusOf = async (...given: Parameters<typeof identify>) => {
    const result = await identify(...given);
    return 'kind' in result ? 200 : result.status;
  };
  return { callers, time, asked, identify, statusOf };
}

test('without an Authorization header the certificate names the caller', async () => {
  const { identify, callers } = fixture();
  assert.deepEqual(await identify({}, CERTIFICATE), ORDERS);
  assert.deepEqual(await identify({ authorization: '' }, CERTIFICATE), ORDERS);
  assert.equal(await callers.refuseReading({ headers: {}, certificate: () => CERTIFICATE, address: '' }), null);
});

test('a certificate does not replace a wrong Authorization header', async () => {
  const { statusOf } = fixture();
  for (const authorization of ['Bearer wrong', 'Basic Zm9v', 'good', 'Bearer'])
    assert.equal(await statusOf({ authorization }, CERTIFICATE), 401);
});

test('X-Forwarded-For, Forwarded and forwarded certificates are ignored: failures count for the connection', async () => {
  const { statusOf, asked } = fixture();
  const headers = (address: number) => ({
    'x-forwarded-for': `198.51.100.${address}`,
    forwarded: `for=198.51.100.${address}`,
    'x-real-ip': `198.51.100.${address}`,
    'x-forwarded-client-cert': 'Subject="CN=orders"',
    'x-client-cert': 'orders',
  });
  for (let failure = 1; failure < 20; failure++) assert.equal(await statusOf(headers(failure)), 401);
  assert.equal(await statusOf(headers(20)), 429);
  assert.ok(asked.every(({ network, certificate }) => network === '192.0.2.1' && certificate === null));
});

test('however many fail from an address, a valid token or certificate from it is taken, and other addresses get their 401', async () => {
  const { statusOf } = fixture();
  for (let failure = 0; failure < 500; failure++) await statusOf({ authorization: 'Bearer wrong' });
  assert.equal(await statusOf({ authorization: 'Bearer wrong' }), 429);
  assert.equal(await statusOf({ authorization: 'Bearer good' }), 200);
  assert.equal(await statusOf({}, CERTIFICATE), 200);
  assert.equal(await statusOf({ authorization: 'Bearer wrong' }, null, '192.0.2.2'), 401);
});

test('the limit is reached by the 20th failure within a minute, and not by valid requests between them', async () => {
  const { statusOf, time } = fixture();
  for (let failure = 1; failure < 20; failure++) {
    assert.equal(await statusOf({}), 401);
    assert.equal(await statusOf({ authorization: 'Bearer good' }), 200);
    await time.advance(3000);
  }
  await time.advance(2999);
  assert.equal(await statusOf({}), 429);
  await time.advance(1);
  assert.equal(await statusOf({}), 401);
});

test('what cannot be judged now is 503 with Retry-After, and no failure of the caller', async () => {
  const { identify, statusOf } = fixture({ outcome: 'unavailable', detail: 'Ask again.', retryAfterSeconds: 5 });
  const reply = await identify({ authorization: 'Bearer a.b.c' });
  assert.ok(!('kind' in reply));
  assert.equal(reply.headers['retry-after'], '5');
  assert.equal(JSON.parse(String(reply.body)).type, 'unavailable');
  for (let request = 0; request < 30; request++) assert.equal(await statusOf({}), 503);
});
