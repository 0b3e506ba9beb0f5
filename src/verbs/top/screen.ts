// What `top` shows → the lines of a terminal of any size.
import { toRfc3339Seconds } from '../../formats/dates.ts';
import { cell, columnsOf, fitted, wrapped } from './cells.ts';
import { type FleetEvent, isRunning } from './fleet-event.ts';
import type { ScreenLine } from './terminal-screen.ts';
import { troubleLines } from './troubles.ts';
import { CONNECTING, type WatchedBridge } from './watched-bridge.ts';
import { clockWords, nextLine, nextWords, typeWords, whenWords } from './words.ts';

/** What the lower part of the screen shows. */
export type Panel =
  | { readonly kind: 'details' }
  /** The answer is one key. */
  | { readonly kind: 'question'; readonly text: readonly string[] }
  | { readonly kind: 'typing'; readonly label: string; readonly text: string }
  /** Covers the list. */
  | { readonly kind: 'page'; readonly title: string; readonly text: readonly string[]; readonly top: number };

export interface ScreenView {
  readonly columns: number;
  readonly rows: number;
  readonly wallMs: number;
  readonly elapsedMs: number;
  readonly bridges: readonly WatchedBridge[];
  /** Those that the filter lets through. */
  readonly events: readonly FleetEvent[];
  readonly total: number;
  readonly filter: string;
  /** The place of the chosen event in `events`; -1 if there is none. */
  readonly chosen: number;
  /** The first event on the screen, as of the last drawing. */
  readonly top: number;
  readonly panel: Panel;
  /** The result of the last act; empty if there is none. */
  readonly message: string;
}

interface Drawn {
  readonly lines: readonly ScreenLine[];
  /** The first event on the screen, and how many are. */
  readonly top: number;
  readonly listed: number;
}

const KEYS = 'j k choose  a approve  h hold  r release  e explain  / filter  t trouble  q quit';
const PAGE_KEYS = 'j/k scroll  any other key: back';
/** So few lines of events leave no room for details. */
const LEAST_LISTED = 3;
const MOST_MESSAGE_LINES = 3;

export function drawn(view: ScreenView): Drawn {
  const head = [headLine(view), ...banners(view)];
  if (view.panel.kind === 'page') return { lines: pageLines(view, view.panel, head), top: view.top, listed: 0 };
  const foot = footLines(view, head.length);
  const listed = Math.max(0, view.rows - head.length - 1 - foot.length);
  const top = topOf(view, listed);
  const events = view.events.slice(top, top + listed);
  const rows = events.map((event, index) => eventLine(view, event, top + index === view.chosen));
  const empty = Array.from({ length: listed - rows.length }, () => ({ text: '' }));
  if (rows.length === 0 && listed > 0) empty[0] = { text: `  ${emptyWords(view)}` };
  const lines = [...head, titleLine(view), ...rows, ...empty, ...foot];
  // A question stays on the screen, however small that is.
  return { lines: lines.slice(Math.max(0, lines.length - view.rows)).map((line) => inside(view, line)), top, listed };
}

function headLine({ bridges, columns, wallMs }: ScreenView): ScreenLine {
  const silent = bridges.filter(({ fault }) => fault !== null && fault !== CONNECTING).length;
  const connecting = bridges.filter(({ fault }) => fault === CONNECTING).length;
  const parts = [
    bridges.length === 1 ? (bridges[0]?.name ?? '') : `${bridges.length} bridges`,
    ...(silent > 0 ? [`${silent} not reached`] : []),
    ...(connecting > 0 ? [`${connecting} connecting`] : []),
  ];
  const clock = clockWords(wallMs);
  const left = cell(`scheduled-events-bridge top: ${parts.join(', ')}`, Math.max(1, columns - clock.length - 1));
  return { text: `${left} ${clock}`, look: 'bold' };
}

function banners({ bridges }: ScreenView): readonly ScreenLine[] {
  const held = bridges.filter(({ heldAll }) => heldAll !== null);
  const dry = bridges.filter(({ isDryRun }) => isDryRun);
  return [
    ...(held[0] === undefined ? [] : [{ text: `HOLD: ${atBridges(held)}${held[0].heldAll}`, look: 'alarm' as const }]),
    ...(dry.length === 0
      ? []
      : [
          {
            text: `DRY RUN: ${atBridges(dry)}approvals are recorded, and nothing is sent to Azure`,
            look: 'warning' as const,
          },
        ]),
  ];
}

function atBridges([first, ...more]: readonly WatchedBridge[]): string {
  return `${first?.name ?? ''}${more.length > 0 ? ` and ${more.length} more` : ''}: `;
}

function titleLine({ events, total, filter, columns }: ScreenView): ScreenLine {
  const running = events.filter(({ event }) => isRunning(event)).length;
  const counts = `${total} ${total === 1 ? 'event' : 'events'}, ${running} running`;
  const shown = filter === '' ? counts : `${events.length} of ${counts}; filter: ${filter} (Esc shows all)`;
  const { type, when, machines } = widths(columns);
  const columnNames = `  ${fitted('TYPE', type)} ${fitted('WHEN', when)} ${fitted('MACHINES', machines)} NEXT`;
  const right = cell(shown, Math.min(columnsOf(shown), Math.max(10, columns - columnNames.length - 2)));
  const gap = ' '.repeat(Math.max(2, columns - columnNames.length - columnsOf(right)));
  return { text: `${columnNames}${gap}${right}`, look: 'bold' };
}

