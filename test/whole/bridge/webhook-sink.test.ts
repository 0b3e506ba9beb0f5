// A webhook sink misconfigured, held, retired → what /readyz, /metrics and the log tell of it.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { hook } from '../../support/running-bridge.ts';
import { INFO } from '../../virtual/lane-fixture.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** Far below the time limit of a request, so that the receiver's answer comes in between. */
const STEP_MS = 500;
const MOST_STEPS = 2000;

interface Fixture {
  readonly bridge: VirtualBridge;
  readonly receiver: WebhookReceiver;
  /** The sink as /readyz shows it, which has to answer 200. */
  readonly state: () => Promise<{ readonly state: string; readonly reason: string | null; readonly since: string }>;
  /** Lets virtual time pass in steps until it holds; answers of the receiver come in between. */
  readonly until: (holds: () => boolean) => Promise<void>;
  /** What an operator sees of the sink at level info. */
  readonly told: () => readonly string[];
}

async function fixture(t: TestContext, retry: object = {}): Promise<Fixture> {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const bridge = new VirtualBridge(t, {
    sinks: { hooks: hook(receiver.url, { timeout: '4m', ...retry }), audit: { type: 'memory' } },
  });
  await bridge.startFor(2 * SECOND);
  return {
    bridge,
    receiver,
    state: async () => {
      const { status, body } = await bridge.request('GET', '/readyz');
      assert.equal(status, 200);
      return (body as { sinks: Record<string, Awaited<ReturnType<Fixture['state']>>> }).sinks['hooks'] ?? assert.fail();
    },
    until: async (holds) => {
      for (let step = 0; !holds(); step++) {
        assert.ok(step < MOST_STEPS, 'waited in vain');
        await bridge.advance(STEP_MS);
        await pause(2);
      }
    },
    told: () => bridge.logs.filter(({ level, sink }) => level >= INFO && sink === 'hooks').map(({ msg }) => msg),
  };
}

function metric(lines: readonly string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

for (const status of [301, 401, 403, 404]) {
  test(`a receiver that answers ${status} is misconfigured in /readyz, in /metrics and once in the log, until it takes a delivery`, async (t) => {
    const { bridge, receiver, state, until, told } = await fixture(t);
    receiver.default = { status };
    for (let event = 0; event < 3; event++) bridge.simulation.schedule();
    await until(() => receiver.requests.length >= 12);
    const sick = await state();
    assert.equal(sick.state, 'misconfigured');
    assert.match(sick.reason ?? '', new RegExp(`^sink hooks: ${new URL(receiver.url).origin} answered ${status}: `));
    assert.doesNotMatch(JSON.stringify(sick), /\/hook/);
    const during = await bridge.sinkMetrics();
    assert.equal(metric(during, 'sink_state{sink="hooks",state="misconfigured"}'), '1');
    assert.equal(metric(during, 'sink_state{sink="hooks",state="delivering"}'), '0');
    assert.equal(metric(during, 'sink_state{sink="audit",state="delivering"}'), '1');
    assert.ok(Number(metric(during, 'deliveries_total{sink="hooks",result="misconfigured"}')) >= 11);
    assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'scheduled', 'scheduled'], 'the other sink');

    receiver.default = { status: 204 };
    const before = receiver.requests.length;
    await until(() => receiver.requests.length >= before + 3 && bridge.logged('no longer misconfigured').length === 1);
    assert.deepEqual([(await state()).state, (await state()).reason], ['delivering', null]);
    // `/metrics` is made once a second at most.
    await bridge.advance(1 * SECOND);
    const after = await bridge.sinkMetrics();
    assert.equal(metric(after, 'sink_state{sink="hooks",state="misconfigured"}'), '0');
    assert.equal(metric(after, 'sink_state{sink="hooks",state="delivering"}'), '1');
    assert.deepEqual(
      told().filter((msg) => !msg.startsWith('new sink')),
      [
        'the sink looks misconfigured: mend what the reason says; tried slowly until then',
        'the sink takes deliveries: it is no longer misconfigured',
      ],
    );
  });
}

