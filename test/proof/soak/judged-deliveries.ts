// What a sink accepted → the faults in it, judged by the maintenances that were played.
import type { Fault } from '../part.ts';
import { eventIdOf, isApproved } from './mix.ts';

export type FaultCounts = Partial<Record<Fault, number>>;

const LEFT_TO_AZURE = ['scheduled', 'updated', 'started', 'ended'];
const APPROVED = ['scheduled', 'updated', 'approval.recorded', 'approval.submitted', 'started', 'ended'];

interface CloudEvent {
  readonly id: string;
  readonly type: string;
  readonly partitionkey: string;
}

/** The types that maintenance `index` must bring, in their order, without prefix and version. */
export function expectedTypes(index: number): readonly string[] {
  return isApproved(index) ? APPROVED : LEFT_TO_AZURE;
}

/** @param bodies CloudEvents in JSON, in the order in which they were accepted */
export function judgedDeliveries(bodies: readonly string[], maintenances: number): FaultCounts {
  const types = new Map<string, string[]>();
  const ids = new Set<string>();
  for (const body of bodies) {
    const { id, type, partitionkey } = JSON.parse(body) as CloudEvent;
    if (!ids.has(id)) types.set(partitionkey, [...(types.get(partitionkey) ?? []), shortType(type)]);
    ids.add(id);
  }
  const judged = Array.from({ length: maintenances }, (_, index) => {
    const key = eventIdOf(index).toLowerCase();
    const came = types.get(key) ?? [];
    types.delete(key);
    return judgedMaintenance(came, expectedTypes(index));
  });
  const unknown = [...types.values()].flat().length;
  return addedFaults(...judged, { twice: bodies.length - ids.size, invented: unknown });
}

function judgedMaintenance(came: readonly string[], expected: readonly string[]): FaultCounts {
  // Each type once: a second one has another id, and follows from nothing.
  const known = expected.filter((type) => came.includes(type));
  const places = came.map((type) => expected.indexOf(type)).filter((place) => place !== -1);
  const misordered = places.filter((place, at) => at > 0 && place < (places[at - 1] ?? 0)).length;
  return { lost: expected.length - known.length, misordered, invented: came.length - known.length };
}

/** How many bodies of one list the other has with the same id and other bytes. */
export function alteredBetween(bodies: readonly string[], others: readonly string[]): number {
  const byId = new Map(others.map((body) => [(JSON.parse(body) as CloudEvent).id, body]));
  return bodies.filter((body) => (byId.get((JSON.parse(body) as CloudEvent).id) ?? body) !== body).length;
}

export function addedFaults(...counts: readonly FaultCounts[]): FaultCounts {
  const sum: FaultCounts = {};
  for (const each of counts)
    for (const [fault, count] of Object.entries(each) as [Fault, number][]) sum[fault] = (sum[fault] ?? 0) + count;
  return sum;
}

function shortType(type: string): string {
  return type.replace(/^.*scheduled-events-bridge\./, '').replace(/\.v1$/, '');
}
