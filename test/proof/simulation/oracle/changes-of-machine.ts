// The observations of one machine → its documents in order, and which of them certainly counted.
import type { Settings } from '../history.ts';
import type { Observation, Observed } from '../observation.ts';
import { Changes, type Told } from './changes.ts';
import type { Json, Observer } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';
import { madeAt } from './made-at.ts';
import type { Answer } from './moment.ts';

const CHANGE = /\.(scheduled|updated|started|ended)\.v1$/;
/** After a start without a writable store, the bridge asks who it is again, at most so long later. */
const IDENTIFIED_MS = 25_000;

/** The CloudEvents that a sink was given first, in order; each once. */
export function firstArrivals(seen: readonly Observation[], sink: string): readonly Told[] {
  const ids = new Set<string>();
  const told: Told[] = [];
  for (const each of seen) {
    if (each.kind !== 'arrival' || each.sink !== sink || ids.has(each.id)) continue;
    ids.add(each.id);
    told.push({ id: each.id, atMs: each.atMs, event: JSON.parse(each.text) as Json });
  }
  return told;
}

export function isDrill({ event }: Told): boolean {
  return event['drill'] === true;
}

export function judgeChanges(
  seen: readonly Observation[],
  settings: Settings,
  observer: Observer,
  mayBeApproved: (key: string) => boolean,
  report: Report,
  follow: (each: Observation, open: Changes['open']) => void,
): void {
  const told = firstArrivals(seen, 'audit').filter((each) => !isDrill(each) && CHANGE.test(String(each.event['type'])));
  const byKey = Map.groupBy(told, ({ event }) => String(event['partitionkey']));
  const changes = new Changes({ settings, observer, told: byKey, mayBeApproved, report });
  let unsureUntilMs = -1;
  let begunMs = 0;
  for (const [place, each] of seen.entries()) {
    if (each.kind === 'begun') {
      changes.begun(each.wallMs - each.atMs, each.atMs);
      begunMs = each.atMs;
      unsureUntilMs = beginsInVain(seen, place) ? each.atMs + IDENTIFIED_MS : -1;
    } else if (each.kind === 'jumped') changes.jumped(each.wallMs - each.atMs);
    else if (each.kind === 'commit-failed' && each.atMs < unsureUntilMs) unsureUntilMs = each.atMs + IDENTIFIED_MS;
    else if (each.kind === 'arrival' && each.atMs < unsureUntilMs && wasMadeAfter(begunMs, each, seen))
      unsureUntilMs = -1;
    else if (each.kind === 'document') changes.read(each, each.atMs > unsureUntilMs ? countsNow(seen, place) : 'maybe');
    follow(each, changes.open);
  }
  changes.end(seen.at(-1)?.atMs ?? 0);
}

/** Whether it must follow from a later document: a process that has published one knows who it is. */
function wasMadeAfter(begunMs: number, { text, atMs }: Observed<'arrival'>, seen: readonly Observation[]): boolean {
  const times = madeAt({ event: JSON.parse(text) as Json, atMs }, seen);
  return times.length > 0 && times.every((madeMs) => madeMs > begunMs);
}

/**
 * Whether a commit failed in the moment in which this process began, so that it did not store who it is. After its first
 * StartRequest it has.
 */
function beginsInVain(seen: readonly Observation[], place: number): boolean {
  const atMs = seen[place]?.atMs;
  for (let next = place + 1; seen[next]?.atMs === atMs; next++) {
    const { kind } = seen[next] as Observation;
    if (kind === 'posted') return false;
    if (kind === 'commit-failed' || kind === 'gone') return kind === 'commit-failed';
  }
  return false;
}

/**
 * Whether the process stored this document. `no`: the disk was full before, and a commit failed in this moment. `maybe`:
 * a commit failed, or the process ended, in this moment.
 */
function countsNow(seen: readonly Observation[], place: number): Answer {
  const atMs = seen[place]?.atMs;
  const isAtThaw = seen.slice(0, place).findLast((each) => each.atMs !== atMs || each.kind === 'thawed')?.atMs === atMs;
  for (let next = place + 1; seen[next]?.atMs === atMs; next++) {
    const { kind } = seen[next] as Observation;
    if (kind === 'gone') return 'maybe';
    if (kind === 'commit-failed') return isFullBefore(seen, place) ? 'no' : 'maybe';
    // A StartRequest goes out only after its document is stored. At a thaw, that may be the document before.
    if (kind === 'document' || (kind === 'posted' && !isAtThaw)) return 'yes';
  }
  return 'yes';
}

function isFullBefore(seen: readonly Observation[], place: number): boolean {
  const last = seen.slice(0, place).findLast((each): each is Observed<'disk'> => each.kind === 'disk');
  return last?.isFull === true;
}
