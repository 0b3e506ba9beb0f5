// kill -9 amid failing deliveries → the time until the first poll and the first redelivery.
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { BridgeBetween } from './bridge-between.ts';
import { median, type Row } from './figures.ts';

const ROUNDS = 5;

export async function recovery(): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  const polls: number[] = [];
  const redeliveries: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bridge = await surroundings.startBridge('100ms');
    surroundings.receiver.default = { status: 503 };
    const seen = surroundings.receiver.requests.length;
    await surroundings.metadata.list([{ ...EXAMPLE_EVENT, Description: `round ${round}` }]);
    await surroundings.receiver.waitFor(seen + 1);
    await bridge.end('SIGKILL');
    const received = surroundings.received();
    const answered = surroundings.metadata.answered();
    const spawnedMs = performance.now();
    const again = surroundings.spawnBridge('100ms');
    polls.push((await answered) - spawnedMs);
    redeliveries.push((await received) - spawnedMs);
    await again.end('SIGTERM');
  }
  return [
    {
      what: `kill -9, restart → first poll, median of ${ROUNDS}`,
      figure: `${median(polls).toFixed(0)} ms`,
      goal: '≤ 1000 ms',
    },
    {
      what: `kill -9, restart → first redelivery, median of ${ROUNDS}`,
      figure: `${median(redeliveries).toFixed(0)} ms`,
      goal: '≤ 1000 ms',
    },
  ];
}
