// A document change → the time from a poll's answer to the webhook's receiver, beside a bare loop.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { Program } from '../support/program.ts';
import { BridgeBetween } from './bridge-between.ts';
import { percentile, type Row } from './figures.ts';

const CHANGES = 200;
const WARM_UP = 20;
const POLL_INTERVAL_MS = 50;

export async function latency(): Promise<readonly Row[]> {
  const bare = await measure((surroundings) => {
    surroundings.spawn(bareLoop(surroundings));
    return surroundings.metadata.answered();
  });
  const bridge = await measure((surroundings) => surroundings.startBridge(`${POLL_INTERVAL_MS}ms`));
  return [
    ['p50', 0.5, '≤ 2 ×, hope ≤ 4 ms'],
    ['p95', 0.95, ''],
    ['p99', 0.99, '≤ 3 ×, hope ≤ 10 ms'],
  ].map(([name, share, goal]) => {
    const [bridgeMs, bareMs] = [bridge, bare].map((samples) => percentile(samples, share as number)) as [
      number,
      number,
    ];
    const figure = `${bridgeMs.toFixed(2)} ms, bare loop ${bareMs.toFixed(2)} ms: ${(bridgeMs / bareMs).toFixed(1)} ×`;
    return { what: `change → webhook, ${name} of ${CHANGES}`, figure, goal: goal as string };
  });
}

async function measure(begin: (surroundings: BridgeBetween) => Promise<unknown>): Promise<readonly number[]> {
  await using surroundings = await BridgeBetween.start();
  await begin(surroundings);
  const samples: number[] = [];
  for (let change = 0; change < WARM_UP + CHANGES; change++) {
    const received = surroundings.received();
    const answered = surroundings.metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
    samples.push((await received) - (await answered));
    // Past the acceptance, and at another place in the poll's rhythm.
    await pause(10 + (change % 7) * 5);
  }
  return samples.slice(WARM_UP);
}

function bareLoop({ metadata, receiver, folder }: BridgeBetween): Program {
  const main = join(import.meta.dirname, 'bare-loop.ts');
  return new Program([metadata.url, receiver.url, join(folder, 'written'), String(POLL_INTERVAL_MS)], { main });
}
