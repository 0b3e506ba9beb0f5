// A Service Bus server in a process of its own → how long a change takes until it is settled beside a bare send, what 1,000 at once take, what a sink costs while it has nothing to do, and the start.
import { join } from 'node:path';
import { untilAccepted } from './accepted.ts';
import { BenchNamespace } from './bench-namespace.ts';
import { median, type Row } from './figures.ts';
import { CHANGES, type IdleCase, idleBeside } from './idle-beside.ts';
import { Rig, withFlags } from './rig.ts';
import { firstPolls } from './start.ts';
import { compared, inTurn } from './trials.ts';

const POLL_INTERVAL_MS = 50;
const EVENTS = 1000;
const ROUNDS = 5;
const QUEUES = ['changes', 'bare', 'idle', ...Array.from({ length: ROUNDS }, (_, round) => `burst-${round}`)];
const TIMED = join(import.meta.dirname, 'service-bus-timed.ts');
const BARE = join(import.meta.dirname, 'bare-service-bus.ts');

export async function serviceBus(): Promise<readonly Row[]> {
  await using namespace = await BenchNamespace.start(QUEUES);
  return [...(await latency(namespace)), ...(await burst(namespace)), ...(await idle(namespace)), ...(await start(namespace))];
}

async function latency(namespace: BenchNamespace): Promise<readonly Row[]> {
  await using rig = await Rig.start();
  await using bareRig = await Rig.start();
  const words = [bareRig.metadata.url, join(bareRig.folder, 'written'), String(POLL_INTERVAL_MS), namespace.connection, 'bare'];
  const program = rig.spawnBridge(`${POLL_INTERVAL_MS}ms`, namespace.sink('changes'), TIMED);
  const bareProgram = bareRig.spawn(withFlags([BARE, ...words], ['ignore', 'ignore', 'pipe']));
  const [own, bare] = await inTurn([
    { rig, program },
    { rig: bareRig, program: bareProgram },
  ]);
  if (!own || !bare) return [];
  const send = ['bare send', bare.delivery] as const;
  return [
    ...compared('Service Bus, change → settled', own.change, [send, ['bare loop', bare.change]], '≤ 1.5 × the send'),
    ...compared('Service Bus, delivery → settled', own.delivery, [send], ''),
  ];
}

async function burst(namespace: BenchNamespace): Promise<readonly Row[]> {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using rig = await Rig.start();
    samples.push(await untilAccepted(EVENTS, rig, rig.spawnBridge('1s', namespace.sink(`burst-${round}`), TIMED)));
  }
  const what = `Service Bus, ${EVENTS} events in one document: all settled`;
  return [{ what, figure: `${median(samples).toFixed(0)} ms, median of ${ROUNDS}`, goal: '≤ 1000 ms' }];
}

/** KAFKA_BROKERS, with a topic `idle`, adds a bridge that has both. */
async function idle(namespace: BenchNamespace): Promise<readonly Row[]> {
  const brokers = process.env['KAFKA_BROKERS']?.split(',');
  const { sinks } = namespace.sink('idle');
  const both: readonly IdleCase[] = brokers
    ? [
        {
          name: 'Service Bus and Kafka sinks',
          sections: { sinks: { ...sinks, stream: { type: 'kafka', brokers, topic: 'idle' } } },
          goals: { rss: '≤ 110 MB' },
        },
      ]
    : [];
  const rows = await idleBeside([
    { name: 'webhook, no Service Bus', sections: {} },
    { name: 'Service Bus sink', sections: { sinks }, goals: { rss: '≤ 95 MB' } },
    ...both,
  ]);
  await namespace.holds('idle', CHANGES);
  return rows;
}

async function start(namespace: BenchNamespace): Promise<readonly Row[]> {
  return await firstPolls('start with a Service Bus sink → first poll', namespace.sink('idle'));
}
