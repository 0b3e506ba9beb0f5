// One call's outcomes, row by row → the lane's next state, and what is reported.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../../adapters/adapter.ts';
import type { KeyState } from '../../../src/delivery/key-state.ts';
import { afterRecovery, INITIAL, type LaneState } from '../../../src/delivery/lane-state.ts';
import type { Moment } from '../../../src/delivery/moment.ts';
import { concluded, judge } from '../../../src/delivery/verdict.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { failure } from '../../virtual/scripted-adapter.ts';

const NOW: Moment = { elapsedMs: 50_000, wallMs: 1_000_000, chance: { key: 1, sink: 1 } };
const OLD = failure({ disposition: 'retry' }, 'old');

interface Call {
  readonly state?: Partial<LaneState>;
  readonly isProbe?: boolean;
  readonly urgent?: boolean;
  readonly longEnded?: boolean;
}

/** Each member as `key` and its outcome, all in one call. */
function after(members: readonly (readonly [key: string, outcome: Outcome])[], call: Call = {}) {
  const store = new MemoryLaneStore(() => 0);
  const rows = members.map(([key]) => store.queue('hooks', key));
  const outcomes = members.map(([, outcome]) => outcome);
  const facts = { isUrgent: () => call.urgent ?? false, isLongEnded: (_: Delivery) => call.longEnded ?? false };
  const verdicts = judge(rows, outcomes, -1);
  return concluded({ ...INITIAL, ...call.state }, verdicts, call.isProbe ?? false, facts, NOW);
}

const key = (state: Partial<KeyState>): KeyState => ({
  failures: 1,
  dueMs: 0,
  wasCutShort: false,
  isCause: false,
  probed: null,
  ...state,
});
const open: LaneState['opening'] = {
  failures: 3,
  dueMs: 0,
  disposition: 'retry',
  longEnded: false,
  withinMs: undefined,
};
const retry = failure();
const refused = failure({ disposition: 'refused' });
const waits = ({ keys }: LaneState, name: string) => (keys.get(name)?.dueMs ?? 0) - NOW.elapsedMs;
const probeWaits = ({ opening }: LaneState) => (opening?.dueMs ?? 0) - NOW.elapsedMs;

test('each outcome is stored for its row: accepted, failed, or a dead letter with the status, or else the code, of its error', () => {
  const store = new MemoryLaneStore(() => 0);
  const settled = (outcomes: readonly Outcome[], change = 'scheduled', oldestMs = -1) => {
    const rows = outcomes.map((_, index) => ({ ...store.queue('hooks', 'a', { change, id: 'a1' }), seq: index }));
    return judge(rows, outcomes, oldestMs).map((verdict) => [
      verdict.outcome,
      'settlement' in verdict ? verdict.settlement : null,
    ]);
  };
  const dead = (seq: number, reason: string, status: unknown) => [reason, { seq, result: 'dead', reason, status }];
  assert.deepEqual(settled([failure({ disposition: 'refused', status: 422 }), 'accepted', failure({})]), [
    dead(0, 'refused', 422),
    ['accepted', { seq: 1, result: 'accepted' }],
    ['retry', { seq: 2, result: 'failed', status: 'BRIDGE_INTERNAL' }],
  ]);
  assert.deepEqual(settled([failure({ disposition: 'expired', status: 'before start' })]), [
    dead(0, 'expired', 'before start'),
  ]);
  assert.deepEqual(settled([retry, 'accepted'], 'scheduled', 0), [
    dead(0, 'expired', 'BRIDGE_INTERNAL'),
    ['accepted', { seq: 1, result: 'accepted' }],
  ]);
  const agreed = { result: 'accepted', approves: true } as const;
  for (const [change, more] of [
    ['scheduled', { approves: 'a1' }],
    ['updated', { approves: 'a1' }],
    ['ended', {}],
  ] as const)
    assert.deepEqual(settled([agreed], change), [['accepted', { seq: 0, result: 'accepted', ...more }]]);
  assert.deepEqual(settled([{ result: 'accepted', status: 'drained' }]), [
    ['accepted', { seq: 0, result: 'accepted', status: 'drained' }],
  ]);
});

test('a failure is reported as known if the breaker is open, or if it is what shows that the sink is misconfigured', () => {
  const isKnown = (error: Outcome, call: Call = {}) =>
    after([['a', error]], call).news.find((each) => each.kind === 'failed')?.isKnown;
  assert.deepEqual(
    [isKnown(retry), isKnown(failure({ disposition: 'misconfigured' })), isKnown(retry, { state: { opening: open } })],
    [false, true, true],
  );
});

