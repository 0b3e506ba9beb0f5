// What a group did with one event → StartRequests and ids that are wrong, and what a consumer sees.
import type { Fault } from '../part.ts';
import type { Observation, Observed } from '../simulation/observation.ts';
import type { FaultFound } from '../simulation/oracle/finding.ts';

export interface GroupFinding {
  readonly fault: FaultFound;
  readonly what: string;
}

/** One CloudEvent as one machine delivered it. */
export interface Copy {
  readonly machine: number;
  readonly atMs: number;
  readonly id: string;
  readonly source: string;
  readonly text: string;
}

/** What a consumer that drops repeats by `source` and `id` gets of one event. */
export interface Consumed {
  readonly records: number;
  readonly bytes: number;
  /** CloudEvents of changes, and of approvals, that are left after the repeats are dropped. */
  readonly changes: number;
  readonly approvals: number;
  /** Attributes, or members of `data`, in which copies of one CloudEvent differ. */
  readonly differing: readonly string[];
}

/** Of an event that is listed, changes once, is started and ends. */
const ID = /:(scheduled|updated|started|ended)(:[0-9a-f]{16})?$/;
const CHANGES = ['scheduled', 'updated', 'started', 'ended'];

export function copiesOf(observations: readonly Observation[], eventId: string): readonly Copy[] {
  const key = eventId.toLowerCase();
  return observations
    .filter((seen): seen is Observed<'arrival'> => seen.kind === 'arrival' && seen.partitionKey === key)
    .map(({ machine, atMs, id, text }) => {
      const { source } = JSON.parse(text) as { source: string };
      return { machine, atMs, id, source, text };
    });
}

/** @param posters the machines that live through their turn, in the order of their ranks */
export function judgeStarts(
  observations: readonly Observation[],
  eventId: string,
  { submit, posters }: { readonly submit: 'leader' | 'every'; readonly posters: readonly number[] },
): readonly GroupFinding[] {
  const accepted = observations.filter(
    (seen): seen is Observed<'accepted'> => seen.kind === 'accepted' && seen.eventIds.includes(eventId),
  );
  const who = `the StartRequests of ${eventId} came from [${accepted.map(({ machine }) => machine).join()}]`;
  if (accepted.length === 0) return [{ fault: 'lost', what: `no StartRequest started ${eventId}` }];
  if (submit === 'every') {
    const machines = new Set(accepted.map(({ machine }) => machine));
    return machines.size === accepted.length ? [] : [{ fault: 'twice', what: `${who}: one machine sent two` }];
  }
  const findings: GroupFinding[] = [];
  if (accepted.length > 1) findings.push({ fault: 'twice', what: `${who}: one is enough` });
  if (accepted[0]?.machine !== posters[0])
    findings.push({ fault: 'forbidden', what: `${who}: it was the turn of ${posters[0]}` });
  return findings;
}

/** All machines must have made the same CloudEvents: one id for each change of the event. */
export function judgeIds(copies: readonly Copy[], eventId: string): readonly GroupFinding[] {
  const findings: GroupFinding[] = [];
  const find = (fault: Fault, what: string) => findings.push({ fault, what: `${eventId}: ${what}` });
  const sources = new Set(copies.map(({ source }) => source));
  if (sources.size > 1) find('altered', `the machines name the sources ${[...sources].join()}`);
  const ids = new Map(CHANGES.map((change) => [change, new Set<string>()]));
  const seen = new Set<string>();
  for (const { machine, id } of copies.filter((copy) => !isApproval(copy.id))) {
    const ofChange = ids.get(ID.exec(id)?.[1] ?? '');
    if (ofChange === undefined) find('invented', `machine ${machine} sent ${id}`);
    ofChange?.add(id);
    if (seen.has(`${machine} ${id}`)) find('twice', `machine ${machine} sent ${id} again`);
    seen.add(`${machine} ${id}`);
  }
  for (const [change, found] of ids) {
    if (found.size === 0) find('lost', `no machine sent "${change}"`);
    if (found.size > 1) find('invented', `"${change}" has the ids ${[...found].join()}`);
  }
  return findings;
}

export function consumed(copies: readonly Copy[]): Consumed {
  const first = new Map<string, Copy>();
  const differing = new Set<string>();
  for (const copy of copies) {
    const key = `${copy.source} ${copy.id}`;
    const known = first.get(key);
    if (known === undefined) first.set(key, copy);
    else for (const name of differencesOf(known.text, copy.text)) differing.add(name);
  }
  const ids = [...first.values()].map(({ id }) => id);
  return {
    records: copies.length,
    bytes: copies.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
    changes: ids.filter((id) => !isApproval(id)).length,
    approvals: ids.filter(isApproval).length,
    differing: [...differing].sort(),
  };
}

function isApproval(id: string): boolean {
  return id.includes(':approval-');
}

function differencesOf(one: string, other: string): readonly string[] {
  const [here, there] = [flat(one), flat(other)];
  return [...new Set([...here.keys(), ...there.keys()])].filter((name) => here.get(name) !== there.get(name));
}

/** Attributes, and the members of `data` as `data.NAME`. */
function flat(text: string): ReadonlyMap<string, string> {
  const { data, ...attributes } = JSON.parse(text) as { data: object };
  const members = Object.entries(data).map(([name, value]): [string, unknown] => [`data.${name}`, value]);
  return new Map([...Object.entries(attributes), ...members].map(([name, value]) => [name, JSON.stringify(value)]));
}
