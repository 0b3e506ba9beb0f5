// Decisions of `policy test` → a table for a terminal: event, window, moment, budget.
import { toRfc3339Seconds } from '../../formats/dates.ts';
import { shortenedText, visibleLine } from '../../formats/visible-text.ts';
import type { Decision } from './decision.ts';

/** A terminal's usual width. */
const WIDTH = 80;

/** Names of windows and lists of budgets are cut to this length. */
const LONGEST_NAME = 12;

/** How much of an EventId a row shows. */
const EVENT_ID_LENGTH = 8;

const GAP = '  ';
const HEAD = ['event', 'window', 'moment', 'budget'] as const;
const NONE = '-';

interface Told {
  readonly decision: Decision;
  readonly text: string;
}

/** Counts those of one time with one text that follow each other. */
export function grouped(told: readonly Told[]): readonly (Told & { readonly count: number })[] {
  const groups: (Told & { count: number })[] = [];
  for (const each of told) {
    const last = groups.at(-1);
    if (last && last.text === each.text && last.decision.at === each.decision.at) last.count++;
    else groups.push({ ...each, count: 1 });
  }
  return groups;
}

/** Returns a head and a row for each decision, at most 80 columns wide; equal ones of one time share a row. */
export function tableLines(decisions: readonly Decision[]): readonly string[] {
  const groups = grouped(decisions.map((decision) => ({ decision, text: JSON.stringify(cellsOf(decision)) })));
  if (groups.length === 0) return [];
  const rows = groups.map(({ decision, count }) => {
    const [event = '', ...others] = cellsOf(decision);
    const id = visibleLine(decision.eventId.slice(0, EVENT_ID_LENGTH));
    return [count === 1 ? `${id} ${event}` : `${count} events`, ...others];
  });
  const table = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => table.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  const [event = 0, ...others] = widths;
  const room = WIDTH - GAP.length * widths.length - others.reduce((sum, width) => sum + width, 0);
  return table.map((row) => lineOf(row, [Math.min(event, room), ...others]));
}

function lineOf(row: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, column) => shortenedText(row[column] ?? '', width).padEnd(width));
  return (GAP + cells.join(GAP)).trimEnd();
}

function cellsOf({ eventType, resources, window, nextStep, heldBackBy }: Decision): readonly string[] {
  const [first = 'no machine', ...more] = resources;
  const machines = more.length === 0 ? first : `${first} +${more.length}`;
  const names = [window ?? NONE, heldBackBy.join(', ') || NONE].map((name) =>
    shortenedText(visibleLine(name), LONGEST_NAME),
  );
  const [windowName = NONE, budgets = NONE] = names;
  return [visibleLine(`${eventType} ${machines}`), windowName, momentWords(nextStep), budgets];
}

/** `approve`: by this bridge. `start`: by Azure. */
function momentWords({ action, at }: Decision['nextStep']): string {
  if (action === null) return NONE;
  if (at !== null) return `${action.padEnd('approve'.length)} ${toRfc3339Seconds(Date.parse(at))}`;
  return action === 'approve' ? 'approve when it fits' : 'start at any time';
}
