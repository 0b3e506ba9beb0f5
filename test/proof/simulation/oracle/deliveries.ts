// What the first sink of a machine received → what each other sink must have, in which order.
import type { Settings, SinkSettings } from '../history.ts';
import type { Observation, Observed } from '../observation.ts';
import type { Told } from './changes.ts';
import { firstArrivals } from './changes-of-machine.ts';
import type { Json } from './expected-cloud-event.ts';
import { type Judged, meets } from './filter.ts';
import { FiltersInForce } from './filters-in-force.ts';
import type { Report } from './finding.ts';

/** A kill so soon after the receipt may come before it is stored. */
const STORED_MS = 3000;
/** After a write that failed, the next one comes at most so much later (behaviour 5.4). */
const TRIED_AGAIN_MS = 10_000;

export function judgeDeliveries(seen: readonly Observation[], settings: Settings, report: Report): void {
  const all = firstArrivals(seen, 'audit');
  const texts = new Map(arrivalsAt(seen, 'audit').map(({ id, text }) => [id, text]));
  const filters = new FiltersInForce(seen, settings);
  for (const sink of Object.keys(settings.sinks)) {
    const arrivals = arrivalsAt(seen, sink);
    const refusals = seen.filter((each) => each.kind === 'refusal' && each.sink === sink) as Observed<'refusal'>[];
    const given = new Map([...arrivals, ...refusals].map(({ id, atMs }) => [id, atMs]));
    const filtersOf = (told: Told) => filters.of(sink, told);
    const wanted = sink === 'audit' ? all : wantedBy(filtersOf, all, (id) => given.has(id));
    checkTexts(sink, arrivals, texts, report);
    checkPresence(sink, wanted, given, report);
    checkOrder(sink, wanted, firstArrivals(seen, sink), report);
    checkRepeats(sink, seen, report);
  }
}

function arrivalsAt(seen: readonly Observation[], sink: string): readonly Observed<'arrival'>[] {
  return seen.filter((each): each is Observed<'arrival'> => each.kind === 'arrival' && each.sink === sink);
}

function keyOf({ event }: Told): string {
  return String(event['partitionkey']);
}

function nameOf({ event }: Told): string {
  return String(event['type'])
    .replace('io.github.scheduled-events-bridge.', '')
    .replace(/\.v\d+$/, '');
}

/**
 * In the order in which the first sink had them: those that the filter lets through. If it is not certain which filter
 * was in force, and they differ, what the sink was given decides.
 */
function wantedBy(
  filtersOf: (told: Told) => readonly SinkSettings['filter'][],
  all: readonly Told[],
  wasGiven: (id: string) => boolean,
): readonly Told[] {
  /** By event: its last content, and whether the sink had a change of this occurrence. */
  const known = new Map<string, { judged: Judged; wasSent: boolean }>();
  return all.filter((told) => {
    const data = told.event['data'] as Json;
    const name = nameOf(told);
    const isChange = !name.startsWith('approval.') && !name.startsWith('source.');
    if (isChange && data['previousStatus'] === null && name !== 'ended') known.delete(keyOf(told));
    const entry = known.get(keyOf(told)) ?? null;
    const judged = isChange ? (data as unknown as Judged) : (entry?.judged ?? null);
    if (isChange) known.set(keyOf(told), { judged: data as unknown as Judged, wasSent: entry?.wasSent ?? false });
    const isOfNone = !name.startsWith('source.') && (data['observer'] as Json)['affected'] === null;
    const answers = filtersOf(told).map((filter) =>
      passes(filter, name, isOfNone ? null : judged, entry?.wasSent === true && !isOfNone),
    );
    const isWanted = answers.every((each) => each === answers[0]) ? answers[0] === true : wasGiven(told.id);
    const now = known.get(keyOf(told));
    if (isWanted && now !== undefined && !isOfNone && !name.startsWith('source.')) now.wasSent = true;
    return isWanted;
  });
}

function passes(filter: SinkSettings['filter'], name: string, judged: Judged | null, wasSent: boolean): boolean {
  if (filter === undefined) return true;
  const { changes, ...conditions } = filter;
  if (changes !== undefined && !changes.includes(name)) return false;
  if (name.startsWith('source.')) return true;
  if (judged === null) return Object.keys(conditions).length === 0;
  return wasSent || meets(conditions, judged, 'any');
}

function checkTexts(
  sink: string,
  arrivals: readonly Observed<'arrival'>[],
  texts: ReadonlyMap<string, string>,
  report: Report,
): void {
  for (const { id, text, partitionKey, atMs } of arrivals) {
    const own = JSON.parse(text) as Json;
    if (texts.has(id) && texts.get(id) !== text) report('altered', atMs, `${sink}: ${id} has other bytes than before`);
    if (own['id'] !== id || own['partitionkey'] !== partitionKey)
      report('altered', atMs, `${sink}: ${id} was sent with another id or key than it has`);
  }
}

/** @param given what arrived or was refused, and when last */
function checkPresence(
  sink: string,
  wanted: readonly Told[],
  given: ReadonlyMap<string, number>,
  report: Report,
): void {
  const ids = new Set(wanted.map(({ id }) => id));
  for (const { id, atMs } of wanted) if (!given.has(id)) report('lost', atMs, `${sink}: ${id} never arrived`);
  for (const [id, atMs] of given) if (!ids.has(id)) report('invented', atMs, `${sink}: ${id} is not for this sink`);
}

function checkOrder(sink: string, wanted: readonly Told[], arrived: readonly Told[], report: Report): void {
  const places = new Map(wanted.map(({ id }, place) => [id, place]));
  const last = new Map<string, Told>();
  for (const told of arrived) {
    const before = last.get(keyOf(told));
    if (before !== undefined && (places.get(before.id) ?? 0) > (places.get(told.id) ?? 0))
      report('misordered', told.atMs, `${sink}: ${told.id} came after ${before.id}`);
    else last.set(keyOf(told), told);
  }
}

/** A process that was told so, and lived on, sends it no more. */
function checkRepeats(sink: string, seen: readonly Observation[], report: Report): void {
  const receipts = new Map<string, number>();
  let failedMs = Number.NEGATIVE_INFINITY;
  for (const each of seen) {
    if (each.kind === 'receipt' && each.sink === sink) for (const id of each.ids) receipts.set(id, each.atMs);
    else if (each.kind === 'gone' || each.kind === 'frozen' || each.kind === 'commit-failed') {
      if (each.kind === 'commit-failed') failedMs = each.atMs;
      const doubtfulMs = each.atMs - failedMs <= TRIED_AGAIN_MS ? 0 : each.atMs - STORED_MS;
      for (const [id, atMs] of receipts) if (atMs >= doubtfulMs) receipts.delete(id);
    } else if (each.kind === 'arrival' && each.sink === sink && receipts.has(each.id))
      report('twice', each.atMs, `${sink}: ${each.id} was sent again though its receipt was stored`);
  }
}
