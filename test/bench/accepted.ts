// Bridges that tell their deliveries, 1,000 new events → how long until all are accepted.
import { setTimeout as pause } from 'node:timers/promises';
import type { Sections } from '../support/running-bridge.ts';
import { BridgeBetween } from './bridge-between.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import { median, type Row } from './figures.ts';
import { manyEvents } from './many-events.ts';

export const EVENTS = 1000;
/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 3000;

/** `timed` is the bridge's script; `rounds` has the sections of each. */
export async function allAccepted(what: string, timed: string, rounds: readonly Sections[]): Promise<Row> {
  const samples: number[] = [];
  for (const sections of rounds) samples.push(await untilAccepted(timed, sections));
  return { what, figure: `${median(samples).toFixed(0)} ms, median of ${rounds.length}`, goal: '≤ 1000 ms' };
}

/** Milliseconds from the answer to the poll that listed them. */
async function untilAccepted(timed: string, sections: Sections): Promise<number> {
  await using surroundings = await BridgeBetween.start();
  const bridge = surroundings.spawnBridge('1s', sections, { main: timed });
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  await pause(SETTLE_MS);
  const answeredMs = sharedMs(await surroundings.metadata.list(manyEvents(EVENTS)));
  let lastMs = answeredMs;
  for (let accepted = 0; accepted < EVENTS; ) {
    const call = await calls.next();
    accepted += call.accepted;
    lastMs = Math.max(lastMs, call.toMs);
  }
  return lastMs - answeredMs;
}
