// What was played and replayed → the lines that a run prints.
import { AZURE, carriedBy } from './azure-limits.ts';
import type { Life } from './life.ts';
import type { PlayedEvent, PlayedLife } from './played-life.ts';
import { asItIs, asRanked } from './publish-rank.ts';
import type { Replay } from './replay.ts';
import type { SimulatedHerd } from './simulated-herd.ts';

/** The rank that docs/operate/fleets.md weighs. */
const RANK = { first: 3, withinMs: 30_000 };

export function lifeLines({ life, events }: PlayedLife): readonly string[] {
  const { name, machines, submit, resources } = life;
  return [
    `group "${name}": ${machines} machines, submit: ${submit}, resources: ${resources}`,
    ...events.map((event) => `  ${eventLine(life, event)}`),
  ];
}

function eventLine({ machines }: Life, event: PlayedEvent): string {
  const { play, records, bytes, changes, approvals, startRequests, startAfterMs, differing, copiesMs } = event;
  const { which, count } = play.dead;
  const dies = play.posterDiesAt === null ? '' : `, the poster dies at "${play.posterDiesAt}"`;
  const now = asItIs(copiesMs);
  const ranked = asRanked(copiesMs, { machines, ...RANK });
  return [
    `names ${play.named}, dead ${count} ${which}${dies}: ${records} records, ${kilobytes(bytes)} KB`,
    `${changes} changes and ${approvals} approvals after dedupe, copies differ in [${differing.join(', ')}]`,
    `${startRequests} StartRequests, the first ${seconds(startAfterMs)} s after the yes`,
    `first copy after ${now.firstMs} ms, ${now.busiest} in a second`,
    `with a rank ${ranked.firstMs} ms, ${ranked.busiest} in a second`,
  ].join('; ');
}

export function replayLine({ order, sent, came }: Replay): string {
  const limit = order.kind === 'webhook' && order.perSecond !== null ? `, ${order.perSecond} a second` : '';
  const pause = order.kind === 'webhook' && order.retryAfterS !== null ? `, Retry-After ${order.retryAfterS}` : '';
  const requests = Object.entries(came.requests).map(([name, count]) => `${name} ${count}`);
  return [
    `${order.kind}${limit}${pause}: ${sent.records} records of ${sent.machines} machines`,
    `all accepted after ${seconds(sent.lastMs)} s, median ${Math.round(sent.medianMs)} ms`,
    `one of each group after ${seconds(sent.everyGroupMs)} s`,
    `${sent.retried} tries again of ${sent.retrying} machines`,
    `${came.connections} connections, at most ${came.mostOpen} at a time, ${requests.join(', ')}`,
    `${kilobytes(came.bytesIn)} KB in, ${kilobytes(came.bytesOut)} KB out`,
    `${came.accepted} accepted, ${came.kept.length} kept`,
  ].join('; ');
}

export function herdLine({ options, retried, lastMs, medianMs, everyGroupMs, busiestLater }: SimulatedHerd): string {
  const { machines, perSecond, withinMs, retryAfterMs } = options;
  const pause = retryAfterMs === null ? 'none' : retryAfterMs.map((ms) => `${ms / 1000} s`).join(' to ');
  return [
    `simulated herd: ${machines} machines within ${withinMs / 1000} s, ${perSecond} a second, Retry-After ${pause}`,
    `all accepted after ${seconds(lastMs)} s, median ${seconds(medianMs)} s, one of each group after ${seconds(everyGroupMs)} s`,
    `${retried} tries again, later at most ${busiestLater} in a second`,
  ].join('; ');
}

/** @param event of a whole group */
export function azureLine({ machines }: Life, { records, bytes, approvals, changes }: PlayedEvent): string {
  const each = { machines, records: machines, bytes: (bytes / records) * machines, connections: 1 };
  const { machinesByConnections, groupsByCredits, groupsByThroughputUnit } = carriedBy(each);
  return [
    `Azure: ${AZURE.connections} connections carry ${machinesByConnections} machines`,
    `${AZURE.creditsPerSecond} credits carry a change of ${groupsByCredits} groups a second, without filters`,
    `a throughput unit that of ${groupsByThroughputUnit}`,
    `an event costs ${records} operations for ${changes + approvals} CloudEvents`,
  ].join('; ');
}

function seconds(ms: number | null): string {
  return ms === null ? '-' : (ms / 1000).toFixed(1);
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0);
}
