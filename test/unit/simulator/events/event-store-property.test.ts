// Any sequence of orders, approvals and time → properties of every document in between.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type Document, Simulation } from '../../../virtual/simulation.ts';

type Step = (simulation: Simulation, ids: readonly string[]) => void;

const pick = (ids: readonly string[], index: number) => ids[index % Math.max(ids.length, 1)] ?? 'nobody';
const index = fc.nat(20);

const fields = fc.record(
  {
    EventId: fc.constantFrom('one', 'ONE', 'two'),
    EventType: fc.constantFrom('Freeze', 'Reboot', 'Preempt', 'Terminate'),
    EventStatus: fc.constantFrom('Scheduled', 'Started'),
    NotBefore: fc.constantFrom('', '2025-01-01T00:00:00Z', '2026-01-01T00:05:00Z', '2026-01-02T00:00:00Z'),
    Resources: fc.subarray(['sim_0', 'sim_1']),
    DurationInSeconds: fc.constantFrom(-1, 0, 9),
    seen: fc.subarray(['sim_0', 'sim_1']),
  },
  { requiredKeys: [] },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  fields.map(
    (body): Step =>
      (simulation) =>
        void simulation.send('POST', '/simulator/events', { body }),
  ),
  fc.tuple(index, fields).map(
    ([at, body]): Step =>
      (simulation, ids) =>
        void simulation.send('PATCH', `/simulator/events/${pick(ids, at)}`, { body }),
  ),
  fc.tuple(index, fc.constantFrom('start', 'end', 'cancel')).map(
    ([at, move]): Step =>
      (simulation, ids) =>
        void simulation.send('POST', `/simulator/events/${pick(ids, at)}/${move}`),
  ),
  index.map(
    (at): Step =>
      (simulation, ids) =>
        void simulation.approve(pick(ids, at)),
  ),
  fc.constantFrom('1s', '30s', '5m', '10m', '1d').map(
    (advance): Step =>
      (simulation) =>
        simulation.advance(advance),
  ),
  fc.constant<Step>((simulation) => void simulation.send('POST', '/simulator/scenarios/demo')),
  fc.constant<Step>((simulation) => void simulation.send('DELETE', '/simulator')),
);

const RANK = { Scheduled: 1, Started: 2, gone: 3 } as const;

/** Events only move forward, and equal incarnations mean equal documents. */
function check(before: Document, after: Document, ranks: Map<string, number>, hidden: ReadonlySet<string>): void {
  assert.ok(after.DocumentIncarnation >= before.DocumentIncarnation);
  const isSame = JSON.stringify(before.Events) === JSON.stringify(after.Events);
  if (after.DocumentIncarnation === before.DocumentIncarnation)
    assert.ok(isSame, 'another content under the same incarnation');
  const listed = new Set<string>();
  for (const event of after.Events) {
    listed.add(event.EventId.toLowerCase());
    const rank = RANK[event.EventStatus as 'Scheduled' | 'Started'];
    assert.ok(rank >= (ranks.get(event.EventId.toLowerCase()) ?? 0), `${event.EventId} went back`);
    assert.equal(event.EventStatus === 'Started' && event.NotBefore !== '', false);
    ranks.set(event.EventId.toLowerCase(), rank);
  }
  assert.equal(listed.size, after.Events.length, 'an EventId is listed twice');
  // Hidden events still exist: `seen` can show them again.
  for (const key of ranks.keys()) if (!listed.has(key) && !hidden.has(key)) ranks.set(key, RANK.gone);
}

test('the incarnation never falls and identifies the content, an EventId never returns, and a status never goes back (F-15, F-20, F-22)', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const simulation = new Simulation();
      const { events } = simulation.simulator.group;
      const ids: string[] = [];
      const ranks = new Map<string, number>();
      let before = simulation.document();
      for (const take of steps) {
        take(simulation, ids);
        const after = simulation.document();
        const hidden = new Set([...ranks.keys()].filter((key) => events.has(key)));
        check(before, after, ranks, hidden);
        for (const { EventId } of after.Events) if (!ids.includes(EventId)) ids.push(EventId);
        before = after;
      }
    }),
    { numRuns: 300, seed: 3 },
  );
});

test('reading every second or only at the end gives the same document (F-37)', () => {
  const moments = fc.array(fc.tuple(fc.integer({ min: 1, max: 1200 }), fields), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(moments, (steps) => {
      const [often, once] = [new Simulation(), new Simulation()];
      for (const [seconds, body] of steps) {
        for (const simulation of [often, once])
          simulation.send('POST', '/simulator/events', { body: { EventId: `e${seconds}`, ...body } });
        for (let second = 0; second < seconds; second++) {
          often.advance('1s');
          often.document();
        }
        once.advance(`${seconds}s`);
      }
      assert.deepEqual(often.document(), once.document());
    }),
    { numRuns: 20, seed: 3 },
  );
});
