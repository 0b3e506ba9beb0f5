// The stored record and journal of one event → its story in words, all pages of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type JournalItem, readStory, type StoryStep, storyLines } from '../../../../src/verbs/bridge/event-story.ts';

const AT = '2026-01-01T00:00:00.000Z';
const WALL_MS = Date.parse('2026-01-01T00:01:05Z');
const TYPE = 'io.github.scheduled-events-bridge.scheduled.v1';
const STEP: StoryStep = {
  ...{ at: AT, step: 'recorded', approver: 'orders', via: 'token', policy: null },
  ...{ status: null, reason: null },
};

const DATA = {
  ...{ eventId: 'A', eventType: 'Reboot', eventStatus: 'Scheduled', resources: ['web_0'], notBefore: AT },
  ...{ description: '', eventSource: 'Platform', durationInSeconds: -1 },
};
const EVENT = { specversion: '1.0', id: 'a:scheduled', source: 'urn:x', type: TYPE, time: AT, data: DATA };

function linesFor(deliveries: JournalItem['deliveries'], record = {}, steps: readonly StoryStep[] = []) {
  return storyLines({ record, steps, items: [{ at: AT, event: EVENT, deliveries }] }, WALL_MS);
}

test('a program under way is shown with its time, attempt and last line, not as a delivery without attempts', () => {
  const running = { since: '2026-01-01T00:00:40.000Z', attempt: 2, last: 'draining web' };
  const lines = linesFor([
    { sink: 'drain', state: 'queued', attempts: 1, status: 3, running },
    { sink: 'node', state: 'queued', attempts: 0, status: null, running: { ...running, attempt: 1, last: null } },
  ]);
  assert.deepEqual(lines.slice(1), [
    '      drain: running for 25s (attempt 2), last: draining web',
    '      node: running for 25s (attempt 1)',
  ]);
});

test('each delivery has a line: what became of it, its ended attempts and the last status', () => {
  const lines = linesFor([
    { sink: 'audit', state: 'delivered', attempts: 1, status: null, running: null },
    { sink: 'pager', state: 'dead', attempts: 1, status: 422, running: null },
    { sink: 'hooks', state: 'queued', attempts: 2, status: 'ECONNREFUSED', running: null },
    { sink: 'late', state: 'queued', attempts: 0, status: null },
  ]);
  assert.match(lines[0] ?? '', /^ {2}2026-01-01T00:00:00\.000Z {2}Platform will reboot web_0/);
  assert.deepEqual(lines.slice(1), [
    '      audit: delivered',
    '      pager: dead, after 1 attempt (422)',
    '      hooks: queued, after 2 attempts (ECONNREFUSED)',
    '      late: queued, and no attempt has ended',
  ]);
});

test('steps that were only counted are in the story', () => {
  const unwritten = [{ approver: 'orders', steps: 3, since: '2026-01-01T00:00:01.000Z' }];
  const lines = linesFor([], { unwritten }, [STEP]);
  assert.deepEqual(lines.slice(1), [
    '  2026-01-01T00:00:00.000Z  recorded by orders (token)',
    '  2026-01-01T00:00:01.000Z  orders: 3 more steps',
  ]);
});

test('all pages of the record and of the journal are read, and a refusal ends the reading', async () => {
  const asked: string[] = [];
  const answers = [
    { eventId: 'A b', steps: [STEP], next: 7 },
    { steps: [STEP], next: null },
    { items: [], next: null },
  ];
  const story = await readStory((path) => {
    asked.push(path);
    return Promise.resolve(answers[asked.length - 1] ?? null);
  }, 'A b');
  assert.deepEqual(asked, [
    '/v1/approvals/A%20b?limit=200',
    '/v1/approvals/A%20b?limit=200&after=7',
    '/v1/journal?event=A%20b&limit=100',
  ]);
  assert.equal(story?.steps.length, 2);
  assert.deepEqual(story?.record, { eventId: 'A b', steps: [STEP, STEP] });
  assert.equal(await readStory(() => Promise.resolve(null), 'A'), null);
});