test('a key backs off by its own failures: 250 ms doubling to 10 s, 5 min if its event ended long ago, 2 s if it is urgent', () => {
  for (const [failures, call, expected] of [
    [0, {}, 250],
    [1, {}, 500],
    [7, {}, 10_000],
    [20, { longEnded: true }, 300_000],
    [20, { urgent: true }, 2_000],
  ] as const) {
    const { state } = after([['a', retry]], { ...call, state: { keys: new Map([['a', key({ failures })]]) } });
    assert.deepEqual([state.keys.get('a')?.failures, waits(state, 'a')], [failures + 1, expected]);
  }
  const slow = after([['a', failure({ disposition: 'misconfigured' })]], { urgent: true }).state;
  assert.deepEqual([waits(slow, 'a'), slow.isMisconfigured], [10_000, true]);
});

test('keys that fail in one call are due together, and several rows of a key are one failure', () => {
  const { state } = after(['a', 'a', 'b', 'a'].map((name) => [name, retry]));
  assert.deepEqual([state.keys.get('a')?.failures, waits(state, 'a'), waits(state, 'b')], [1, 250, 250]);
});

test('three different keys that fail in a row open the breaker; two, or three beside an acceptance, do not', () => {
  const failing = (...names: string[]) => names.map((name) => [name, retry] as const);
  assert.equal(after(failing('a', 'b')).state.opening, null);
  assert.equal(after(failing('a', 'a', 'a')).state.opening, null);
  const { state, news } = after(failing('a', 'b', 'c'));
  assert.deepEqual([probeWaits(state), state.streak.size], [250, 0]);
  assert.deepEqual(
    news.map(({ kind }) => kind),
    ['failed', 'failed', 'failed', 'troubled'],
  );
  assert.equal(after([...failing('a', 'b', 'c'), ['good', 'accepted']]).state.opening, null);
  assert.notEqual(after(failing('c'), { state: { streak: new Set(['a', 'b']) } }).state.opening, null);
  assert.equal(after([['good', 'accepted']], { state: { streak: new Set(['a', 'b']) } }).state.streak.size, 0);
});

test('an error that speaks of the whole sink opens the breaker at once, and no failure but that of a probe counts from then on', () => {
  const sick = failure({ scope: 'sink' });
  assert.equal(probeWaits(after([['a', sick]]).state), 250);
  assert.deepEqual(after([['a', sick]], { state: { opening: open } }).state.opening, open, 'a call of before');
  const { state, news } = after([['a', sick]], { state: { opening: open }, isProbe: true });
  assert.deepEqual([state.opening?.failures, probeWaits(state)], [4, 2_000]);
  assert.deepEqual(
    news.map((each) => each.kind === 'failed' && each.isKnown),
    [true],
  );
  const within = failure({ scope: 'sink', disposition: 'misconfigured', retryWithinMs: 3_000 });
  assert.equal(probeWaits(after([['a', within]]).state), 3_000);
});

test('a probe that is refused leaves the breaker open, with the same wait; one that is accepted closes it and frees the keys', () => {
  const state = { opening: open, lastFailure: 'no', keys: new Map([['b', key({ dueMs: 90_000 })]]) };
  const sick = after([['a', refused]], { state, isProbe: true }).state;
  assert.deepEqual([sick.opening?.failures, probeWaits(sick)], [3, 1_000]);
  const { state: well, news } = after([['a', 'accepted']], { state, isProbe: true });
  assert.deepEqual([well.opening, well.keys.get('b')?.dueMs, well.keys.get('b')?.wasCutShort], [null, 0, true]);
  assert.deepEqual(news, [{ kind: 'recovered', from: new Set(['open']) }]);
});

test('a refusal in a call that began before the breaker opened does not put off the probe', () => {
  const opening = { ...open, dueMs: NOW.elapsedMs + 1 };
  assert.equal(after([['a', refused]], { state: { opening } }).state.opening, opening);
  assert.notEqual(after([['a', refused]], { state: { opening }, isProbe: true }).state.opening, opening);
});

test('a key that failed again after a recovery is the cause: the next recovery does not cut its back-off short', () => {
  const { state } = after([['b', retry]], { state: { keys: new Map([['b', key({ wasCutShort: true })]]) } });
  assert.equal(state.keys.get('b')?.isCause, true);
  const again = afterRecovery({ ...state, opening: open });
  assert.equal(again.keys.get('b')?.dueMs, state.keys.get('b')?.dueMs);
});

test('Retry-After holds the sink for an hour at most, and a shorter one ends no longer one', () => {
  const held = (retryAfterMs: number, heldUntilMs = 0) =>
    after([['a', failure({ retryAfterMs })]], { state: { heldUntilMs } }).state.heldUntilMs;
  assert.deepEqual([held(30_000), held(1e12), held(1, 99_000)], [80_000, 3_650_000, 99_000]);
});

