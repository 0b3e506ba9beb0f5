// Chance and the begin of a history → windows and budgets that matter in it, and their rules.
import type { Chance } from './chance.ts';
import type { ApprovalSettings, BudgetSettings, RuleSettings, WindowSettings } from './history.ts';

const MINUTE_MS = 60_000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
/** Of 2026: in each, one of the zones above sets its clocks. Lord Howe sets them by half an hour. */
const CHANGES_MS = [
  '2026-03-29T01:00Z',
  '2026-10-25T01:00Z',
  '2026-03-08T07:00Z',
  '2026-04-04T15:00Z',
  '2026-10-03T15:30Z',
].map((time) => Date.parse(time));

/** Most histories begin at any minute of the year, some shortly before a clock is set. */
export function plannedStartMs(chance: Chance): number {
  if (chance.is(0.1)) return chance.one(CHANGES_MS) - chance.between(0, 12) * MINUTE_MS;
  return Date.UTC(2026, 0, 1) + chance.between(0, 300 * 24 * 60) * MINUTE_MS;
}

interface Terms extends Pick<ApprovalSettings, 'windows' | 'budgets'> {
  readonly rules: readonly RuleSettings[];
}

/** Rules that approve in windows or within budgets. Each window and each budget is named by one. */
export function plannedTerms(chance: Chance, startMs: number, impacts: readonly string[]): Terms {
  const hasWindow = chance.is(0.5);
  const hasBudget = chance.is(0.5);
  if (!hasWindow && !hasBudget) return { rules: [] };
  const during = hasWindow ? (chance.is(0.3) ? ['first', 'second'] : ['first']) : [];
  const budgets = { ...(hasBudget && { budgets: ['machines'] }) };
  const deadline = { deadline: { before: `${chance.between(5, 60)}s`, then: 'approve' as const } };
  const rule: RuleSettings = {
    when: { impacts: chance.some(impacts, 0.6).concat(chance.one(impacts)) },
    then: 'approve',
    ...(hasWindow && { during }),
    ...budgets,
    ...(hasWindow && chance.is(0.4) && { otherwise: 'wait' as const, ...(chance.is(0.6) && deadline) }),
  };
  const waiting: RuleSettings = { when: { initiators: ['Platform'] }, then: 'wait', ...deadline, ...budgets };
  return {
    rules: [rule, ...(hasBudget && chance.is(0.4) ? [waiting] : [])],
    ...(hasWindow && { windows: Object.fromEntries(during.map((name) => [name, window(chance, startMs)])) }),
    ...(hasBudget && { budgets: { machines: budget(chance) } }),
  };
}

/** It opens or closes in the minutes of the history. */
function window(chance: Chance, startMs: number): WindowSettings {
  const timeZone = chance.one(ZONES);
  const clock = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  });
  const shown = (atMs: number) => Object.fromEntries(clock.formatToParts(atMs).map(({ type, value }) => [type, value]));
  const fromMs = startMs + chance.between(-10, 10) * MINUTE_MS;
  const [begin, end] = [shown(fromMs), shown(fromMs + chance.between(1, 14) * MINUTE_MS)];
  const from = `${begin['hour']}:${begin['minute']}`;
  const to = `${end['hour']}:${end['minute']}`;
  const days = chance.some(DAYS, 0.85);
  return {
    days: days.length === 0 ? ['Sat'] : days,
    from,
    to: to === from ? (from === '00:00' ? '24:00' : '00:00') : to,
    ...((timeZone !== 'UTC' || chance.is(0.5)) && { timeZone }),
    ...(chance.is(0.1) && { except: [`${begin['year']}-${begin['month']}-${begin['day']}`] }),
  };
}

function budget(chance: Chance): BudgetSettings {
  return {
    resources: [chance.one(['web_*', 'web_*', 'web_0', 'WEB_?'])],
    atMost: chance.one([1, 1, 2, 3]),
    ...(chance.is(0.6) && { rest: `${chance.between(1, 90)}s` }),
  };
}
