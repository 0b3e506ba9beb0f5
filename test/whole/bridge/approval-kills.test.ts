// kill -9 at each step of an approval → none is lost, and none posted for what is not Scheduled.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sleep } from '../../../src/time/clock.ts';
import {
  ALL,
  ANY,
  approve,
  heard,
  life,
  order,
  posts,
  SHARED,
  slowAnswers,
  statuses,
  watching,
} from '../../virtual/posting-fixture.ts';
import { MINUTE, SECOND, type VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** As virtual-bridge.ts names it; its `request` reads a body, which a release has not. */
const BILLING = 'token-of-the-billing-service';

/**
 * What the process was doing when it was killed, what is posted by the next one where the event waits, and what is said
 * where it does not.
 */
const KILLED: readonly (readonly [
  string,
  (bridge: VirtualBridge, eventId: string) => Promise<unknown>,
  object,
  number,
  string,
])[] = [
  ['while one of two approvals was recorded', (bridge, eventId) => approve(bridge, 'orders', eventId), ALL, 0, 'moot'],
  ['while it was decided and the service away', refusedForNow, ANY, 1, 'unknown'],
  ['while its StartRequest was on the way', lostOnTheWay, ANY, 1, 'unknown'],
  ['after it was submitted', accepted, ANY, 0, 'submitted'],
  ['while a hold stood', held, ANY, 0, 'moot'],
];

for (const [when, live, approvals, again, passedBy] of KILLED) {
  for (const fate of ['stays Scheduled', 'starts', 'is cancelled'] as const) {
    test(`killed ${when}, and the event ${fate}: nothing is lost, and nothing is posted for what is not Scheduled`, async (t) => {
      const { bridge, eventId } = await watching(t, approvals);
      const { service } = bridge;
      await live(bridge, eventId);
      await killOnTheWay(bridge);
      bridge.service = service;
      order(bridge, {});
      const before = posts(bridge).length;
      if (fate === 'starts') bridge.simulation.order('POST', `/events/${eventId}/start`);
      if (fate === 'is cancelled') bridge.simulation.order('POST', `/events/${eventId}/cancel`);
      await bridge.startFor(MINUTE);
      assert.equal(posts(bridge).length - before, fate === 'stays Scheduled' ? again : 0);
      const { approvedBy, steps, state } = await life(bridge, eventId);
      if (fate !== 'stays Scheduled')
        assert.equal(state, fate === 'starts' && passedBy === 'submitted' ? 'confirmed' : passedBy);
      assert.deepEqual(approvedBy, ['orders']);
      assert.equal(steps.filter(({ step }) => step === 'recorded').length, 1, 'one record over the kill');
      const submitted = bridge.sink('audit').changes.filter((change) => change === 'approval.submitted');
      assert.equal(submitted.length, steps.filter(({ step }) => step === 'submitted').length);
      assert.ok(submitted.length <= 1);
    });
  }
}

test('killed between two approvals: the first one counts, and the second one starts the event', async (t) => {
  const { bridge, eventId } = await watching(t, ALL);
  await approve(bridge, 'orders', eventId);
  await bridge.kill();
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(heard(await approve(bridge, 'billing', eventId)), [200, 'submitted']);
  assert.deepEqual(statuses(bridge), [200]);
});

test('killed while a hold stood: it stands after the start, and its release starts the event', async (t) => {
  const { bridge, eventId } = await watching(t, ANY);
  await held(bridge, eventId);
  await bridge.kill();
  await bridge.startFor(5 * SECOND);
  assert.equal((await life(bridge, eventId)).state, 'held');
  const release = fetch(`${bridge.bridge.url}/v1/holds/${eventId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${BILLING}` },
  });
  assert.equal((await bridge.during(release)).status, 204);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(statuses(bridge), [200]);
});

for (const [fate, again] of [
  ['stays Scheduled', [200]],
  ['start', []],
  ['cancel', []],
] as const) {
  test(`killed after a rule decided and before the service accepted it, and then ${fate}: posted if it is Scheduled`, async (t) => {
    const { bridge, eventId } = await watching(t, { policy: [{ when: {}, then: 'approve' }] }, {}, {}, { status: 503 });
    assert.equal((await life(bridge, eventId)).state, 'submitting');
    await bridge.kill();
    const before = posts(bridge).length;
    assert.ok(before > 0);
    order(bridge, {});
    if (fate !== 'stays Scheduled') bridge.simulation.order('POST', `/events/${eventId}/${fate}`);
    await bridge.startFor(MINUTE);
    assert.deepEqual(statuses(bridge).slice(before), again);
    const { approvedBy, steps } = await life(bridge, eventId);
    assert.deepEqual(approvedBy, []);
    assert.equal(steps.filter(({ step }) => step === 'submitted').length, again.length);
  });
}

