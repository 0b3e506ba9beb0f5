// Rules with `during`: when the bridge approves, in which window, and what happens without one.
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import type { WindowOptions } from '../../../../src/approvals/rules/windows.ts';
import { inMinutes, testStories } from '../../../virtual/approvals-story.ts';

const EVERY_DAY = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** Open daily from minute `from` until minute `to` of the first hour, in UTC. */
function daily(from: number, to: number): WindowOptions {
  const time = (minutes: number) => `00:${String(minutes).padStart(2, '0')}`;
  return { days: EVERY_DAY, from: time(from), to: time(to), except: [], timeZone: 'UTC' };
}

const WINDOWS = {
  five: daily(5, 10),
  twelve: daily(12, 14),
  later: daily(30, 40),
  night: { ...daily(5, 10), to: '00:05', from: '23:00' },
};

function during(...names: readonly string[]): { policy: readonly PolicyRule[]; windows: typeof WINDOWS } {
  return { policy: [{ when: {}, then: 'approve', during: names }], windows: WINDOWS };
}

function orWait(more: Partial<PolicyRule> = {}) {
  return {
    windows: WINDOWS,
    policy: [{ when: {}, then: 'approve', during: ['later'], otherwise: 'wait', ...more }] as readonly PolicyRule[],
  };
}

/** The third machine of a group. */
const THIRD = { group: { submit: 'leader', failoverAfterMs: 60_000, members: ['other'] }, ownName: 'other' } as const;
const FAR_BEHIND = { ...THIRD, group: { ...THIRD.group, failoverAfterMs: 180_000 } };

