// Polls with the dates of their answers → one line when the clock is off, one when it is right.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { ClockWatch } from '../../../src/bridge/metadata-source.ts';
import type { PollResult } from '../../../src/model/events.ts';

const AT_MS = Date.parse('2026-11-22T18:00:00Z');

function pollWith(offsetMs: number): PollResult {
  const date = new Date(AT_MS).toUTCString();
  const document = { incarnation: 1, events: [], apiVersion: '2020-07-01' };
  return {
    kind: 'document',
    at: { wallMs: AT_MS + 500 - offsetMs, elapsedMs: 0 },
    durationMs: 1,
    document,
    date,
  } as unknown as PollResult;
}

test('a clock that is off is logged once, and so is its repair; failed polls do not count', () => {
  const lines: { level: number; msg: string; offsetSeconds: number }[] = [];
  const watch = new ClockWatch(pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }));
  const polls = (count: number, offsetMs: number) => {
    for (let i = 0; i < count; i++) watch.polled(pollWith(offsetMs));
  };
  polls(10, 200);
  polls(20, 7_200_000);
  watch.polled({
    kind: 'failure',
    at: { wallMs: AT_MS, elapsedMs: 0 },
    durationMs: 1,
    error: new Error('x'),
    result: 'timeout',
  });
  assert.equal(watch.offset.seconds, 7200);
  polls(20, 0);
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg.slice(0, 48)]),
    [
      [40, "this machine's clock is 3600 s behind the clock "],
      [30, "this machine's clock agrees with the metadata se"],
    ],
  );
});
