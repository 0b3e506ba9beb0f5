// The view of `status` → its lines on a terminal, one for each event and sink.
import { expiryWarning } from '../../diagnosis/certificates.ts';
import { clockFault } from '../../diagnosis/clock.ts';
import { spokenTime } from '../../formats/durations.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { isDrill } from '../../model/ids.ts';
import { type NextStepEvent, nextStepLine } from '../../model/next-step.ts';
import { runWords } from './attempt-words.ts';
import type { Line } from './fit-screen.ts';
import type { ShownApproval, ShownEvent, ShownReload, ShownSink, StatusView } from './status-view.ts';

/** Characters: foreign texts are cut to this length; the advice of an error is not. */
const LONGEST = 200;
/** Of a sink, which has its error there; an event has its approval there. */
const LAST_COLUMN = 5;

export function statusScreen(view: StatusView, wallMs: number): readonly Line[] {
  const { ready, reasons, events, sinks, deadLetters, configuration } = view;
  const first: Line = ready
    ? { text: 'ready', colour: 'green' }
    : { text: `not ready: ${oneLine(reasons.join('; '))}`, colour: 'red' };
  if (!view.isRunning && view.from === null) return [first];
  return [
    ...heldAllLines(view),
    first,
    ...machineLines(view),
    ...certificateLines(view, wallMs),
    ...(view.from === 'store' ? [{ text: 'the following lines are from the store' }] : []),
    { text: `sight          ${sightOf(view)}` },
    ...(configuration === null ? [] : configurationLines(configuration)),
    ...(events === null ? [HIDDEN] : [counted('events', events.length), ...eventLines(view, inOrder(events), wallMs)]),
    ...(sinks === null ? statesOf(view) : [sinksLine(sinks), ...sinkLines(sinks, wallMs)]),
    ...(deadLetters === null ? [] : [deadLettersLine(deadLetters)]),
  ];
}

/** Above everything else: nothing of what follows is submitted. */
function heldAllLines({ heldAll }: StatusView): readonly Line[] {
  if (heldAll === null) return [];
  const { by, at, reason } = heldAll;
  const why = reason === null ? '' : `: ${reason}`;
  return [
    {
      text: `EVERYTHING IS HELD by ${oneLine(`${by} since ${at}${why}`)}`,
      colour: 'red',
    },
    { text: '               nothing is submitted to Azure until `release --all`', colour: 'red' },
  ];
}

/** Which machine this is, if that is known, and what makes it differ from what a reader expects. */
function machineLines({ vm, version, dryRun, clock }: StatusView): readonly Line[] {
  const names = [
    vm?.name ?? vm?.source,
    vm?.name != null && vm.source,
    version !== null && `version ${version}`,
  ].filter(Boolean);
  const fault = clock?.offsetSeconds == null ? null : clockFault(clock.offsetSeconds * 1000);
  return [
    ...(names.length > 0 ? [{ text: `machine        ${oneLine(names.join(', '))}` }] : []),
    ...(dryRun === true
      ? [{ text: 'dry run        approvals are recorded, and no StartRequest is sent', colour: 'yellow' as const }]
      : []),
    ...(fault === null ? [] : [{ text: `clock          ${oneLine(fault)}`, colour: 'yellow' as const }]),
  ];
}

function certificateLines({ certificates }: StatusView, wallMs: number): readonly Line[] {
  return certificates.flatMap(({ expiresAt, ...certificate }) => {
    const warning = expiryWarning({ ...certificate, expiresAtMs: Date.parse(expiresAt) }, wallMs);
    return warning === null ? [] : [{ text: `certificate    ${oneLine(warning)}`, colour: 'yellow' as const }];
  });
}

const HIDDEN: Line = { text: 'events         hidden: give the token of a reader with --token-env' };

function sightOf({ state, observedAt, documentAgeSeconds, documentIncarnation }: StatusView): string {
  if (state === null) return 'hidden: give the token of a reader with --token-env';
  if (observedAt === null || documentAgeSeconds === null) return `${state}, no document from the metadata service yet`;
  return `${state}, last document ${spokenTime(documentAgeSeconds)} ago (${observedAt}), incarnation ${documentIncarnation ?? 'unknown'}`;
}

function configurationLines({ since, refused }: NonNullable<StatusView['configuration']>): readonly Line[] {
  const own = { text: `configuration  in force since ${oneLine(since)}` };
  return refused === null ? [own] : [own, { text: `  ${refusal(refused)}`, colour: 'yellow' }];
}

function refusal({ at, by, faults = [], restart = [] }: ShownReload): string {
  const why = [
    ...faults.map(({ path, message }) => `${path}: ${message}`),
    ...restart.map((path) => `${path} needs a restart`),
  ];
  return oneLine(
    `the reload of ${at}${by === undefined ? '' : ` by ${by}`} was rejected${why.length > 0 ? `: ${why.join('; ')}` : ''}`,
  );
}

/** What runs first, then what names this machine, then by NotBefore; an event without one may start at any time. */
function inOrder(events: readonly ShownEvent[]): readonly ShownEvent[] {
  const rank = ({ eventStatus, observer }: ShownEvent) =>
    (eventStatus === 'Started' ? 0 : 2) + (observer?.affected === true ? 0 : 1);
  const time = ({ notBefore }: ShownEvent) => (notBefore === null ? 0 : Date.parse(notBefore));
  return events.toSorted((one, other) => rank(one) - rank(other) || time(one) - time(other));
}