test('a misconfigured sink is reported once when that begins and once when it ends', () => {
  const slow = failure({ disposition: 'misconfigured' });
  const first = after([['a', slow]]);
  const second = after([['b', slow]], { state: first.state });
  assert.deepEqual(
    [first, second].map(({ news }) => news.filter(({ kind }) => kind === 'troubled').length),
    [1, 0],
  );
  assert.deepEqual(after([['a', 'accepted']], { state: second.state }).news, [
    { kind: 'recovered', from: new Set(['misconfigured']) },
  ]);
});

test('a sink that retires is reported as that alone, once', () => {
  const gone = failure({ disposition: 'retired', scope: 'sink' }, 'gone');
  const { state, news } = after([
    ['a', gone],
    ['b', gone],
  ]);
  assert.deepEqual([state.retired, state.opening, state.keys.size], [{ reason: 'gone', untilRestart: false }, null, 0]);
  assert.deepEqual(news, [{ kind: 'retired', error: gone }]);
});

test('a refusal or a superseded delivery says nothing of the sink, and is no failure of its key', () => {
  for (const outcome of [
    refused,
    failure({ disposition: 'expired' }),
    { result: 'accepted', status: 'superseded' } as const,
  ]) {
    const before = { isMisconfigured: true, streak: new Set(['x']), keys: new Map([['a', key({})]]) };
    const { state } = after([['a', outcome]], { state: before });
    assert.deepEqual([state.isMisconfigured, [...state.streak], state.keys.get('a')?.failures], [true, ['x'], 0]);
  }
});

test('an accepted delivery ends what its key was blamed for, and gives a healthy key no state', () => {
  const blamed = { failures: 4, wasCutShort: true, isCause: true };
  const { state } = after(
    [
      ['a', 'accepted'],
      ['b', 'accepted'],
    ],
    { state: { keys: new Map([['a', key(blamed)]]) } },
  );
  assert.deepEqual([...state.keys], [['a', key({ failures: 0 })]]);
});

test('deliveries that were refused together prove nothing of their keys; one that was refused alone lifts the limit of a batch', () => {
  const state = { largestBatch: 2, keys: new Map([['a', key({ failures: 3 })]]) };
  const together = after(
    [
      ['a', refused],
      ['b', refused],
    ],
    { state },
  );
  assert.deepEqual([together.state.largestBatch, together.state.keys.get('a')?.failures, together.news], [2, 3, []]);
  assert.equal(after([['a', refused]], { state }).state.largestBatch, Number.POSITIVE_INFINITY);
  for (const outcome of [retry, 'accepted'] as const)
    assert.equal(after([['a', outcome]], { state }).state.largestBatch, 2);
});

test('an error that does not say what kind of failure it is counts as one to retry, also for an urgent event', () => {
  const { state } = after([['a', failure({})]], {
    urgent: true,
    state: { keys: new Map([['a', key({ failures: 20 })]]) },
  });
  assert.equal(waits(state, 'a'), 2_000);
});

test('a thousand keys that fail beside others that are accepted open the breaker', () => {
  const keys = new Map(Array.from({ length: 999 }, (_, index) => [`bad${index}`, key({})]));
  const members = [['good', 'accepted'] as const, ['bad', retry] as const];
  const { state, news } = after(members, { state: { keys } });
  assert.notEqual(state.opening, null);
  assert.deepEqual(news.at(-1), { kind: 'troubled', by: new Set(['open']), error: retry });
  keys.set('bad0', key({ failures: 0, probed: 'alive' }));
  assert.equal(after(members, { state: { keys } }).state.opening, null, 'a key that was only probed has not failed');
  keys.delete('bad0');
  assert.equal(after(members, { state: { keys } }).state.opening, null);
});

test('a breaker that is open is not opened again, however many keys fail', () => {
  const keys = new Map(Array.from({ length: 1_000 }, (_, index) => [`bad${index}`, key({})]));
  const { state, news } = after([['bad', retry]], { state: { keys, opening: open } });
  assert.equal(state.opening, open);
  assert.deepEqual(
    news.map(({ kind }) => kind),
    ['failed'],
  );
});

test('an accepted delivery of a healthy key copies no key, however many others fail', () => {
  const keys = new Map(Array.from({ length: 900 }, (_, index) => [`bad${index}`, key({})]));
  const state = { ...INITIAL, lastFailure: OLD.message, keys };
  const { state: same, news } = after([['good', 'accepted']], { state });
  assert.equal(same.keys, keys);
  assert.deepEqual(news, []);
});

test('a delivery that was refused, or came too late, is reported as given up with its error; one to retry is not', () => {
  const late = failure({ disposition: 'expired' });
  for (const error of [refused, late]) {
    const given = after([['a', error]]).news.filter(({ kind }) => kind === 'given up');
    assert.deepEqual(
      given.map((each) => 'error' in each && each.error),
      [error],
    );
  }
  assert.deepEqual(
    after([['a', retry]]).news.map(({ kind }) => kind),
    ['failed'],
  );
});
