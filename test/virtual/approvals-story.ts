// A story of approvals over one event, a step on each line → played, with each `> answer` checked.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../src/approvals/approvals.ts';
import type { ApprovalAnswer } from '../../src/approvals/requests/answer.ts';
import type { ApprovalStep, PostResult } from '../../src/model/approvals.ts';
import type { ScheduledEvent } from '../../src/model/events.ts';
import { EVENT_ID } from '../support/events.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  type ApprovalsFixture,
  again,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  end,
  KEY,
  LOST,
  REFUSED,
  reopened,
  STARTED,
  said,
} from './approvals-fixture.ts';
import { settle } from './virtual-time.ts';

const UNIT_MS = { ms: 1, s: 1000, min: 60_000 } as const;

interface Stage {
  readonly t: TestContext;
  readonly settings: ApprovalSettings;
  readonly fixture: ApprovalsFixture;
  approvals: Approvals;
  asked: Promise<ApprovalAnswer> | null;
  /** Ends the silence of the service. */
  answer: (result: PostResult) => void;
}

type Play = (stage: Stage, ...words: string[]) => unknown;

/** So many minutes after the fixture began, at midnight. */
export function inMinutes(minutes: number): string {
  return new Date(Date.UTC(2026, 0, 1) + minutes * UNIT_MS.min).toISOString();
}

function minutesTo(time: string): number {
  return (Date.parse(time) - Date.UTC(2026, 0, 1)) / UNIT_MS.min;
}

const changed = (fields: Partial<ScheduledEvent>) => (stage: Stage) => change(stage.fixture, fields);

/** `accepted`, `refused`, `lost`, or `503` with the time until the next attempt. */
function resultOf(words: string): PostResult {
  const [, amount, unit] = /^503 (\d+) (s|min)$/.exec(words) ?? [];
  if (amount) return again(Number(amount) * UNIT_MS[unit as 's']);
  return { accepted: ACCEPTED, refused: REFUSED, lost: LOST }[words] ?? assert.fail(`no such answer: ${words}`);
}

/** A process that is killed, or was stopped before, and another one. */
function restart(stage: Stage, mode: string, hasRead: boolean): void {
  const dryRun = { '': stage.settings.dryRun ?? false, ' dry': true, ' for real': false }[mode] ?? false;
  const approvals = reopened(stage.fixture, { ...stage.settings, dryRun });
  stage.t.after(() => stage.fixture.close(approvals));
  stage.approvals = approvals;
  if (hasRead) stage.fixture.poll();
}

function recordOf(approvals: Approvals, textOf: (step: Omit<ApprovalStep, 'atMs'>) => string): readonly string[] {
  const life = approvals.life(EVENT_ID);
  assert.ok('steps' in life);
  return life.steps.map(textOf);
}

