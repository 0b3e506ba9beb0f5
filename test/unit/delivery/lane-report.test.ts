// Events in a lane → the line, the status and the count that an operator gets for each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { type AttemptReport, LaneReport, type LaneStatus } from '../../../src/delivery/lane-report.ts';
import { miscounted } from '../../../src/delivery/managed-adapter.ts';
import type { News, Verdict } from '../../../src/delivery/verdict.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import { failure } from '../../virtual/scripted-adapter.ts';

const ROW = { ...new MemoryLaneStore(() => 0).queue('hooks', 'a'), attempts: 2 };
const REFUSED = failure({ disposition: 'refused', status: 422 }, 'the schema does not fit');
const FAILED = { id: 'a:1', attempts: 3, code: 'BRIDGE_INTERNAL', status: 422, reason: 'the schema does not fit' };
const OF_SINK = { code: 'BRIDGE_INTERNAL', status: 422, reason: 'the schema does not fit' };
const NOW = { elapsedMs: 1000, wallMs: 501_000 };

function fixture() {
  const lines: object[] = [];
  const attempts: AttemptReport[] = [];
  const states: LaneStatus[] = [];
  const write = (line: string) => {
    const { time: _, pid: __, hostname: ___, ...rest } = JSON.parse(line);
    lines.push(rest);
  };
  const report = new LaneReport({
    logger: pino({ level: 'debug', formatters: { level: (label) => ({ level: label }) } }, { write }),
    onAttempt: (attempt) => attempts.push(attempt),
    onState: (status) => states.push(status),
  });
  return { report, lines, attempts, states };
}

/** What is logged of `act`. */
function logged(act: (report: LaneReport) => void): readonly object[] {
  const { report, lines } = fixture();
  act(report);
  return lines;
}

const failed = (more: Partial<Extract<News, { kind: 'failed' }>>): News => ({
  ...{ kind: 'failed', row: ROW, error: REFUSED, failures: 1, isKnown: false },
  ...more,
});

test('a delivery that fails is a warning the first time, and debug if it repeats or the sink explains it', () => {
  const line = { ...FAILED, msg: 'delivery failed and will be tried again' };
  for (const [more, level, failures] of [
    [{}, 'warn', 1],
    [{ failures: 2 }, 'debug', 2],
    [{ isKnown: true }, 'debug', 1],
  ] as const)
    assert.deepEqual(
      logged((report) => report.changed(failed(more))),
      [{ level, ...line, failures }],
    );
});

test('an adapter that breaks its contract is an error', () => {
  const error = miscounted('hooks', 2, 1);
  const [line] = logged((report) => report.changed(failed({ error })));
  assert.deepEqual(line, {
    ...{ level: 'error', id: 'a:1', attempts: 3, code: error.code, reason: error.message, failures: 1 },
    msg: 'delivery failed and will be tried again',
  });
});

test('a delivery that is given up is a warning with the reason', () => {
  for (const outcome of ['refused', 'expired'] as const)
    assert.deepEqual(
      logged((report) => report.changed({ kind: 'given up', row: ROW, error: REFUSED, outcome })),
      [{ level: 'warn', ...FAILED, why: outcome, msg: 'delivery given up: it is a dead letter now' }],
    );
});

test('trouble of the whole sink is logged with what to do, and its end with what it was', () => {
  for (const [trouble, begun, ended] of [
    [
      'open',
      'the sink fails as a whole: one delivery at a time until one is accepted',
      'the sink takes deliveries again',
    ],
    [
      'misconfigured',
      'the sink looks misconfigured: mend what the reason says; tried slowly until then',
      'the sink takes deliveries: it is no longer misconfigured',
    ],
  ] as const)
    assert.deepEqual(
      logged((report) => {
        report.changed({ kind: 'troubled', by: new Set([trouble]), error: REFUSED });
        report.changed({ kind: 'recovered', from: new Set([trouble]) });
      }),
      [
        { level: 'warn', ...OF_SINK, msg: begun },
        { level: 'info', msg: ended },
      ],
    );
});

test('a sink that retires is an error that says how its pause ends', () => {
  for (const [untilRestart, until] of [
    [true, 'the bridge is restarted'],
    [false, 'its configuration changes or `resume --sink NAME` is run'],
  ] as const) {
    const error = failure({ disposition: 'retired', status: 422, untilRestart }, 'the schema does not fit');
    assert.deepEqual(
      logged((report) => report.changed({ kind: 'retired', error })),
      [
        {
          ...{ level: 'error', ...OF_SINK },
          msg: `the sink wants no more deliveries and is paused until ${until}; what is queued for it waits`,
        },
      ],
    );
  }
});

test('a sink that was retired before is a warning with the time, and its resumption is logged', () => {
  assert.deepEqual(
    logged((report) => {
      report.foundRetired({ reason: 'gone', atMs: Date.UTC(2026, 0, 2) });
      report.resumed();
    }),
    [
      {
        ...{ level: 'warn', reason: 'gone', since: '2026-01-02T00:00:00.000Z' },
        msg: 'the sink is retired and stays paused until its configuration changes or `resume --sink NAME` is run; what is queued for it waits',
      },
      { level: 'info', msg: 'the sink was retired and is resumed: what is queued for it goes out' },
    ],
  );
});