test('killed after the service accepted, while the event waits for other tenants: posted twice, reported once', async (t) => {
  const { bridge, eventId } = await watching(t, ANY, {}, SHARED);
  bridge.service = slowAnswers(bridge.service, bridge, 9 * SECOND);
  await approve(bridge, 'orders', eventId);
  await killOnTheWay(bridge);
  await bridge.startFor(MINUTE);
  assert.deepEqual(statuses(bridge), [200, 200]);
  assert.equal(bridge.sink('audit').changes.filter((change) => change === 'approval.submitted').length, 1);
});

test('killed between the acceptance and its commit, and the event starts before the next process: unknown, not moot', async (t) => {
  const { bridge, eventId } = await watching(t, ANY);
  bridge.service = slowAnswers(bridge.service, bridge, 9 * SECOND);
  await approve(bridge, 'orders', eventId);
  await killOnTheWay(bridge);
  await bridge.startFor(MINUTE);
  assert.deepEqual(statuses(bridge), [200]);
  const { state, approvedBy, steps } = await life(bridge, eventId);
  assert.deepEqual(
    [state, approvedBy, steps.map(({ step }) => step)],
    ['unknown', ['orders'], ['recorded', 'decided', 'answered', 'unknown']],
  );
  assert.deepEqual(bridge.sink('audit').changes.slice(0, 3), ['scheduled', 'approval.recorded', 'started']);
  const metrics = await (await bridge.during(fetch(`${bridge.bridge.url}/metrics`))).text();
  assert.match(metrics, /approvals_total\{result="unknown"\} 1/);
});

test('killed before its turn in the group, and the event starts before the next process: moot, for it was not posted', async (t) => {
  const policy = [{ when: {}, then: 'approve' }];
  const group = { submit: 'leader', failoverAfter: '30s', members: ['aaa_0', 'sim_0'] };
  for (const [aliveS, state] of [
    [5, 'moot'],
    [45, 'unknown'],
  ] as const) {
    const { bridge, eventId } = await watching(t, { policy, group }, {}, { Resources: ['aaa_0'] }, { status: 503 });
    await bridge.advance(aliveS * SECOND);
    await bridge.kill();
    bridge.simulation.order('POST', `/events/${eventId}/start`);
    await bridge.advance(MINUTE);
    await bridge.startFor(10 * SECOND);
    assert.equal((await life(bridge, eventId)).state, state);
    await bridge.kill();
  }
});

/** kill -9 while a StartRequest is on the way; what is left of the process waits for it, and nobody sees that. */
async function killOnTheWay(bridge: VirtualBridge): Promise<void> {
  const killed = bridge.kill();
  await bridge.advance(6 * SECOND);
  await killed;
}

async function refusedForNow(bridge: VirtualBridge, eventId: string): Promise<void> {
  order(bridge, { status: 503 });
  await approve(bridge, 'orders', eventId);
}

/** It left and never came. */
async function lostOnTheWay(bridge: VirtualBridge, eventId: string): Promise<void> {
  const { service } = bridge;
  bridge.service = async (request, signal) => {
    if (request.method === 'POST') await sleep(bridge.time, 9 * SECOND, signal);
    return await service(request, signal);
  };
  await approve(bridge, 'orders', eventId);
}

async function held(bridge: VirtualBridge, eventId: string): Promise<void> {
  await bridge.request('POST', '/v1/holds', { as: 'billing', body: { EventId: eventId, reason: 'not now' } });
  assert.deepEqual(heard(await approve(bridge, 'orders', eventId)), [202, 'held']);
}

/** By a service that lets the event wait. */
async function accepted(bridge: VirtualBridge, eventId: string): Promise<void> {
  order(bridge, { status: 200, body: '', times: 1 });
  await approve(bridge, 'orders', eventId);
}
