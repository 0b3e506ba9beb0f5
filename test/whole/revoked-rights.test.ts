// Requests that are cut at any byte while a right is revoked → 401, 403 or 429, and no change.
// REVOKED_RIGHTS_RUNS says how many (40 by default), REVOKED_RIGHTS_SEED repeats what was said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type RevocableBridge, revocableBridge } from './revoked-rights/bridge.ts';

const RUNS = Number(process.env['REVOKED_RIGHTS_RUNS'] ?? 40);
const SEED = Number(process.env['REVOKED_RIGHTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** The status of who may. */
  readonly allowed: number;
  readonly losses: readonly Loss[];
}

const ALL = ['token', 'approver', 'reader'] as const;
type Loss = (typeof ALL)[number] | 'scope' | 'admin';
const OF_ADMINS: readonly Loss[] = [...ALL, 'admin'];

/** Every route that changes something, for an event that `orders` holds or not. */
function attempts(eventId: string): readonly Attempt[] {
  const letters = { sink: 'audit', ids: ['unknown'] };
  return [
    {
      method: 'POST',
      path: '/v1/approvals',
      body: { StartRequests: [{ EventId: eventId }] },
      allowed: 200,
      losses: [...ALL, 'scope'],
    },
    {
      method: 'POST',
      path: '/v1/holds',
      body: { EventId: eventId, reason: 'backup' },
      allowed: 201,
      losses: [...ALL, 'scope'],
    },
    { method: 'DELETE', path: `/v1/holds/${eventId}`, allowed: 204, losses: ALL },
    { method: 'POST', path: '/v1/sinks/audit/pause', allowed: 200, losses: OF_ADMINS },
    { method: 'POST', path: '/v1/sinks/audit/resume', allowed: 200, losses: OF_ADMINS },
    { method: 'POST', path: '/v1/dead-letters/retry', body: letters, allowed: 404, losses: OF_ADMINS },
    { method: 'POST', path: '/v1/dead-letters/discard', body: letters, allowed: 404, losses: OF_ADMINS },
    { method: 'POST', path: '/v1/drills', body: { force: true, notice: '1h' }, allowed: 201, losses: OF_ADMINS },
    { method: 'DELETE', path: '/v1/drills/00000000-0000-4000-8000-000000000001', allowed: 404, losses: OF_ADMINS },
    { method: 'POST', path: '/v1/reload', allowed: 200, losses: OF_ADMINS },
  ];
}

const attempt = fc.record({
  route: fc.nat(attempts('').length - 1),
  loss: fc.option(fc.nat(9), { freq: 6, nil: null }),
  /** How much of the request is sent before the right is revoked. */
  share: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
});

async function play(
  bridge: RevocableBridge,
  { route, loss, share }: typeof attempt extends fc.Arbitrary<infer A> ? A : never,
) {
  const eventId = await bridge.schedule();
  const chosen = attempts(eventId)[route];
  assert.ok(chosen);
  if (chosen.method === 'DELETE') await bridge.ask('POST', '/v1/holds', { EventId: eventId, reason: 'backup' });
  const before = await bridge.shown(eventId);
  const revoked = loss === null ? null : (chosen.losses[loss % chosen.losses.length] ?? null);
  const status = await bridge.askInParts(chosen, share, async () => {
    if (revoked !== null) await bridge.revoke(revoked);
  });
  const what = `${chosen.method} ${chosen.path} after ${revoked} was revoked at ${share}`;
  if (revoked === null) assert.equal(status, chosen.allowed, what);
  else {
    assert.ok([401, 403, 429].includes(status), `${what}: ${status}`);
    assert.deepEqual(await bridge.shown(eventId), before, what);
    await bridge.restore();
  }
}

test('if any right is revoked before the last byte of a request, the request changes nothing', async (t) => {
  t.diagnostic(`REVOKED_RIGHTS_SEED=${SEED}`);
  const bridge = await revocableBridge(t);
  await fc.assert(
    fc.asyncProperty(attempt, (given) => play(bridge, given)),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  assert.deepEqual(bridge.errors, []);
});
