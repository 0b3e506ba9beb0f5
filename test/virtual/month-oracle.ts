// A month of maintenances and rules → who is approved when, without any code of the bridge.
import type { BudgetOptions } from '../../src/approvals/rules/budgets.ts';
import type { PolicyRule } from '../../src/approvals/rules/options.ts';
import type { WindowOptions } from '../../src/approvals/rules/windows.ts';

export const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** Days of wall clock before and after the month: windows of the evening before, and those after its end. */
const MARGIN_DAYS = 3;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

export interface Maintenance {
  readonly eventId: string;
  readonly eventType: string;
  readonly resources: readonly string[];
  /** Half a minute after this minute of the month, it is first listed. */
  readonly fromMinute: number;
  /** Whole minutes after that; null: it has no NotBefore. */
  readonly noticeMinutes: number | null;
  /** How long after its approval it starts, unless NotBefore comes first. */
  readonly startDelayMinutes: number;
  readonly lengthMinutes: number;
  /** It is canceled so long after it was listed, if it has not started; null: it is not. */
  readonly canceledAfterMinutes: number | null;
  /** Minutes after it was listed. */
  readonly hold: { readonly fromMinute: number; readonly untilMinute: number } | null;
  readonly voteAfterMinutes: number | null;
}

export interface Month {
  readonly startMs: number;
  readonly days: number;
  readonly windows: Readonly<Record<string, WindowOptions>>;
  readonly budgets: Readonly<Record<string, BudgetOptions>>;
  readonly policy: readonly PolicyRule[];
  readonly maintenances: readonly Maintenance[];
}

/** What the metadata service shows of a maintenance, from now on. */
export interface Shown {
  readonly kind: 'listed' | 'started' | 'ended';
  readonly maintenance: Maintenance;
  /** In milliseconds since the begin of the month. */
  readonly notBeforeMs: number | null;
}

interface Command {
  readonly kind: 'hold' | 'release' | 'vote';
  readonly maintenance: Maintenance;
}

/** One moment: a document with these changes, then these commands. */
export interface Moment {
  readonly atMs: number;
  readonly shown: readonly Shown[];
  readonly commands: readonly Command[];
}

export interface History {
  /** In order; `atMs` counts from the begin of the month. */
  readonly moments: readonly Moment[];
  /** Every time at which something may happen: moments, edges of windows, deadlines, ends of rests. */
  readonly times: readonly number[];
  /** By EventId: the milliseconds since the begin of the month at which its approval is posted. */
  readonly approved: ReadonlyMap<string, number>;
}

interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The wall clock of a zone, minute by minute, in minutes since 1970 as a calendar without time zones counts them. */
const clocks = new Map<string, Int32Array>();

function wallClock(zone: string, startMs: number, days: number): Int32Array {
  const id = `${zone} ${startMs} ${days}`;
  const known = clocks.get(id);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric' },
  });
  const clock = new Int32Array((days + 2 * MARGIN_DAYS) * DAY_MINUTES);
  for (let minute = 0; minute < clock.length; minute++) {
    const [month = 0, day = 0, year = 0, hour = 0, minutes = 0] = format
      .format(startMs + (minute - MARGIN_DAYS * DAY_MINUTES) * MINUTE_MS)
      .split(/\D+/)
      .map(Number);
    clock[minute] = Date.UTC(year, month - 1, day, hour, minutes) / MINUTE_MS;
  }
  clocks.set(id, clock);
  return clock;
}

