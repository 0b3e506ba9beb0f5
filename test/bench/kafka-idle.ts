// Bridges with nothing to tell, after some deliveries: without Kafka, with a sink, with a source too → what each costs in one and the same minute.
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../support/fake-metadata.ts';
import type { Cluster } from '../support/kafka/cluster.ts';
import { readTopic } from '../support/kafka/records.ts';
import type { Sections } from '../support/running-bridge.ts';
import { cpuMs, type Row, rssMb } from './figures.ts';
import { pidOf, Rig } from './rig.ts';

const CHANGES = 10;
/** What the start and the deliveries leave behind has been dealt with by then. */
const SETTLE_MS = 20_000;
const MEASURE_MS = 60_000;

interface Case {
  readonly name: string;
  readonly sections: (brokers: readonly string[]) => Sections;
  readonly goals: { readonly cpu: string; readonly rss: string };
}

const sink = (brokers: readonly string[]) => ({ sinks: { stream: { type: 'kafka', brokers, topic: 'idle' } } });
const source = (brokers: readonly string[]) => ({
  approvals: { approvers: { ops: {} }, sources: { ops: { type: 'kafka', brokers, topic: 'approvals', approver: 'ops' } } },
});

const CASES: readonly Case[] = [
  { name: 'webhook, no Kafka', sections: () => ({}), goals: { cpu: '', rss: '' } },
  { name: 'Kafka sink', sections: sink, goals: { cpu: 'as without Kafka', rss: '≤ 85 MB' } },
  { name: 'Kafka sink and source', sections: (brokers) => ({ ...sink(brokers), ...source(brokers) }), goals: { cpu: '', rss: '' } },
];

/** Beside one another, so that they have the same minute. */
export async function kafkaIdle(cluster: Cluster): Promise<readonly Row[]> {
  for (const topic of ['idle', 'approvals']) await cluster.createTopic(topic);
  const rows = await Promise.all(CASES.map((each) => measure(each, cluster)));
  const records = await readTopic(cluster.addresses(), 'idle');
  if (records.length < CHANGES) throw new Error(`only ${records.length} records were delivered`);
  return rows.flat();
}

async function measure({ name, sections, goals }: Case, cluster: Cluster): Promise<readonly Row[]> {
  await using rig = await Rig.start();
  const bridge = await rig.startBridge('1s', sections(cluster.addresses()));
  for (let change = 1; change <= CHANGES; change++) await rig.metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
  await pause(SETTLE_MS);
  const pid = pidOf(bridge);
  const before = { cpu: cpuMs(pid), polls: rig.metadata.polls };
  await pause(MEASURE_MS);
  const cpu = (cpuMs(pid) - before.cpu) / (rig.metadata.polls - before.polls);
  const what = `idle, 1s polls, ${name}`;
  return [
    { what: `${what}: CPU a poll`, figure: `${cpu.toFixed(2)} ms`, goal: goals.cpu },
    { what: `${what}: RSS`, figure: `${rssMb(pid).toFixed(1)} MB`, goal: goals.rss },
  ];
}
