// Records of many machines, each at its time → a sender of each machine, and how long it all took.
import type { Deps } from '../../../src/time/clock.ts';
import type { FleetSender } from './fleet-sender.ts';
import type { FleetRecord } from './replayed.ts';

export interface SentFigures {
  readonly machines: number;
  readonly records: number;
  /** Calls of adapters that failed, and were tried again. */
  readonly retried: number;
  /** So many of the machines had to try again. */
  readonly retrying: number;
  /** From the first record to the last acceptance. */
  readonly lastMs: number;
  /** From the moment at which a record was queued to its acceptance. */
  readonly medianMs: number;
  /** From the first record to the moment at which one machine of each group has had a record accepted. */
  readonly everyGroupMs: number;
}

/** Machines of a placement group. */
const GROUP = 100;

/** @throws Error if one is given up, or not all are accepted within `patienceMs` */
export async function sendAll(
  records: readonly FleetRecord[],
  senderOf: (machine: number) => FleetSender,
  { deps, patienceMs }: { readonly deps: Pick<Deps, 'elapsedMs' | 'after'>; readonly patienceMs: number },
): Promise<SentFigures> {
  const machines = [...new Set(records.map(({ machine }) => machine))];
  const senders = new Map(machines.map((machine) => [machine, senderOf(machine)]));
  const waits: number[] = [];
  const firstOfGroup = new Map<number, number>();
  const done = Promise.withResolvers<void>();
  const beginMs = deps.elapsedMs();
  const send = async (record: FleetRecord) => {
    const queuedMs = deps.elapsedMs();
    await senders.get(record.machine)?.send(record);
    waits.push(deps.elapsedMs() - queuedMs);
    const group = Math.floor(record.machine / GROUP);
    if (!firstOfGroup.has(group)) firstOfGroup.set(group, deps.elapsedMs() - beginMs);
    if (waits.length === records.length) done.resolve();
  };
  for (const record of records) deps.after(record.atMs, () => void send(record).catch(done.reject));
  const cancel = deps.after(patienceMs, () =>
    done.reject(new Error(`${records.length - waits.length} of ${records.length} records were not accepted`)),
  );
  try {
    await done.promise;
  } finally {
    cancel();
  }
  const lastMs = deps.elapsedMs() - beginMs;
  await Promise.all([...senders.values()].map(({ lane }) => lane.close()));
  const failures = [...senders.values()].map((sender) => sender.failures);
  return {
    machines: machines.length,
    records: records.length,
    retried: failures.reduce((sum, count) => sum + count, 0),
    retrying: failures.filter((count) => count > 0).length,
    lastMs,
    medianMs: waits.sort((one, other) => one - other)[Math.floor(waits.length / 2)] ?? 0,
    everyGroupMs: Math.max(...firstOfGroup.values()),
  };
}
