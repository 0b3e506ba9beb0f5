// One change after the other → from the answer to the poll that brought it to acks=all, and of that the delivery alone, in turn with a bare loop doing the same.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../support/fake-metadata.ts';
import type { Cluster } from '../support/kafka/cluster.ts';
import type { Program } from '../support/program.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import { percentile, type Row } from './figures.ts';
import { Rig, withFlags } from './rig.ts';

const CHANGES = 300;
const WARM_UP = 100;
const POLL_INTERVAL_MS = 50;
const TIMED = join(import.meta.dirname, 'kafka-timed.ts');
const BARE = join(import.meta.dirname, 'bare-kafka.ts');

/** Milliseconds to acks=all. */
interface Samples {
  /** From the poll's answer. */
  readonly change: number[];
  /** From the call of the sink, or of the client. */
  readonly delivery: number[];
}

export async function kafkaLatency(cluster: Cluster): Promise<readonly Row[]> {
  await using rig = await Rig.start();
  await using bareRig = await Rig.start();
  for (const topic of ['changes', 'bare']) await cluster.createTopic(topic);
  const brokers = cluster.addresses();
  const sinks = { stream: { type: 'kafka', brokers, topic: 'changes' } };
  const own = trial(rig, rig.spawnBridge(`${POLL_INTERVAL_MS}ms`, { sinks }, TIMED));
  const words = [bareRig.metadata.url, brokers.join(','), 'bare', join(bareRig.folder, 'written'), String(POLL_INTERVAL_MS)];
  const bare = trial(bareRig, bareRig.spawn(withFlags([BARE, ...words], ['ignore', 'ignore', 'pipe'])));
  await Promise.all([rig, bareRig].map(({ metadata }) => metadata.answered()));
  for (let change = 0; change < WARM_UP + CHANGES; change++) {
    await own.step(change);
    await bare.step(change);
  }
  const send = ['bare send', bare.samples.delivery] as const;
  const loop = ['bare loop', bare.samples.change] as const;
  return [
    ...compared('change → acks=all', own.samples.change, [send, loop], '≤ 1.5 × the send'),
    ...compared('delivery → acks=all', own.samples.delivery, [send], ''),
  ];
}

function trial({ metadata }: Rig, program: Program): { readonly samples: Samples; step(change: number): Promise<void> } {
  const samples: Samples = { change: [], delivery: [] };
  const calls = callsOf(program);
  return {
    samples,
    step: async (change) => {
      const answered = metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
      const { fromMs, toMs } = await calls.next();
      // Past what follows the acceptance, and at another place in the poll's rhythm.
      await pause(10 + (change % 7) * 5);
      if (change < WARM_UP) return;
      samples.change.push(toMs - sharedMs(await answered));
      samples.delivery.push(toMs - fromMs);
    },
  };
}

function compared(what: string, own: readonly number[], others: readonly (readonly [string, readonly number[]])[], goal: string): Row[] {
  return (['p50', 'p99'] as const).map((label) => {
    const share = Number(label.slice(1)) / 100;
    const ownMs = percentile(own, share);
    const beside = others.map(([name, samples]) => {
      const ms = percentile(samples, share);
      return `${name} ${ms.toFixed(2)} ms: ${(ownMs / ms).toFixed(1)} ×`;
    });
    const figure = [`${ownMs.toFixed(2)} ms`, ...beside].join(', ');
    return { what: `Kafka, ${what}, ${label} of ${CHANGES}`, figure, goal: label === 'p50' ? goal : '' };
  });
}