/** Each event has a second line that says what happens next; an event from the store has none. */
function eventLines({ dryRun, state }: StatusView, events: readonly ShownEvent[], wallMs: number): readonly Line[] {
  const rows = table(events.map((event) => eventCells(event, wallMs)));
  return events.flatMap((event, index) => {
    const entry = { of: 'events', index } as const;
    const row = { ...rows[index], text: rows[index]?.text ?? '', entry };
    if (!hasNextStep(event)) return [row];
    const next = nextStepLine(event, { dryRun: dryRun === true, isBlind: state === 'blind' });
    return [row, { text: `    ${oneLine(next)}`, entry }];
  });
}

/** A bridge of an earlier version does not send it. */
function hasNextStep(event: ShownEvent): event is ShownEvent & NextStepEvent {
  return event.nextStep !== undefined;
}

function eventCells(event: ShownEvent, wallMs: number): readonly string[] {
  const { eventId, eventType, eventStatus, resources, observer, approval } = event;
  return [
    isDrill(eventId) ? `${eventType} (a drill)` : eventType,
    eventStatus,
    whenOf(event, wallMs),
    `${resources.join(', ')}${observer?.affected ? ' (this machine)' : ''}`,
    eventId,
    hasNextStep(event) ? '' : approvalOf(approval),
  ];
}

function whenOf({ notBefore, eventStatus }: ShownEvent, wallMs: number): string {
  if (eventStatus === 'Started') return 'under way';
  if (notBefore === null) return 'at any time';
  const seconds = Math.round((Date.parse(notBefore) - wallMs) / 1000);
  return seconds > 0 ? `in ${spokenTime(seconds)}` : `due for ${spokenTime(-seconds)}`;
}

function approvalOf(approval: ShownApproval | null): string {
  if (approval === null) return 'no approval';
  const { state, approvedBy, waitingFor = [], holds } = approval;
  const parts = [
    ...(approvedBy.length > 0 ? [`approved by ${approvedBy.join(', ')}`] : []),
    ...(waitingFor.length > 0 ? [`waiting for ${waitingFor.join(', ')}`] : []),
    ...(holds.length > 0 ? [`held by ${holds.map(({ approver }) => approver).join(', ')}`] : []),
  ];
  return `approval ${state}${parts.length > 0 ? ` (${parts.join('; ')})` : ''}`;
}

/** Sinks in trouble come first, then those with a program or drain under way. */
export function sinkLines(given: readonly ShownSink[], wallMs: number): readonly Line[] {
  const rank = ({ state, running }: ShownSink) => (isWell(state) ? 2 : 0) + (running?.length ? 0 : 1);
  const sinks = given.toSorted((one, other) => rank(one) - rank(other));
  const rows = table(sinks.map((sink) => sinkCells(sink, wallMs)));
  return rows.flatMap(({ text }, index): readonly Line[] => {
    const entry = { of: 'sinks', index } as const;
    return [
      isWell(sinks[index]?.state) ? { text, entry } : { text, entry, colour: 'yellow' },
      ...runningLines(sinks[index], wallMs).map((line) => ({ ...line, entry })),
    ];
  });
}

function runningLines(sink: ShownSink | undefined, wallMs: number): readonly Line[] {
  const detail = sink?.type === 'kubernetes' ? 'waits for' : 'last line:';
  return (sink?.running ?? []).map((run) => ({
    text: `    ${oneLine(`${run.eventId ?? 'source'}  ${runWords(run, detail, wallMs)}`)}`,
  }));
}

function sinkCells(
  { name, type, state, queued, oldestAt, deadLetters, lastError }: ShownSink,
  wallMs: number,
): readonly string[] {
  const oldest = oldestAt === null ? '' : `, the oldest for ${spokenTime((wallMs - Date.parse(oldestAt)) / 1000)}`;
  const error = lastError === null ? 'no error' : `last error ${lastError.at} ${lastError.code}: ${lastError.message}`;
  return [name, type, state, `${queued} queued${oldest}`, `${deadLetters} dead`, error];
}

/** From `/readyz`, which needs no token. */
function statesOf({ sinkStates }: StatusView): readonly Line[] {
  const states = Object.entries(sinkStates ?? {});
  return [
    counted('sinks', states.length),
    ...table(states).map(({ text }, index) =>
      isWell(states[index]?.[1]) ? { text } : { text, colour: 'yellow' as const },
    ),
  ];
}

function isWell(state: string | undefined): boolean {
  return state === 'delivering' || state === 'stopped';
}

/** Counts also what may not fit the terminal: `4 (1 in trouble, 2 running)`. */
function sinksLine(sinks: readonly ShownSink[]): Line {
  const troubled = sinks.filter(({ state }) => !isWell(state)).length;
  const runs = sinks.reduce((sum, { running }) => sum + (running?.length ?? 0), 0);
  const parts = [...(troubled > 0 ? [`${troubled} in trouble`] : []), ...(runs > 0 ? [`${runs} running`] : [])];
  const { text } = counted('sinks', sinks.length);
  return { text: parts.length > 0 ? `${text} (${parts.join(', ')})` : text };
}

function counted(what: string, count: number): Line {
  return { text: `${what.padEnd(15)}${count}` };
}

function deadLettersLine(count: number): Line {
  const line = counted('dead letters', count);
  return count === 0 ? line : { ...line, colour: 'yellow' };
}

/** Aligns cells in columns. Each row is one line, whatever its cells contain. The last cell, an error, is not cut. */
function table(rows: readonly (readonly string[])[]): readonly Line[] {
  const cells = rows.map((row) =>
    row.map((cell, column) => (column === LAST_COLUMN ? visibleLine(cell) : oneLine(cell))),
  );
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => ({
    text: `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  }));
}

function oneLine(text: string): string {
  const line = visibleLine(text);
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
}