function widths(columns: number): { readonly type: number; readonly when: number; readonly machines: number } {
  return { type: 11, when: 10, machines: Math.max(10, Math.floor((columns - 26) * 0.36)) };
}

function eventLine(
  { columns, wallMs, bridges }: ScreenView,
  { event, bridge }: FleetEvent,
  isChosen: boolean,
): ScreenLine {
  const { type, when, machines } = widths(columns);
  const own = isOwn(bridges, event) ? '*' : ' ';
  const stale = bridge.fault === null ? '' : '? ';
  const cells = [
    cell(typeWords(event), type),
    fitted(whenWords(event, wallMs), when),
    cell(machinesWords(event.resources, machines), machines),
    cell(`${stale}${nextWords(event)}`, Math.max(1, columns - type - when - machines - 5)),
  ];
  const look = isChosen ? 'chosen' : isRunning(event) ? 'alarm' : 'plain';
  return { text: `${isChosen ? '>' : ' '}${own}${cells.join(' ')}`, look };
}

/** Among several bridges, every event names the machine of one. */
function isOwn(bridges: readonly WatchedBridge[], { affected }: FleetEvent['event']): boolean {
  return bridges.length === 1 && affected === true;
}

/** `web_0, web_1 +3`: as many names as fit, and the number of the others. */
function machinesWords(names: readonly string[], width: number): string {
  const all = names.join(', ');
  if (all.length <= width || names.length < 2) return all;
  for (let count = names.length - 1; count > 1; count--) {
    const text = `${names.slice(0, count).join(', ')} +${names.length - count}`;
    if (text.length <= width) return text;
  }
  const rest = ` +${names.length - 1}`;
  return `${fitted(names[0] ?? '', Math.min(names[0]?.length ?? 0, Math.max(1, width - rest.length)))}${rest}`;
}

function emptyWords({ filter, total, bridges }: ScreenView): string {
  if (filter !== '' && total > 0) return 'no event fits the filter: Esc shows all';
  return bridges.some(({ fault }) => fault === null) ? 'no scheduled events' : 'no bridge has answered yet';
}

function footLines(view: ScreenView, headRows: number): readonly ScreenLine[] {
  const { panel, columns, rows } = view;
  const keys: ScreenLine = { text: KEYS };
  const message = wrapped(view.message, columns).slice(0, MOST_MESSAGE_LINES);
  if (panel.kind === 'question') {
    const lines = panel.text.flatMap((text) => wrapped(text, columns));
    return [{ text: '-'.repeat(columns) }, ...lines.map((text) => ({ text, look: 'bold' as const }))];
  }
  const last =
    panel.kind === 'typing'
      ? [typingLine(panel, columns)]
      : [...message.map((text) => ({ text, look: 'bold' as const })), keys];
  const troubles = troubleLines(view, Math.max(0, Math.min(5, Math.floor((rows - 14) / 2))));
  const details = detailLines(view);
  const room = rows - headRows - 1 - last.length - LEAST_LISTED;
  if (room >= troubles.length + details.length) return [...troubles, ...details, ...last];
  return room >= details.length ? [...details, ...last] : last;
}

function typingLine({ label, text }: Extract<Panel, { kind: 'typing' }>, columns: number): ScreenLine {
  const shown = `${label}: ${text}`;
  // The end of what is typed is in sight.
  return { text: `${shown.slice(Math.max(0, shown.length - columns + 1))}_`, look: 'bold' };
}

/** The chosen event: five lines, so that the list does not jump. */
function detailLines({ events, chosen, columns, bridges }: ScreenView): readonly ScreenLine[] {
  const found = events[chosen];
  const rule = { text: '-'.repeat(columns) };
  if (found === undefined) return [rule];
  const { event, bridge } = found;
  const notBefore = event.notBeforeMs === null ? '' : `, NotBefore ${toRfc3339Seconds(event.notBeforeMs)}`;
  const others = found.bridges.length > 1 ? ` and ${found.bridges.length - 1} more` : '';
  const own = isOwn(bridges, event) ? '  * names this machine' : '';
  const at = bridges.length === 1 ? own : ` at ${bridge.name}${others}`;
  const [next = '', more = ''] = wrapped(nextLine(event, bridge), columns);
  return [
    rule,
    { text: `${typeWords(event)} ${event.eventStatus}${notBefore}${at}` },
    { text: `EventId ${event.eventId}, by ${event.eventSource}` },
    { text: next },
    { text: more },
  ];
}

function pageLines(view: ScreenView, panel: Extract<Panel, { kind: 'page' }>, head: readonly ScreenLine[]) {
  const { columns, rows } = view;
  const title: ScreenLine = { text: panel.title, look: 'bold' };
  const text = panel.text.flatMap((line) => wrapped(line, columns)).map((line) => ({ text: line }));
  const room = Math.max(1, rows - head.length - 2);
  const shown = text.slice(Math.min(panel.top, Math.max(0, text.length - room))).slice(0, room);
  const empty = Array.from({ length: room - shown.length }, () => ({ text: '' }));
  return [...head, title, ...shown, ...empty, { text: PAGE_KEYS }].slice(-rows).map((line) => inside(view, line));
}

/** Keeps the window still as long as the chosen event is in it. */
function topOf({ chosen, top, events }: ScreenView, listed: number): number {
  const last = Math.max(0, events.length - listed);
  const near = chosen < top ? chosen : chosen >= top + listed ? chosen - listed + 1 : top;
  return Math.max(0, Math.min(near, last));
}

function inside({ columns }: ScreenView, { text, ...look }: ScreenLine): ScreenLine {
  return { text: cell(text, columns).trimEnd(), ...look };
}