test('a sink whose receiver answers 410 is retired until a verb resumes it; what was queued meanwhile is sent then', async (t) => {
  const { bridge, receiver, state, until } = await fixture(t);
  receiver.default = { status: 410 };
  bridge.simulation.schedule();
  await until(() => bridge.logged('wants no more deliveries').length === 1);
  bridge.simulation.schedule();
  await bridge.advance(5 * MINUTE);
  assert.equal(receiver.requests.length, 1);
  assert.equal((await state()).state, 'retired');
  const during = await bridge.sinkMetrics();
  assert.deepEqual(
    ['sink_retired{sink="hooks"}', 'sink_state{sink="hooks",state="retired"}', 'sink_queue_length{sink="hooks"}'].map(
      (name) => metric(during, name),
    ),
    ['1', '1', '2'],
  );
  receiver.default = { status: 204 };
  {
    using beside = openOutbox(bridge.folder, { deps: bridge.time, lock: false });
    assert.notEqual(beside.queue.resume('hooks'), null);
  }
  await bridge.advance(SECOND);
  await until(() => receiver.requests.length === 3);
  await until(() => bridge.logged('is resumed').length === 1);
  await bridge.advance(SECOND);
  assert.equal((await state()).state, 'delivering');
  assert.equal(metric(await bridge.sinkMetrics(), 'sink_queue_length{sink="hooks"}'), '0');
});

test('a retired sink stays so over a restart, and starts again with another configuration', async (t) => {
  const { bridge, receiver, state, until } = await fixture(t);
  receiver.default = { status: 410 };
  bridge.simulation.schedule();
  await until(() => bridge.logged('wants no more deliveries').length === 1);
  await bridge.advance(SECOND);
  await bridge.stop();
  receiver.default = { status: 204 };
  await bridge.startFor(MINUTE);
  assert.equal((await state()).state, 'retired');
  assert.equal(receiver.requests.length, 1);
  await bridge.stop();
  await bridge.start({
    ...bridge.settings,
    sinks: { hooks: hook(receiver.url, { timeout: '9s' }), audit: { type: 'memory' } },
  });
  await until(() => receiver.requests.length === 2);
  await bridge.advance(SECOND);
  assert.equal((await state()).state, 'delivering');
});

test('a retired sink drops deliveries older than maxAge without an attempt', async (t) => {
  const { bridge, receiver, until } = await fixture(t, { retry: { maxAge: '1h' } });
  receiver.default = { status: 410 };
  bridge.simulation.schedule();
  await until(() => bridge.logged('wants no more deliveries').length === 1);
  bridge.simulation.schedule();
  await bridge.advance(HOUR + MINUTE);
  assert.equal(receiver.requests.length, 1);
  const dead = bridge.beside(
    "SELECT reason, attempts FROM deliveries WHERE sink = 'hooks' AND state = 'dead' ORDER BY seq",
  );
  assert.deepEqual(
    dead.slice(0, 2).map(({ reason, attempts }) => [reason, attempts]),
    [
      ['expired', 1],
      ['expired', 0],
    ],
  );
});

test('a receiver that asks for a pause of a year is held for an hour, in /readyz and /metrics too', async (t) => {
  const { bridge, receiver, state, until } = await fixture(t);
  receiver.next({ status: 503, headers: { 'retry-after': '31536000' } });
  bridge.simulation.schedule();
  await until(() => receiver.requests.length === 1);
  bridge.simulation.schedule();
  await bridge.advance(HOUR - MINUTE);
  assert.equal(receiver.requests.length, 1);
  assert.equal((await state()).state, 'held');
  assert.equal(metric(await bridge.sinkMetrics(), 'sink_state{sink="hooks",state="held"}'), '1');
  await bridge.advance(MINUTE);
  await until(() => receiver.requests.length >= 3);
});

test('if a receiver refuses one event, that one becomes a dead letter, in metrics and log', async (t) => {
  const { bridge, receiver, state, until } = await fixture(t);
  receiver.next({ status: 422 });
  bridge.simulation.schedule();
  await until(() => bridge.logged('given up').length === 1);
  bridge.simulation.schedule();
  await until(() => receiver.requests.length === 2);
  await bridge.advance(SECOND);
  assert.equal((await state()).state, 'delivering');
  const metrics = await bridge.sinkMetrics();
  assert.deepEqual(
    [
      'dead_letters{sink="hooks"}',
      'deliveries_total{sink="hooks",result="refused"}',
      'deliveries_total{sink="hooks",result="accepted"}',
    ].map((name) => metric(metrics, name)),
    ['1', '1', '1'],
  );
});
