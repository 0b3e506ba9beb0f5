// All that was seen of one world → what the bridge did wrong; shares no code with the product.
import type { Fault } from '../part.ts';
import { differences, type Json } from '../simulation/oracle/expected-cloud-event.ts';
import { keyOf } from '../simulation/oracle/listed-event.ts';
import type { Arrival } from './far-sides.ts';
import { SOURCE } from './metadata.ts';
import { idIn, idOf, type Played } from './played.ts';
import { isExplained, isPostExplained, timesOf } from './repeats.ts';
import { VM } from './story.ts';

export interface Finding {
  readonly fault: Fault;
  readonly what: string;
}

type Report = (fault: Fault, what: string) => void;

const CLOCK_DOUBT_MS = 1000;
const MOST_JUMP_MS = 300_000;
/** What the one approval of a story is told as. */
const APPROVAL_TYPES = ['approval.recorded.v1', 'approval.submitted.v1'];

export function judge(played: Played): readonly Finding[] {
  const findings: Finding[] = [];
  const report: Report = (fault, what) => void findings.push({ fault, what });
  for (const what of played.missing) report('lost', what);
  const first = new Map((played.arrivals.get('audit') ?? []).map(({ text }) => [idIn(text), text]));
  for (const [sink, arrivals] of played.arrivals) judgeSink(played, sink, arrivals, first, report);
  judgeContent(played, report);
  judgePosts(played, report);
  return findings;
}

function judgeSink(
  played: Played,
  sink: string,
  arrivals: readonly Arrival[],
  first: ReadonlyMap<string, string>,
  report: Report,
): void {
  const owed = new Map((sink === 'away' ? played.owed : []).map(({ id, body }) => [id, body]));
  const seen = new Map<string, Arrival>();
  for (const arrival of arrivals) {
    const id = idIn(arrival.text);
    if (!isWhole(arrival.text))
      report('altered', `${sink} has what is not a CloudEvent: ${arrival.text.slice(0, 200)}`);
    const before = seen.get(id);
    if (before !== undefined) {
      if (!isExplained(played, before, arrival))
        report('twice', `${sink}: ${id} was sent again, ${timesOf(played, before, arrival)}`);
    } else seen.set(id, arrival);
    const bytes = owed.get(id) ?? first.get(id);
    if (bytes !== undefined && bytes !== arrival.text)
      report('altered', `${sink}: ${id} has other bytes than at audit`);
    if (!isExpected(played, arrival.text) && !owed.has(id)) report('invented', `${sink}: ${id} follows from nothing`);
  }
  if (played.missing.length > 0) return;
  for (const id of [...owed.keys(), ...played.steps.map(idOf)])
    if (!seen.has(id)) report('lost', `${sink}: ${id} never arrived`);
  judgeOrder(played, sink, [...seen.keys()], report);
}

function isWhole(text: string): boolean {
  try {
    return (JSON.parse(text) as Json)['specversion'] === '1.0';
  } catch {
    return false;
  }
}

/** A change of the story, what was said of its approval, or news of the source; with an older store, its events. */
function isExpected({ steps, owed }: Played, text: string): boolean {
  const id = idIn(text);
  if (steps.some((step) => idOf(step) === id)) return true;
  const type = /"type":"io\.github\.scheduled-events-bridge\.([^"]+)"/.exec(text)?.[1] ?? '';
  if (type.startsWith('source.')) return true;
  const key = id.split(':')[0] ?? '';
  const own = steps.filter(({ event }) => keyOf(event.EventId) === key);
  if (own.length === 0) return owed.length > 0;
  return own.some(({ isApproved }) => isApproved) && APPROVAL_TYPES.includes(type);
}

function judgeOrder({ steps }: Played, sink: string, ids: readonly string[], report: Report): void {
  for (const key of new Set(steps.map(({ event }) => keyOf(event.EventId)))) {
    const wanted = steps.map(idOf).filter((id) => id.startsWith(`${key}:`));
    const came = ids.filter((id) => wanted.includes(id));
    if (came.join() !== wanted.filter((id) => came.includes(id)).join())
      report('misordered', `${sink}: ${came.join(', ')}`);
  }
}

/** Attribute by attribute, as the first sink has it; the others have the same bytes. */
function judgeContent(played: Played, report: Report): void {
  const { steps, service, arrivals, plan } = played;
  const hasEpochs = plan.faults.some(({ name }) => ['two-hosts', 'incarnations-restart'].includes(name));
  const jumpMs = plan.faults.some(({ name }) => name === 'clock-jump') ? MOST_JUMP_MS : 0;
  for (const [index, step] of steps.entries()) {
    const arrival = arrivals.get('audit')?.find(({ text }) => idIn(text) === idOf(step));
    if (arrival === undefined || !isWhole(arrival.text)) continue;
    const told = JSON.parse(arrival.text) as Json;
    const wallMs = Date.parse(String(told['time']));
    const { documentIncarnation } = (told['data'] as { observer: { documentIncarnation: number } }).observer;
    const isGiven = service.incarnations.get(index)?.has(documentIncarnation) === true;
    const change = {
      ...{ phase: step.phase, id: idOf(step), event: step.event, before: step.before, wallMs },
      incarnation: isGiven ? documentIncarnation : service.incarnation,
      withoutNotice: 'no',
      outcomes: hasEpochs ? ['completed', 'unknown'] : ['completed'],
    } as const;
    for (const what of differences(told, change, { name: VM, source: SOURCE }))
      report('altered', `${change.id}: ${what}`);
    const givenMs = performance.timeOrigin + (service.firstGiven.get(index) ?? 0);
    const arrivedMs = performance.timeOrigin + (arrival.atMs ?? 0);
    const doubtMs = CLOCK_DOUBT_MS + jumpMs;
    if (wallMs < givenMs - doubtMs || wallMs > arrivedMs + doubtMs)
      report('altered', `${change.id}: its time is ${told['time']}`);
  }
}

function judgePosts(played: Played, report: Report): void {
  const { service, steps, approvedMs } = played;
  const allowed = steps.filter(({ isApproved }) => isApproved).map(({ event }) => keyOf(event.EventId));
  for (const [index, { eventIds, atMs }] of service.posts.entries()) {
    for (const id of eventIds)
      if (!allowed.includes(keyOf(id)) || approvedMs === null || atMs < approvedMs)
        report('forbidden', `a StartRequest for ${id} was not allowed`);
    const receipt = service.posts.slice(0, index).find(({ isAccepted, isAnswered }) => isAccepted && isAnswered);
    if (receipt !== undefined && !isPostExplained(played, receipt.atMs, atMs))
      report('twice', `${eventIds.join(', ')} was posted again`);
  }
}
