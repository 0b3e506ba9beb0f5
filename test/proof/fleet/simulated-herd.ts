// A herd and a receiver of limited speed → lanes in virtual time: how long, and how many tries.

import { MachineClock } from '../../virtual/machine-clock.ts';
import { failure, ScriptedAdapter } from '../../virtual/scripted-adapter.ts';
import { Chance } from '../simulation/chance.ts';
import { SimulatedTime } from '../simulation/simulated-time.ts';
import { type SentFigures, sendAll } from './fleet-lanes.ts';
import { FleetSender } from './fleet-sender.ts';

const HOUR_MS = 3_600_000;

export interface SimulatedHerdOptions {
  readonly seed: number;
  readonly machines: number;
  /** More in one second are refused. */
  readonly perSecond: number;
  /** The machines' moments lie within this time. */
  readonly withinMs: number;
  /** What a refusal asks for, drawn between the two; null: nothing. */
  readonly retryAfterMs: readonly [leastMs: number, mostMs: number] | null;
}

export interface SimulatedHerd extends SentFigures {
  readonly options: SimulatedHerdOptions;
  /** Calls in the busiest second after the first two. */
  readonly busiestLater: number;
}

/** Each machine sends one record, at its own moment. */
export async function simulatedHerd(options: SimulatedHerdOptions): Promise<SimulatedHerd> {
  const { seed, machines, perSecond, withinMs, retryAfterMs } = options;
  const chance = new Chance('herd', seed);
  const time = new SimulatedTime(Date.UTC(2026, 0, 1));
  const calls = new Map<number, number>();
  const refusal = () =>
    failure({
      ...{ disposition: 'retry', status: 429 },
      ...(retryAfterMs !== null && { retryAfterMs: chance.between(retryAfterMs[0], retryAfterMs[1] + 1) }),
    });
  const answer = () => {
    const second = Math.floor(time.nowMs / 1000);
    const count = (calls.get(second) ?? 0) + 1;
    calls.set(second, count);
    return [count > perSecond ? refusal() : ('accepted' as const)];
  };
  const senderOf = (machine: number) => {
    const deps = new MachineClock(time).deps(new Chance('herd', seed, machine).next);
    return new FleetSender(new ScriptedAdapter(answer, { inFlight: 16 }), deps);
  };
  const records = Array.from({ length: machines }, (_, machine) => ({
    ...{ machine, id: 'event:scheduled', bytes: new Uint8Array() },
    atMs: chance.between(0, withinMs),
  }));
  const sent = sendAll(records, senderOf, { deps: time, patienceMs: HOUR_MS });
  const passed = { isDone: false };
  void sent.finally(() => {
    passed.isDone = true;
  });
  while (!passed.isDone) await time.advanceTo(time.nowMs + 1000);
  const figures = await sent;
  return { ...figures, options, busiestLater: busiestOf(calls) };
}

function busiestOf(calls: ReadonlyMap<number, number>): number {
  return Math.max(0, ...[...calls].filter(([second]) => second >= 2).map(([, count]) => count));
}
