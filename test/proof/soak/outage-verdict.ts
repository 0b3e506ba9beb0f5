// A month without two sinks → its figures, and what was not as the pages promise.
import type { CatchUp, Outage } from './outage.ts';
import type { Way } from './soaked-bridge.ts';
import type { Verdict } from './verdict.ts';

const MIB = 1024 * 1024;
/** The queue is on disk: a lane reads 32 rows at a time. */
const MOST_HEAP_GROWTH = 8 * MIB;
/** The longest back-off is 5 min; a poll comes every 30 s. */
const LATEST_SECONDS = 330;

export function outageVerdict(outage: Outage, way: Way): Verdict {
  const { before, atReturn, after, patient, usual, patientCatchUp, usualCatchUp, deadLetters } = outage;
  const waiting = patient.queued + usual.queued + usual.dead;
  const storeGrowth = atReturn.storeBytes - before.storeBytes;
  const heapGrowth = atReturn.inside.heapUsed - before.inside.heapUsed;
  const lines = [
    `${outage.days.toFixed(1)} days, ${outage.maintenances} maintenances, ${waiting} deliveries wait`,
    `store +${mib(storeGrowth)} MiB (${(storeGrowth / 1024 / waiting).toFixed(1)} KiB for each), heap +${mib(heapGrowth)} MiB`,
    `RSS ${mib(before.inside.rss)}, ${mib(atReturn.inside.rss)}, ${mib(after.inside.rss)} MiB (before, at the return, after)`,
    `patient sink: ${patient.queued} queued, ${patient.dead} dead letters; ${words(patientCatchUp)}`,
    `usual sink: ${usual.queued} queued, ${usual.dead} dead letters; ${words(usualCatchUp)}; dead letters ${words(deadLetters)}`,
  ];
  const failures = [
    ...(patient.dead > 0 ? ['the patient sink has dead letters'] : []),
    ...(usual.dead === 0 ? ['the usual sink gave nothing up: the outage was too short to prove anything'] : []),
    // Without a forced collection, the heap has garbage.
    ...(way === 'plain' && heapGrowth > MOST_HEAP_GROWTH ? ['the heap grew with the queue'] : []),
    ...[patientCatchUp, usualCatchUp]
      .filter(({ firstAfterSeconds }) => firstAfterSeconds > LATEST_SECONDS)
      .map(({ firstAfterSeconds }) => `the first delivery came ${firstAfterSeconds} s after the return`),
  ];
  return { lines, failures: failures.map((failure) => `${failure} (${lines.join('; ')})`) };
}

function words({ deliveries, firstAfterSeconds, seconds }: CatchUp): string {
  const rate = seconds > 0 ? `, ${(deliveries / seconds).toFixed(0)} a second` : '';
  return `${deliveries} sent, the first within ${firstAfterSeconds} s, all in ${seconds.toFixed(2)} s${rate}`;
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}