test('failures under the settings of before are logged one by one, and what was accepted then is not', () => {
  const verdict = (outcome: 'retry' | 'refused' | 'expired'): Verdict => ({
    ...{ row: ROW, outcome, error: REFUSED },
    settlement: { seq: 1, result: 'failed', status: 422 },
  });
  const accepted: Verdict = { row: ROW, outcome: 'accepted', settlement: { seq: 1, result: 'accepted' } };
  const given = (why: string) => ({
    ...{ level: 'warn', ...FAILED, why },
    msg: 'delivery given up: it is a dead letter now',
  });
  assert.deepEqual(
    logged((report) => report.lateFailures([accepted, verdict('retry'), verdict('refused'), verdict('expired')])),
    [
      {
        ...{ level: 'warn', ...FAILED },
        msg: 'delivery failed under the settings of before: it goes again by the new ones',
      },
      given('refused'),
      given('expired'),
    ],
  );
});

test('each outcome of a call is counted once with its number; what goes again in a smaller batch is not', () => {
  const { report, attempts } = fixture();
  const accepted: Verdict = { row: ROW, outcome: 'accepted', settlement: { seq: 1, result: 'accepted' } };
  report.attempted([accepted, accepted, { row: ROW, outcome: 'again' }], 70);
  report.attempted([{ row: ROW, outcome: 'again' }], 70);
  assert.deepEqual(attempts, [{ outcome: 'accepted', count: 2, durationMs: 70 }]);
});

test('what ends without a call is counted and logged', () => {
  const { report, attempts, lines } = fixture();
  report.expired(3);
  report.superseded(2);
  assert.deepEqual(attempts, [
    { outcome: 'expired', count: 3, durationMs: 0 },
    { outcome: 'accepted', count: 2, durationMs: 0 },
  ]);
  assert.deepEqual(lines, [
    { level: 'warn', count: 3, msg: 'deliveries expired while the sink is retired: they are dead letters now' },
    {
      ...{ level: 'info', count: 2 },
      msg: 'deliveries are superseded, as their events have changed, started or ended since',
    },
  ]);
});

test('a short rate is logged when it begins and when it ends', () => {
  assert.deepEqual(
    logged((report) => {
      report.short(false, 60);
      for (const isShort of [true, true, false, false]) report.short(isShort, 60);
    }),
    [
      {
        ...{ level: 'info', perMinute: 60 },
        msg: 'more is queued than the rate of this sink lets out: the most urgent goes first',
      },
      { level: 'info', msg: 'nothing waits for the rate of this sink any more' },
    ],
  );
});

test('an unreadable queue is an error once, and a dispose that fails is one', () => {
  const msg = 'queued deliveries could not be read; tried again';
  assert.deepEqual(
    logged((report) => {
      report.unreadable('locked', 1);
      report.unreadable('locked', 2);
      report.disposeFailed('hangs');
    }),
    [
      { level: 'error', reason: 'locked', msg },
      { level: 'debug', reason: 'locked', msg },
      { level: 'error', reason: 'hangs', msg: 'the sink could not be closed cleanly' },
    ],
  );
});

test('a status has the wall time since which it holds, and is passed on only if its state or reason is new', () => {
  const { report, states } = fixture();
  const at = (ms: number) => ({ elapsedMs: ms, wallMs: 500_000 + ms });
  const held = { state: 'held', reason: 'busy', untilMs: 4000 } as const;
  assert.deepEqual(report.status(1), { state: 'delivering', reason: null, sinceMs: 0, untilMs: null, inFlight: 1 });
  report.update({ state: 'delivering', reason: null, untilMs: null }, at(0), 0);
  report.update(held, NOW, 2);
  report.update({ ...held, untilMs: 5000 }, at(2000), 3);
  assert.deepEqual(report.status(3), { ...held, sinceMs: 501_000, untilMs: 505_000, inFlight: 3 });
  report.update({ ...held, reason: 'still busy' }, at(3000), 0);
  report.update({ state: 'probing', reason: 'still busy', untilMs: null }, at(3500), 0);
  report.update({ state: 'delivering', reason: null, untilMs: null }, at(4000), 0);
  assert.deepEqual(
    states.map(({ state, reason, sinceMs, untilMs, inFlight }) => [state, reason, sinceMs, untilMs, inFlight]),
    [
      ['delivering', null, 500_000, null, 0],
      ['held', 'busy', 501_000, 504_000, 2],
      ['held', 'still busy', 501_000, 504_000, 0],
      ['probing', 'still busy', 503_500, null, 0],
      ['delivering', null, 504_000, null, 0],
    ],
  );
});

test('a pause is logged when it begins and when it ends', () => {
  const paused = { state: 'paused', reason: 'paused by ann', untilMs: null } as const;
  const delivering = { state: 'delivering', reason: null, untilMs: null } as const;
  const { report, lines } = fixture();
  const counts = [paused, { ...paused, reason: 'paused by bob' }, delivering, delivering].map((status) => {
    report.update(status, NOW, 0);
    return lines.length;
  });
  assert.deepEqual(counts, [1, 1, 2, 2]);
  assert.deepEqual(lines, [
    {
      ...{ level: 'warn', reason: 'paused by ann' },
      msg: 'the sink is paused: nothing goes out to it until an operator resumes it',
    },
    { level: 'info', msg: 'the sink is no longer paused' },
  ]);
});

test('a lane that nobody watches still logs', () => {
  const lines: string[] = [];
  const report = new LaneReport({ logger: pino({}, { write: (line: string) => lines.push(line) }) });
  report.update({ state: 'paused', reason: null, untilMs: null }, NOW, 0);
  report.attempted([{ row: ROW, outcome: 'accepted', settlement: { seq: 1, result: 'accepted' } }], 1);
  report.expired(1);
  report.superseded(1);
  assert.equal(lines.length, 3);
});
