// A document with 1,000 new events → how long until every replica has all of them.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../support/fake-metadata.ts';
import type { Cluster } from '../support/kafka/cluster.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import { median, type Row } from './figures.ts';
import { Rig } from './rig.ts';

const EVENTS = 1000;
const ROUNDS = 5;
/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 3000;
const TIMED = join(import.meta.dirname, 'kafka-timed.ts');

export async function kafkaBurst(cluster: Cluster): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const partitions of [1, 6]) {
    const samples: number[] = [];
    for (let round = 0; round < ROUNDS; round++) samples.push(await burst(cluster, `burst-${partitions}-${round}`, partitions));
    const what = `Kafka, ${EVENTS} events in one document, ${partitions === 1 ? 'one partition' : `${partitions} partitions`}: all accepted`;
    rows.push({ what, figure: `${median(samples).toFixed(0)} ms, median of ${ROUNDS}`, goal: '≤ 1000 ms' });
  }
  return rows;
}

async function burst(cluster: Cluster, topic: string, partitions: number): Promise<number> {
  await using rig = await Rig.start();
  await cluster.createTopic(topic, { partitions });
  const bridge = rig.spawnBridge('1s', { sinks: { stream: { type: 'kafka', brokers: cluster.addresses(), topic } } }, TIMED);
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  await pause(SETTLE_MS);
  const events = Array.from({ length: EVENTS }, (_, place) => ({ ...EXAMPLE_EVENT, EventId: eventId(place) }));
  const answeredMs = sharedMs(await rig.metadata.list(events));
  let lastMs = answeredMs;
  for (let accepted = 0; accepted < EVENTS; ) {
    const call = await calls.next();
    accepted += call.accepted;
    lastMs = Math.max(lastMs, call.toMs);
  }
  return lastMs - answeredMs;
}

function eventId(place: number): string {
  return `C7061BAC-AFDC-4513-B24B-${place.toString(16).toUpperCase().padStart(12, '0')}`;
}
