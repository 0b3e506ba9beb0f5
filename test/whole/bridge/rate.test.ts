// A sink with a rate → which changes go first; no restart and no kill -9 doubles the rate.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { FarSide } from '../../virtual/memory-sinks.ts';
import { accept } from '../../virtual/scripted-adapter.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const limited = (perMinute: number, more: object = {}) => ({
  sinks: { audit: { type: 'memory', perMinute, ...more } },
});

/** The most arrivals within one minute, wherever that minute lies. */
function mostInAMinute({ arrivals }: FarSide): number {
  const times = arrivals.map(({ atMs }) => atMs);
  return Math.max(0, ...times.map((from) => times.filter((ms) => ms >= from && ms < from + MINUTE).length));
}

test('a hundred changes of ended events wait, and one is scheduled with 30 s notice: it is sent next, and nothing is lost', async (t) => {
  const bridge = new VirtualBridge(t, limited(2));
  const { simulation } = bridge;
  await bridge.startFor(2 * SECOND);
  const old = Array.from({ length: 50 }, () => simulation.schedule({ NotBefore: '' }));
  await bridge.advance(2 * SECOND);
  for (const { EventId } of old) simulation.send('POST', `/simulator/events/${EventId}/cancel`);
  await bridge.advance(2 * SECOND);
  assert.equal(bridge.sink('audit').arrivals.length, 2);
  const far = simulation.schedule({ EventType: 'Redeploy' });
  const preempt = simulation.schedule({ EventType: 'Preempt' });
  await bridge.advance(2 * SECOND);
  const { body } = await bridge.request('GET', '/readyz');
  const { audit } = (body as { sinks: Record<string, { state: string; reason: string; until: string }> }).sinks;
  assert.equal(audit?.state, 'held');
  assert.match(audit.reason, /rate of 2 requests a minute is used up/);
  assert.ok(Date.parse(audit.until) > bridge.time.wallMs());
  assert.ok((await bridge.sinkMetrics()).includes('sink_state{sink="audit",state="held"} 1'));
  await bridge.advance(MINUTE);
  const next = bridge.sink('audit').events.slice(2);
  assert.equal(next[0]?.data.eventId, preempt.EventId);
  assert.equal(next[0]?.data.eventStatus, 'Scheduled');
  assert.ok(bridge.sink('audit').events.length >= 4);
  assert.ok([preempt.EventId, far.EventId].includes(next[1]?.data.eventId ?? ''));
  await bridge.advance(3 * HOUR);
  const [arrivals, keys] = [
    bridge.sink('audit').arrivals,
    new Set(bridge.sink('audit').arrivals.map(({ partitionKey }) => partitionKey)),
  ];
  assert.equal(keys.size, 52, 'nobody is forgotten');
  for (const key of keys) {
    const changes = arrivals.filter(({ partitionKey }) => partitionKey === key).map(({ change }) => change);
    assert.equal(changes[0], 'scheduled', 'in the order of its key');
    assert.equal(changes.at(-1), 'ended');
  }
  assert.equal(mostInAMinute(bridge.sink('audit')), 2);
});

test('killed while the rate is used up, and while a request runs: the next process waits as long as this one had to', async (t) => {
  const bridge = new VirtualBridge(t, limited(3));
  const { simulation } = bridge;
  for (let index = 0; index < 6; index++) simulation.schedule();
  const audit = bridge.sink('audit');
  let calls = 0;
  audit.answer = (batch, signal) => {
    calls += 1;
    if (calls < 3) return accept(batch, signal);
    // It has arrived, and nobody lives to hear it.
    for (const row of batch) audit.take(row);
    return new Promise(() => {});
  };
  await bridge.startFor(30 * SECOND);
  assert.equal(audit.arrivals.length, 3);
  await bridge.kill();
  audit.answer = accept;
  await bridge.startFor(20 * SECOND);
  assert.equal(audit.arrivals.length, 3);
  await bridge.kill();
  await bridge.startFor(MINUTE);
  await bridge.stop();
  await bridge.startFor(10 * MINUTE);
  assert.equal(new Set(audit.arrivals.map(({ id }) => id)).size >= 6, true);
  assert.ok(mostInAMinute(audit) <= 3);
});

test('for any restarts and kills: never more than the rate in any 60 s', async (t) => {
  const script = fc.record({
    seed: fc.integer(),
    perMinute: fc.integer({ min: 1, max: 6 }),
    lives: fc.array(
      fc.record({ seconds: fc.integer({ min: 1, max: 70 }), kill: fc.boolean(), off: fc.integer({ min: 0, max: 40 }) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
  });
  await fc.assert(
    fc.asyncProperty(script, async ({ seed, perMinute, lives }) => {
      const bridge = new VirtualBridge(t, limited(perMinute), { seed });
      for (let index = 0; index < 10; index++) bridge.simulation.schedule();
      for (const { seconds, kill, off } of lives) {
        await bridge.startFor(seconds * SECOND);
        await (kill ? bridge.kill() : bridge.stop());
        await bridge.advance(off * SECOND);
      }
      await bridge.startFor(5 * MINUTE);
      assert.ok(mostInAMinute(bridge.sink('audit')) <= perMinute);
      assert.ok(bridge.sink('audit').arrivals.length >= Math.min(10, perMinute * 4));
      await bridge.stop();
    }),
    { numRuns: 12 },
  );
});

test('another configuration of the sink continues with the count of the old one', async (t) => {
  const bridge = new VirtualBridge(t, limited(2));
  for (let index = 0; index < 6; index++) bridge.simulation.schedule();
  await bridge.startFor(10 * SECOND);
  await bridge.stop();
  await bridge.startFor(10 * SECOND, limited(2, { label: 'changed' }));
  assert.equal(bridge.sink('audit').arrivals.length, 2);
  await bridge.advance(MINUTE);
  assert.equal(mostInAMinute(bridge.sink('audit')), 2);
});
