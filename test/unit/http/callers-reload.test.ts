// Approvers, a key set that takes its time, and a reload → who a JWT proves to be by then.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import type { Config } from '../../../src/config/config.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { ConfiguredCallers } from '../../../src/http/callers.ts';
import { AUDIENCE, ISSUER, Issuer } from '../../far-sides/token-issuer.ts';
import { surroundings } from '../../support/config.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function configOf(issuer: Issuer, approvers: object): Config {
  const jwt = {
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks: issuer.url,
    allowInsecure: true,
    allowPrivate: ['127.0.0.0/8'],
  };
  const checked = readConfig(
    JSON.stringify({ version: 1, sinks: { audit: { type: 'stdout' } }, approvals: { jwt, approvers } }),
    surroundings(),
  );
  if ('faults' in checked) assert.fail(JSON.stringify(checked.faults));
  return checked.options;
}

/** A JWT of `orders` whose keys are asked for, and not given yet. */
async function pending(t: TestContext, approvers: object) {
  const issuer = await Issuer.start(t);
  const time = new VirtualTime();
  const callers = new ConfiguredCallers(configOf(issuer, approvers), time, pino({ level: 'silent' }));
  const asked = Promise.withResolvers<() => void>();
  issuer.misbehave = (response) => asked.resolve(() => response.end(issuer.keySet()));
  const answer = callers.authenticate({
    token: await issuer.token(time.wallMs()),
    certificate: null,
    network: '127.0.0.1',
  });
  const giveKeys = await asked.promise;
  issuer.misbehave = null;
  const reload = (next: object) => callers.reload(configOf(issuer, next), (path) => path === 'approvals.approvers');
  return { answer, giveKeys, reload };
}

test('an approver that a reload removes while its JWT is verified is not authenticated', async (t) => {
  const { answer, giveKeys, reload } = await pending(t, { orders: { subject: 'orders' } });
  reload({ orders: { subject: 'another' } });
  giveKeys();
  assert.equal((await answer).outcome, 'nobody');
});

test('a subject that a reload gives to another approver while its JWT is verified proves that one', async (t) => {
  const { answer, giveKeys, reload } = await pending(t, { orders: { subject: 'orders' } });
  reload({ billing: { subject: 'orders' } });
  giveKeys();
  assert.deepEqual(await answer, { outcome: 'known', caller: { kind: 'approver', name: 'billing', via: 'jwt' } });
});
