// A Service Bus test server → times beside a bare send, 1,000 at once, idle cost, and the start.
import { join } from 'node:path';
import { allAccepted, EVENTS } from './accepted.ts';
import { BenchNamespace } from './bench-namespace.ts';
import type { Row } from './figures.ts';
import { CHANGES, type IdleCase, idleBeside } from './idle-beside.ts';
import { firstPolls } from './start.ts';
import { besideBare } from './trials.ts';

const BURSTS = Array.from({ length: 5 }, (_, round) => `burst-${round}`);
const QUEUES = ['changes', 'bare', 'idle', ...BURSTS];
const TIMED = join(import.meta.dirname, 'service-bus-timed.ts');
const BARE = join(import.meta.dirname, 'bare-service-bus.ts');

export async function serviceBus(): Promise<readonly Row[]> {
  await using namespace = await BenchNamespace.start(QUEUES);
  return [
    ...(await latency(namespace)),
    ...(await burst(namespace)),
    ...(await idle(namespace)),
    ...(await start(namespace)),
  ];
}

async function latency(namespace: BenchNamespace): Promise<readonly Row[]> {
  const own = { timed: TIMED, sections: namespace.sink('changes') };
  return await besideBare('Service Bus', 'settled', own, { script: BARE, words: [namespace.connection, 'bare'] });
}

async function burst(namespace: BenchNamespace): Promise<readonly Row[]> {
  const rounds = BURSTS.map((queue) => namespace.sink(queue));
  return [await allAccepted(`Service Bus, ${EVENTS} events in one document: all settled`, TIMED, rounds)];
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