/** Every opening of a window, by walking the minutes of its wall clock. */
function openingsOf({ days, from, to, except, timeZone }: WindowOptions, month: Month): readonly Interval[] {
  const clock = wallClock(timeZone, month.startMs, month.days);
  const [fromMinutes, toMinutes] = [minutesOf(from), minutesOf(to)];
  const [firstDay, lastDay] = [clock[0], clock.at(-1)].map((minute = 0) => Math.floor(minute / DAY_MINUTES)) as [
    number,
    number,
  ];
  const openings: Interval[] = [];
  for (let day = firstDay + 1; day < lastDay - 1; day++) {
    const date = new Date(day * DAY_MINUTES * MINUTE_MS);
    const weekday = WEEKDAYS[date.getUTCDay()];
    if (!days.some((each) => each === weekday) || except.includes(date.toISOString().slice(0, 10))) continue;
    const begin = day * DAY_MINUTES + fromMinutes;
    const end = day * DAY_MINUTES + toMinutes + (toMinutes <= fromMinutes ? DAY_MINUTES : 0);
    const [first, last] = [firstShown(clock, begin), lastShown(clock, end)];
    const ms = (index: number) => (index - MARGIN_DAYS * DAY_MINUTES) * MINUTE_MS;
    if (first < last) openings.push({ fromMs: ms(first), untilMs: ms(last) });
  }
  return openings;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/** The first minute at which the clock shows this time or, if it never does, a later one. */
function firstShown(clock: Int32Array, time: number): number {
  const shown = clock.indexOf(time);
  return shown === -1 ? clock.findIndex((each) => each > time) : shown;
}

function lastShown(clock: Int32Array, time: number): number {
  const shown = clock.lastIndexOf(time);
  return shown === -1 ? clock.findIndex((each) => each > time) : shown;
}

interface Life {
  readonly maintenance: Maintenance;
  readonly rule: PolicyRule | null;
  readonly notBeforeMs: number | null;
  /** The openings in which its rule approves; null: at any time. */
  readonly openings: readonly Interval[] | null;
  phase: 'ahead' | 'scheduled' | 'started' | 'ended';
  approvedMs: number | null;
  endedMs: number | null;
  isHeld: boolean;
  hasVoted: boolean;
  isDue: boolean;
  /** Whether it was Started or approved when it ended. */
  wasInUse: boolean;
}

/** Plays the month, and returns what the metadata service lists when, what callers do, and what the bridge approves. */
export function historyOf(month: Month): History {
  const openings = new Map(Object.entries(month.windows).map(([name, window]) => [name, openingsOf(window, month)]));
  const lives = month.maintenances.map((maintenance): Life => {
    const rule = month.policy.find(({ when: { impacts } }) => impacts?.includes(maintenance.eventType) ?? true) ?? null;
    const { fromMinute, noticeMinutes } = maintenance;
    return {
      ...{ maintenance, rule, phase: 'ahead', approvedMs: null, endedMs: null },
      ...{ isHeld: false, hasVoted: false, isDue: false, wasInUse: false },
      notBeforeMs: noticeMinutes === null ? null : (fromMinute + noticeMinutes) * MINUTE_MS,
      openings: rule?.during ? rule.during.flatMap((name) => openings.get(name) ?? []) : null,
    };
  });
  const moments: Moment[] = [];
  const visited: number[] = [];
  const times = new Times();
  for (const life of lives) schedule(life, month, times);
  for (let atMs = times.next(-1); atMs !== null; atMs = times.next(atMs)) {
    visited.push(atMs);
    // What time alone brings comes before what happens at the same moment.
    approve(lives, month, atMs, times);
    const shown = lives.flatMap((life) => shownOf(life, atMs, times));
    if (shown.length > 0) approve(lives, month, atMs, times);
    const commands = lives.flatMap((life) => {
      const given = commandsOf(life, atMs);
      if (given.length > 0) approve(lives, month, atMs, times);
      return given;
    });
    if (shown.length + commands.length > 0) moments.push({ atMs, shown, commands });
  }
  const approved = lives.flatMap(({ maintenance: { eventId }, approvedMs }) =>
    approvedMs === null ? [] : [[eventId, approvedMs] as const],
  );
  return { moments, times: visited, approved: new Map(approved) };
}

/** Moments to look at, each once, in order. */
class Times {
  readonly #all = new Set<number>();

  add(...all: readonly (number | null)[]): void {
    for (const each of all) if (each !== null) this.#all.add(each);
  }

  next(afterMs: number): number | null {
    let next: number | null = null;
    for (const each of this.#all) if (each > afterMs && (next === null || each < next)) next = each;
    return next;
  }
}

function seenAt(minute: number): number {
  return minute * MINUTE_MS + MINUTE_MS / 2;
}

function schedule({ maintenance, notBeforeMs, openings, rule }: Life, month: Month, times: Times): void {
  const { fromMinute, canceledAfterMinutes, hold, voteAfterMinutes } = maintenance;
  times.add(seenAt(fromMinute), notBeforeMs === null ? null : notBeforeMs + MINUTE_MS / 2);
  for (const after of [canceledAfterMinutes, hold?.fromMinute, hold?.untilMinute, voteAfterMinutes])
    if (after != null) times.add(seenAt(fromMinute + after));
  for (const { fromMs, untilMs } of openings ?? [])
    if (fromMs >= 0 && fromMs < month.days * DAY_MINUTES * MINUTE_MS) times.add(fromMs, untilMs);
  if (rule?.deadline && notBeforeMs !== null) times.add(notBeforeMs - rule.deadline.beforeMs);
}

function shownOf(life: Life, atMs: number, times: Times): readonly Shown[] {
  const { maintenance, notBeforeMs } = life;
  const { fromMinute, lengthMinutes, canceledAfterMinutes } = maintenance;
  if (life.phase === 'ahead' && atMs === seenAt(fromMinute)) {
    life.phase = 'scheduled';
    return [{ kind: 'listed', maintenance, notBeforeMs }];
  }
  if (life.phase === 'started' && life.endedMs === atMs) {
    life.phase = 'ended';
    life.wasInUse = true;
    return [{ kind: 'ended', maintenance, notBeforeMs: null }];
  }
  if (life.phase === 'scheduled' && atMs >= startMsOf(life)) {
    life.phase = 'started';
    life.endedMs = seenAt(Math.floor(atMs / MINUTE_MS) + lengthMinutes);
    times.add(life.endedMs);
    return [{ kind: 'started', maintenance, notBeforeMs: null }];
  }
  if (
    life.phase === 'scheduled' &&
    canceledAfterMinutes !== null &&
    atMs === seenAt(fromMinute + canceledAfterMinutes)
  ) {
    life.phase = 'ended';
    life.wasInUse = life.approvedMs !== null;
    life.endedMs = atMs;
    return [{ kind: 'ended', maintenance, notBeforeMs: null }];
  }
  return [];
}

function startMsOf({ maintenance: { startDelayMinutes }, approvedMs, notBeforeMs }: Life): number {
  const byApproval = approvedMs === null ? Number.POSITIVE_INFINITY : startedBy(approvedMs, startDelayMinutes);
  return Math.min(byApproval, notBeforeMs === null ? Number.POSITIVE_INFINITY : notBeforeMs + MINUTE_MS / 2);
}

function startedBy(approvedMs: number, delayMinutes: number): number {
  return seenAt(Math.ceil(approvedMs / MINUTE_MS) + delayMinutes);
}

function commandsOf(life: Life, atMs: number): readonly Command[] {
  const { maintenance, rule } = life;
  const { fromMinute, hold, voteAfterMinutes } = maintenance;
  if (life.phase !== 'scheduled' || life.approvedMs !== null || rule?.then === 'never') return [];
  const isNow = (minutes: number | null | undefined) => minutes != null && atMs === seenAt(fromMinute + minutes);
  const commands: Command[] = [];
  if (isNow(hold?.fromMinute)) {
    life.isHeld = true;
    commands.push({ kind: 'hold', maintenance });
  }
  if (isNow(hold?.untilMinute) && life.isHeld) {
    life.isHeld = false;
    commands.push({ kind: 'release', maintenance });
  }
  if (isNow(voteAfterMinutes)) {
    life.hasVoted = true;
    commands.push({ kind: 'vote', maintenance });
  }
  return commands;
}

/** Approves what the rules approve now, in the order of NotBefore, then EventId. */
function approve(lives: readonly Life[], month: Month, atMs: number, times: Times): void {
  for (const life of lives) expire(life, atMs);
  const inOrder = lives
    .filter((life) => life.phase === 'scheduled' && life.approvedMs === null && !life.isHeld)
    .toSorted(
      (one, other) =>
        (one.notBeforeMs ?? Number.MAX_SAFE_INTEGER) - (other.notBeforeMs ?? Number.MAX_SAFE_INTEGER) ||
        (one.maintenance.eventId < other.maintenance.eventId ? -1 : 1),
    );
  // Those of approvers, and of rules without budgets, come first: they ask no budget, and count in it.
  for (const asksBudgets of [false, true]) {
    for (const life of inOrder) {
      const { hasVoted, rule } = life;
      if (life.approvedMs !== null || asksBudgets !== (!hasVoted && rule?.budgets !== undefined)) continue;
      if (!hasVoted && !(rulesApprove(life, atMs) && fits(life, lives, month, atMs))) continue;
      life.approvedMs = atMs;
      times.add(startedBy(atMs, life.maintenance.startDelayMinutes));
    }
  }
  for (const { endedMs } of lives)
    for (const { restMs } of Object.values(month.budgets)) if (endedMs !== null) times.add(endedMs + restMs);
}

/** A deadline that approves has come while the event was Scheduled. */
function expire(life: Life, atMs: number): void {
  const { rule, notBeforeMs, phase } = life;
  if (phase !== 'scheduled' || rule?.then !== 'wait' || rule.deadline?.then !== 'approve' || notBeforeMs === null)
    return;
  const dueMs = notBeforeMs - rule.deadline.beforeMs;
  const firstMs = seenAt(life.maintenance.fromMinute);
  if (dueMs > firstMs && atMs >= dueMs) life.isDue = true;
}

function rulesApprove({ rule, openings, notBeforeMs, isDue }: Life, atMs: number): boolean {
  if (rule?.then === 'wait') return isDue && (notBeforeMs === null || atMs < notBeforeMs);
  if (rule?.then !== 'approve') return false;
  if (openings === null) return true;
  return openings.some(
    ({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs && (notBeforeMs === null || fromMs < notBeforeMs),
  );
}

function fits({ maintenance, rule }: Life, lives: readonly Life[], month: Month, atMs: number): boolean {
  return (rule?.budgets ?? []).every((name) => {
    const { resources, atMost, restMs } = month.budgets[name] as BudgetOptions;
    const counted = (names: readonly string[]) =>
      names
        .map((each) => each.toLowerCase())
        .filter((each) => resources.some((glob) => each.startsWith(glob.slice(0, -1))));
    const used = lives
      .filter((life) => isInUse(life, restMs, atMs))
      .flatMap((life) => counted(life.maintenance.resources));
    const own = new Set(counted(maintenance.resources));
    const others = new Set(used.filter((each) => !own.has(each)));
    return own.size === 0 || others.size === 0 || others.size + own.size <= atMost;
  });
}

function isInUse({ phase, approvedMs, endedMs, isHeld, wasInUse }: Life, restMs: number, atMs: number): boolean {
  if (phase === 'ended') return wasInUse && endedMs !== null && atMs < endedMs + restMs;
  return phase === 'started' || (phase === 'scheduled' && approvedMs !== null && !isHeld);
}
