// kill -9 amid deliveries that fail → how long after the restart until the first poll, and until the first redelivery.
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { median, type Row } from './figures.ts';
import { Rig } from './rig.ts';

const ROUNDS = 5;

export async function recovery(): Promise<readonly Row[]> {
  await using rig = await Rig.start();
  const polls: number[] = [];
  const redeliveries: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bridge = await rig.startBridge('100ms');
    rig.receiver.default = { status: 503 };
    const seen = rig.receiver.requests.length;
    await rig.metadata.list([{ ...EXAMPLE_EVENT, Description: `round ${round}` }]);
    await rig.receiver.waitFor(seen + 1);
    await bridge.end('SIGKILL');
    const received = rig.received();
    const answered = rig.metadata.answered();
    const spawnedMs = performance.now();
    const again = rig.spawnBridge('100ms');
    polls.push((await answered) - spawnedMs);
    redeliveries.push((await received) - spawnedMs);
    await again.end('SIGTERM');
  }
  return [
    { what: `kill -9, restart → first poll, median of ${ROUNDS}`, figure: `${median(polls).toFixed(0)} ms`, goal: '≤ 1000 ms' },
    {
      what: `kill -9, restart → first redelivery, median of ${ROUNDS}`,
      figure: `${median(redeliveries).toFixed(0)} ms`,
      goal: '≤ 1000 ms',
    },
  ];
}
