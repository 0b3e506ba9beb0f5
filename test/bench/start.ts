// A spawned process → how long until its first poll is answered, on a store that is there already.
import { setTimeout as pause } from 'node:timers/promises';
import type { Sections } from '../support/running-bridge.ts';
import { BridgeBetween } from './bridge-between.ts';
import { median, type Row } from './figures.ts';

const STARTS = 9;

export function start(): Promise<readonly Row[]> {
  return firstPolls('start → first poll');
}

export async function firstPolls(what: string, sections?: Sections): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  await (await surroundings.startBridge('1s', sections)).end('SIGTERM');
  const samples: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    const answered = surroundings.metadata.answered();
    const spawnedMs = performance.now();
    const bridge = surroundings.spawnBridge('1s', sections);
    samples.push((await answered) - spawnedMs);
    await pause(200);
    await bridge.end('SIGTERM');
  }
  return [{ what: `${what}, median of ${STARTS}`, figure: `${median(samples).toFixed(0)} ms`, goal: '≤ 300 ms' }];
}
