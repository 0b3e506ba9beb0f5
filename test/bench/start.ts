// A spawned process → how long until its first poll is answered, on a store that is there already.
import { setTimeout as pause } from 'node:timers/promises';
import { median, type Row } from './figures.ts';
import { Rig } from './rig.ts';

const STARTS = 9;

export async function start(): Promise<readonly Row[]> {
  await using rig = await Rig.start();
  await (await rig.startBridge('1s')).end('SIGTERM');
  const samples: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    const answered = rig.metadata.answered();
    const spawnedMs = performance.now();
    const bridge = rig.spawnBridge('1s');
    samples.push((await answered) - spawnedMs);
    await pause(200);
    await bridge.end('SIGTERM');
  }
  return [{ what: `start → first poll, median of ${STARTS}`, figure: `${median(samples).toFixed(0)} ms`, goal: '≤ 300 ms' }];
}