testStories(
  [
    [
      'an event before the window is approved when it opens, and no sooner',
      during('five'),
      'state > waiting; next > approve min 5 policy[0]; +299999 ms; posts > 0; +1 ms; posted in min > 5; whole record > decided policy[0] policy, submitted policy[0] 200',
    ],
    ['an event inside the window is approved at once', during('night'), '+1 ms; posted in min > 0; state > submitted'],
    [
      'of several windows, the first that opens counts',
      during('twelve', 'five'),
      'next > approve min 5 policy[0]; +6 min; posted in min > 5',
    ],
    [
      'an event whose windows open only after NotBefore is left to Azure, and approvers may approve it',
      during('later'),
      'next > start min 15; +14 min; posts > 0; state > waiting; orders approves > 200 submitted; posts > 1',
    ],
    [
      'before the window opens, an approver may approve, and the bridge posts at once',
      during('five'),
      '+1 min; orders approves > 200 submitted; posted in min > 1; +9 min; posts > 1',
    ],
    [
      'a hold over the whole window leaves the approval to the next one',
      during('five', 'twelve'),
      'orders holds; +5 min; state > held; next > start min 15; +6 min; orders releases > released; next > approve min 12 policy[0]; +2 min; posted in min > 12',
    ],
    [
      'a hold that ends inside the window lets the bridge approve at once',
      during('five'),
      'orders holds; +7 min; orders releases > released; posted in min > 7',
    ],
    [
      'before a machine that slept over the window reads a document, its next step is in the next window',
      during('five', 'twelve'),
      'clock +11 min; next > approve min 12 policy[0]',
    ],
    [
      'before a machine that slept into the window reads a document, its next step is now',
      during('five'),
      'clock +6 min; next > approve min 6 policy[0]',
    ],
    [
      'before a machine that slept over its last window reads a document, the event is left to Azure',
      during('five'),
      'clock +11 min; next > start min 15',
    ],
    [
      'what Azure has not accepted when the window closes waits for the next one',
      during('five', 'twelve'),
      'service answers 503 1 s, 503 6 min; +5 min; posts > 1; +2 s; posts > 2; +6 min; state > waiting; next > approve min 12 policy[0]; +1 min; posts > 3; state > submitted',
    ],
    [
      'the decision that waits for an answer is dropped when the window closes, and made again in the next',
      during('five', 'twelve'),
      'service answers 503 1 s, 503 6 min; +8 min; state > submitting; +2 min; state > waiting; on disk > waiting by undefined; +2 min; whole record > decided policy[0] policy, answered policy[0], dropped policy[0] policy, decided policy[0] policy, submitted policy[0] 200',
    ],
    [
      'a process that starts after the opening approves at once, if the window is still open',
      during('five'),
      'stop; +7 min; restart; +1 s; state > submitted; posts > 1',
    ],
    [
      'a process that slept through the window approves in the next one',
      during('five', 'twelve'),
      'stop; +11 min; restart; next > approve min 12 policy[0]; +1 min; posted in min > 12',
    ],
    [
      'a restart inside the window posts nothing twice, and after it nothing more',
      during('five'),
      '+5 min; restart; +1 min; posts > 1; restart; +6 min; posts > 1',
    ],
    [
      'a decision that was made in the window and is not posted when the process ends, is not posted after the window',
      during('five'),
      'service answers 503 10 min; +9 min; service is away; restart without a document; +4 min; service is back; poll; posts > 1; state > waiting',
    ],
    [
      'a new NotBefore before the window leaves the event to Azure, and a later one approves it again in the window',
      during('twelve'),
      'next > approve min 12 policy[0]; NotBefore 11 min; next > start min 11; NotBefore 40 min; next > approve min 12 policy[0]; +12 min; posted in min > 12',
    ],
    [
      'with otherwise: wait, an event without a window in time waits for approvers',
      orWait(),
      'state > waiting; waiting for > orders, billing; next > start min 15; +2 min; orders approves > 200 submitted',
    ],
    [
      'with otherwise: wait, its required approvers and its deadline are those of the rule',
      orWait({ required: ['billing'], deadline: { beforeMs: 120_000, then: 'approve' } }),
      'waiting for > billing; orders approves > 403 forbidden; next > approve min 13 policy[0]; +13 min; posted in min > 13; on disk > submitted by deadline',
    ],
    [
      'with otherwise: wait, a window that opens in time needs no approver and has no deadline',
      orWait({ during: ['five'], deadline: { beforeMs: 120_000, then: 'leave' } }),
      '+5 min; posted in min > 5; on disk > submitted by policy',
    ],
    [
      'a wall clock that is set past the opening is noticed at the next document',
      during('twelve'),
      'clock +13 min; poll; posts > 1',
    ],
    [
      'a wall clock that is set back before the opening stops what is not accepted until the window opens again',
      during('five'),
      'service answers 503 1 min; +5 min; posts > 1; clock -10 min; poll; +2 min; posts > 1; +9 min; posts > 2; state > submitted',
    ],
    [
      'a store that fails when the window opens: the next document makes the decision',
      during('five'),
      'disk is full; +5 min; posts > 0; log has a window opened or closed and could not be stored; disk is well; +1 min; poll; posted in min > 6',
    ],
    [
      'the third machine of a group counts its turn from the opening',
      { ...during('five'), ...THIRD },
      'next > approve min 7 policy[0]; +6 min; posts > 0; +1 min; posted in min > 7',
    ],
    [
      'a turn that comes after the window has closed waits for the next window in which it fits',
      { ...during('five', 'later'), ...FAR_BEHIND },
      'NotBefore 60 min; next > approve min 36 policy[0]; +35 min; posts > 0; +1 min; posted in min > 36',
    ],
    [
      'a machine that slept through the opening counts its turn from the opening',
      { ...during('five'), ...THIRD },
      'clock +8 min; poll; posts > 1',
    ],
    [
      'after a release, the turn counts from the release, even if the machine slept through the opening',
      { ...during('five'), ...THIRD },
      'clock +6 min; poll; orders holds > 201 held; +1 min; orders releases > released; +119 s; posts > 0; +1 s; posts > 1',
    ],
    [
      'a release after the machine slept through the end of the window approves nothing before the next one',
      during('five', 'twelve'),
      'orders holds; clock +6 min; poll; state > held; clock +5 min; orders releases > released; state > waiting; poll; posts > 0; next > approve min 12 policy[0]',
    ],
    [
      'a process that starts before its turn knows that no earlier one posted, so a hold is accepted',
      { ...during('five'), ...THIRD },
      '+415 s; poll; restart without a document; orders holds > 201 held; +10 s; poll; +5 min; posts > 0',
    ],
    [
      'a dry run decides in the window and posts nothing',
      { ...during('five'), dryRun: true },
      'next > start min 15; +5 min; state > dry-run; posts > 0',
    ],
    [
      'an event that starts before the window is not approved',
      during('five'),
      '+2 min; it starts; +5 min; posts > 0; state > none',
    ],
  ],
  { notBefore: inMinutes(15) },
);
