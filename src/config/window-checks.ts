// Windows, budgets and rules → faults and warnings that involve more than one key.
import type { PolicyRule } from '../approvals/rules/options.ts';
import { type Calendar, compileCalendar, FURTHEST_DAYS } from '../approvals/rules/windows.ts';
import { formatDuration } from '../formats/durations.ts';
import { hasZoneData } from '../formats/zoned-time.ts';
import { type Fault, formatPath, nearest } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import type { Sections } from './sections.ts';
import type { Warning } from './warnings.ts';

/** A key of a rule → the section of `approvals` that defines its names. */
const SECTION_OF = { during: 'windows', budgets: 'budgets' } as const;

type Key = keyof typeof SECTION_OF;

/**
 * Names that are not defined, definitions that no rule names, and windows on a Node that cannot compute their times.
 * @param file `approvals` as written, so that an invalid key is not reported a second time
 * @param isComplete whether Node has the data of all time zones
 */
export function windowFaults(file: unknown, isComplete: () => boolean = hasZoneData): Fault[] {
  const approvals = isMapping(file) ? file : {};
  return [
    ...Object.keys(SECTION_OF).flatMap((key) => nameFaults(approvals, key as Key)),
    ...(namesIn(approvals, 'windows').length === 0 || isComplete() ? [] : [NO_ZONE_DATA]),
  ];
}

const NO_ZONE_DATA: Fault = {
  path: 'approvals.windows',
  message:
    'cannot be used, because this Node.js has no full time-zone data: install Node.js with full ICU, as nodejs.org builds it, or remove the windows',
};

function nameFaults(approvals: Readonly<Record<string, unknown>>, key: Key): Fault[] {
  const section = SECTION_OF[key];
  const defined = namesIn(approvals, section);
  const named = namedBy(approvals['policy'], key);
  const unknown = named.filter(({ name }) => !defined.includes(name));
  const used = new Set(named.map(({ name }) => name));
  return [
    ...unknown.map(({ name, rule, index }) => {
      const suggestion = nearest(name, defined);
      return {
        path: formatPath(['approvals', 'policy', rule, key, index]),
        message: `is not a name in approvals.${section}`,
        ...(suggestion === undefined ? {} : { suggestion }),
      };
    }),
    ...(hasKnownRules(approvals['policy']) ? defined : [])
      .filter((name) => !used.has(name))
      .map((name) => ({
        path: formatPath(['approvals', section, name]),
        message: `is used by no rule: name it in ${key} of a rule in approvals.policy, or remove it`,
      })),
  ];
}

/** Whether `policy` says which names its rules use. If it is neither a list nor a preset, it has a fault already. */
function hasKnownRules(policy: unknown): boolean {
  return policy === undefined || typeof policy === 'string' || Array.isArray(policy);
}

function namedBy(policy: unknown, key: Key) {
  return (Array.isArray(policy) ? policy : []).flatMap((rule: unknown, position) => {
    const names = isMapping(rule) ? rule[key] : undefined;
    return (Array.isArray(names) ? names : []).flatMap((name: unknown, index) =>
      typeof name === 'string' ? [{ name, rule: position, index }] : [],
    );
  });
}

function namesIn(approvals: Readonly<Record<string, unknown>>, section: (typeof SECTION_OF)[Key]): readonly string[] {
  const value = approvals[section];
  return isMapping(value) ? Object.keys(value) : [];
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Windows that do not open, and windows that events can miss because Azure announces them too late.
 * @param nowMs the wall time; absent: no check
 */
export function windowWarnings(
  { windows, policy }: Pick<Sections['approvals'], 'windows' | 'policy'>,
  nowMs: number | undefined,
): Warning[] {
  if (nowMs === undefined || Object.keys(windows).length === 0) return [];
  const calendar = compileCalendar(windows);
  const rules = Array.isArray(policy) ? (policy as readonly PolicyRule[]) : [];
  return [
    ...Object.keys(windows)
      .filter((name) => calendar([name], nowMs) === null)
      .map((name) => ({
        path: formatPath(['approvals', 'windows', name]),
        message: `does not open in the next ${FURTHEST_DAYS} days: correct its days, times or except`,
        isGrave: true,
      })),
    ...rules.flatMap((rule, index) =>
      shortNotices(rule)
        .filter(({ noticeMs }) => canMiss(calendar, rule.during ?? [], noticeMs, nowMs))
        .map((short) => ({
          path: formatPath(['approvals', 'policy', index, 'during']),
          message: missed(short, rule),
          isGrave: false,
        })),
    ),
  ];
}

interface ShortNotice {
  /** What Azure announces, and how long before NotBefore. */
  readonly announced: string;
  /** The longest time between the announcement and NotBefore. */
  readonly noticeMs: number;
  /** What to do about it. */
  readonly advice: string;
}

/** EventTypes that Azure never announces days ahead (protocol 5.8). */
const SHORT_NOTICES: ReadonlyMap<string, Pick<ShortNotice, 'announced' | 'noticeMs'>> = new Map([
  ['Preempt', { announced: 'Azure announces a Preempt about 30s ahead', noticeMs: MINUTE_MS / 2 }],
  ['Terminate', { announced: 'Azure announces a Terminate at most 15m ahead', noticeMs: 15 * MINUTE_MS }],
]);

/**
 * The longest notice that is short. What a user starts has no more: it waits as long as Azure waits for an approval
 * (protocol 5.8, 7.4).
 */
const SHORT_MS = 15 * MINUTE_MS;

/** Returns what the rule is for and Azure announces late; nothing without windows. */
function shortNotices({ during, when }: PolicyRule): readonly ShortNotice[] {
  if (during === undefined) return [];
  const { impacts = [], initiators = [], notice } = when;
  const types = [...SHORT_NOTICES].filter(([type]) => impacts.some((impact) => isSame(impact, type)));
  if (types.length > 0)
    return types.map(([type, short]) => ({
      ...short,
      advice: `put a rule for ${type} before this one, with then: approve or then: wait`,
    }));
  if (initiators.length > 0 && initiators.every((initiator) => isSame(initiator, 'User')))
    return [
      {
        announced: 'Azure announces what a user starts at most 15m ahead',
        noticeMs: SHORT_MS,
        advice: 'remove during, or let approvers decide with then: wait',
      },
    ];
  if (notice?.belowMs === undefined || notice.belowMs > SHORT_MS) return [];
  const announced = `this rule is for events less than ${formatDuration(notice.belowMs)} ahead`;
  return [{ announced, noticeMs: notice.belowMs, advice: 'raise notice.below, or remove during' }];
}

function isSame(text: string, other: string): boolean {
  return text.toLowerCase() === other.toLowerCase();
}

function missed({ announced, advice }: ShortNotice, { otherwise }: PolicyRule): string {
  const fate = otherwise === 'wait' ? 'waits for approvers' : 'is left to Azure, which starts it at NotBefore';
  return `${announced}: if no window is open in that time, the event ${fate}; ${advice}`;
}

/** Whether there is a moment from which no window opens within the notice. */
function canMiss(calendar: Calendar, names: readonly string[], noticeMs: number, nowMs: number): boolean {
  const endMs = nowMs + FURTHEST_DAYS * DAY_MS;
  for (let atMs = nowMs; atMs < endMs; ) {
    const opening = calendar(names, atMs);
    if (opening === null || opening.fromMs - atMs >= noticeMs) return true;
    atMs = opening.untilMs;
  }
  return false;
}