/** The steps, with the answer of each that has one. */
const STEPS: readonly (readonly [RegExp, Play])[] = [
  [
    /^(\w+) holds(?:: (.+))?$/,
    ({ approvals }, who = '', reason) => said(approvals.hold(caller(who), { EventId: EVENT_ID, reason })),
  ],
  [
    /^(\w+) releases(?: (\w+))?$/,
    ({ approvals }, who = '', holder) => said(approvals.release(caller(who), EVENT_ID, holder ?? null)),
  ],
  [/^(\w+) approves$/, async ({ approvals }, who) => said(await approve(approvals, who))],
  [
    /^(\w+) asks$/,
    (stage, who) => {
      stage.asked = approve(stage.approvals, who);
      // Some stories end before the answer.
      stage.asked.catch(() => {});
    },
  ],
  [/^is answered$/, async ({ asked }) => said(await (asked ?? assert.fail('nobody has asked')))],
  [/^\+(\d+) (ms|s|min)$/, ({ fixture }, amount, unit) => fixture.time.advance(Number(amount) * UNIT_MS[unit as 'ms'])],
  [/^clock ([+-]\d+) min$/, ({ fixture }, minutes) => fixture.time.jumpWall(Number(minutes) * UNIT_MS.min)],
  [/^poll$/, ({ fixture }) => fixture.poll()],
  [/^it is a (\w+)$/, (stage, eventType = '') => changed({ eventType })(stage)],
  [/^it is by (\w+)$/, (stage, eventSource = '') => changed({ eventSource })(stage)],
  [/^it lasts (\d+) s$/, (stage, seconds) => changed({ durationInSeconds: Number(seconds) })(stage)],
  [/^it is described$/, changed({ description: 'changed' })],
  [/^NotBefore (-?\d+) min$/, (stage, minutes) => changed({ notBefore: inMinutes(Number(minutes)) })(stage)],
  [/^it starts$/, changed(STARTED)],
  [
    /^it is Scheduled, NotBefore (\d+) min$/,
    (stage, minutes) => changed({ eventStatus: 'Scheduled', notBefore: inMinutes(Number(minutes)) })(stage),
  ],
  [/^it is Scheduled$/, changed({ eventStatus: 'Scheduled' })],
  [/^it ends$/, ({ fixture }) => end(fixture)],
  [
    /^service answers (.+)$/,
    ({ fixture }, answers = '') => {
      fixture.answers = answers.split(', ').map(resultOf);
    },
  ],
  [
    /^service is silent$/,
    (stage) => {
      const { promise, resolve } = Promise.withResolvers<PostResult>();
      stage.fixture.answers = [promise];
      stage.answer = resolve;
    },
  ],
  [/^service at last answers (.+)$/, (stage, words = '') => stage.answer(resultOf(words))],
  [/^service lists it Started$/, ({ fixture }) => fixture.list(EVENT_ID, STARTED)],
  [/^service lists it no more$/, ({ fixture }) => fixture.end(EVENT_ID)],
  [
    /^service lists it with (\d+) s$/,
    ({ fixture }, seconds) => fixture.list(EVENT_ID, { durationInSeconds: Number(seconds) }),
  ],
  [
    /^service is (away|back)$/,
    ({ fixture }, where) => {
      fixture.isAway = where === 'away';
    },
  ],
  [
    /^sight is (lost|back)$/,
    ({ fixture }, where) => {
      fixture.isBlind = where === 'lost';
    },
  ],
  [
    /^disk is (full|well)$/,
    ({ fixture }, how) => {
      fixture.store.fault = how === 'full' ? new Error('the disk is full') : null;
    },
  ],
  [/^stop$/, ({ fixture, approvals }) => fixture.close(approvals)],
  [/^restart(| dry| for real)$/, (stage, mode = '') => restart(stage, mode, true)],
  [/^restart(| dry| for real) without a document$/, (stage, mode = '') => restart(stage, mode, false)],
  [/^policy$/, ({ approvals }) => approvals.summary(KEY)?.policy],
  [/^approved by$/, ({ approvals }) => approvals.summary(KEY)?.approvedBy.join(', ')],
  [/^waiting for$/, ({ approvals }) => approvals.summary(KEY)?.waitingFor?.join(', ')],
  [/^state$/, ({ approvals }) => approvals.summary(KEY)?.state ?? 'none'],
  [
    /^holders$/,
    ({ approvals }) =>
      (approvals.summary(KEY)?.holds ?? []).map(({ approver, reason }) => `${approver}: ${reason}`).join(', '),
  ],
  [
    /^next$/,
    ({ approvals }) => {
      const { action, at, by } = approvals.nextStep(KEY).nextStep;
      return [action, at === null ? 'at no known time' : `min ${minutesTo(at)}`, by].filter(Boolean).join(' ');
    },
  ],
  [/^posts$/, ({ fixture }) => String(fixture.posts.length)],
  [/^posted in min$/, ({ fixture }) => fixture.posts.map(({ atMs }) => atMs / UNIT_MS.min).join(', ')],
  [/^posted at ms$/, ({ fixture }) => fixture.posts.map(({ atMs }) => atMs).join(', ')],
  [/^document ages$/, ({ fixture }) => fixture.posts.map(({ documentAgeMs }) => documentAgeMs).join(', ')],
  [/^reads$/, ({ fixture }) => String(fixture.reads)],
  [/^timers$/, ({ fixture }) => String(fixture.time.pending)],
  [/^told$/, ({ fixture }) => fixture.told.join(' ')],
  [/^published$/, ({ fixture }) => fixture.store.told.join(', ')],
  [
    /^on disk$/,
    ({ fixture }) => {
      const { state, decision } = fixture.store.stored(KEY, 1) ?? {};
      return `${state} by ${decision?.by}`;
    },
  ],
  [/^log has (.+)$/, ({ fixture }, text = '') => assert.ok(fixture.log.some((line) => line.includes(text)))],
  [/^record$/, ({ approvals }) => recordOf(approvals, ({ step }) => step).join(' ')],
  [
    /^whole record$/,
    ({ approvals }) =>
      recordOf(approvals, ({ step, policy, reason, status }) =>
        [step, policy, reason, status].filter((part) => part !== null).join(' '),
      ).join(', '),
  ],
];

/** The event is Scheduled and was just read. Steps end with a line or `;`. */
async function play(
  t: TestContext,
  settings: ApprovalSettings,
  event: Partial<ScheduledEvent>,
  text: string,
): Promise<void> {
  const stage: Stage = { t, settings, ...approvalsOverOneEvent(t, settings, event), asked: null, answer: () => {} };
  for (const line of text.split(/[\n;]/).map((each) => each.trim())) {
    if (line === '') continue;
    const [step = '', expected] = line.split(/ > ?/);
    const [words, run] = STEPS.map(([words, run]) => [words.exec(step), run] as const).find(([words]) => words) ?? [];
    assert.ok(words && run, `no such step: ${step}`);
    const answer = await run(stage, ...words.slice(1));
    await settle();
    if (expected !== undefined) assert.equal(answer, expected, line);
  }
}

export type Story = readonly [title: string, settings: ApprovalSettings, text: string];

/** @param event the fields of the event, in all of these stories */
export function testStories(stories: readonly Story[], event: Partial<ScheduledEvent> = {}): void {
  for (const [title, settings, text] of stories) test(title, (t) => play(t, settings, event, text));
}
