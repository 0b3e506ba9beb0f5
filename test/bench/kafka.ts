// A local broker → time to all replicas beside a bare send, 1,000 at once, and an idle sink's cost.
import { join } from 'node:path';
import { Cluster } from '../far-sides/kafka/cluster.ts';
import { noDistribution } from '../far-sides/kafka/distribution.ts';
import { noReader, readTopic } from '../far-sides/kafka/records.ts';
import type { Sections } from '../support/running-bridge.ts';
import { allAccepted, EVENTS } from './accepted.ts';
import type { Row } from './figures.ts';
import { CHANGES, idleBeside } from './idle-beside.ts';
import { besideBare } from './trials.ts';

const ROUNDS = 5;
const TIMED = join(import.meta.dirname, 'kafka-timed.ts');
const BARE = join(import.meta.dirname, 'bare-kafka.ts');

export async function kafka(): Promise<readonly Row[]> {
  const reason = noDistribution() || noReader();
  if (reason) return [{ what: 'Kafka', figure: `not measured: ${reason}`, goal: '' }];
  await using cluster = await Cluster.launch();
  return [...(await latency(cluster)), ...(await burst(cluster)), ...(await idle(cluster))];
}

async function latency(cluster: Cluster): Promise<readonly Row[]> {
  const sections = await sinkTo(cluster, 'changes');
  await cluster.createTopic('bare');
  return await besideBare(
    'Kafka',
    'acks=all',
    { timed: TIMED, sections },
    { script: BARE, words: [cluster.addresses().join(','), 'bare'] },
  );
}

async function burst(cluster: Cluster): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [partitions, name] of [
    [1, 'one partition'],
    [6, '6 partitions'],
  ] as const) {
    const rounds: Sections[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push(await sinkTo(cluster, `burst-${partitions}-${round}`, partitions));
    rows.push(await allAccepted(`Kafka, ${EVENTS} events in one document, ${name}: all accepted`, TIMED, rounds));
  }
  return rows;
}

async function idle(cluster: Cluster): Promise<readonly Row[]> {
  const brokers = cluster.addresses();
  const sink = await sinkTo(cluster, 'idle');
  await cluster.createTopic('approvals');
  const sources = { ops: { type: 'kafka', brokers, topic: 'approvals', approver: 'ops' } };
  const rows = await idleBeside([
    { name: 'webhook, no Kafka', sections: {} },
    { name: 'Kafka sink', sections: sink, goals: { cpu: 'as without Kafka', rss: '≤ 85 MB' } },
    { name: 'Kafka sink and source', sections: { ...sink, approvals: { approvers: { ops: {} }, sources } } },
  ]);
  const records = await readTopic(brokers, 'idle');
  if (records.length < CHANGES) throw new Error(`only ${records.length} records were delivered`);
  return rows;
}

/** A new topic, and the section `sinks` with one that sends there. */
async function sinkTo(cluster: Cluster, topic: string, partitions = 1): Promise<Sections> {
  await cluster.createTopic(topic, { partitions });
  return { sinks: { stream: { type: 'kafka', brokers: cluster.addresses(), topic } } };
}
