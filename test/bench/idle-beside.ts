// Bridges with nothing to tell, after some deliveries → what each costs in one and the same minute.
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import type { Program } from '../support/program.ts';
import type { Sections } from '../support/running-bridge.ts';
import { BridgeBetween, pidOf } from './bridge-between.ts';
import { cpuMs, type Row, rssMb } from './figures.ts';

/** That many were delivered to each sink of each bridge. */
export const CHANGES = 10;
/** What the start and the deliveries leave behind has been dealt with by then. */
const SETTLE_MS = 20_000;
const MEASURE_MS = 60_000;

export interface IdleCase {
  readonly name: string;
  readonly sections: Sections;
  /** Of the bridge, besides PATH. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Done before it settles. */
  readonly prepare?: (bridge: Program) => Promise<void>;
  readonly goals?: { readonly cpu?: string; readonly rss?: string };
}

export async function idleBeside(cases: readonly IdleCase[]): Promise<readonly Row[]> {
  return (await Promise.all(cases.map(measure))).flat();
}

async function measure({ name, sections, env, prepare, goals = {} }: IdleCase): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  const bridge = await surroundings.startBridge('1s', sections, { env });
  for (let change = 1; change <= CHANGES; change++)
    await surroundings.metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
  await prepare?.(bridge);
  await pause(SETTLE_MS);
  const pid = pidOf(bridge);
  const before = { cpu: cpuMs(pid), polls: surroundings.metadata.polls };
  await pause(MEASURE_MS);
  const cpu = (cpuMs(pid) - before.cpu) / (surroundings.metadata.polls - before.polls);
  const what = `idle, 1s polls, ${name}`;
  return [
    { what: `${what}: CPU a poll`, figure: `${cpu.toFixed(2)} ms`, goal: goals.cpu ?? '' },
    { what: `${what}: RSS`, figure: `${rssMb(pid).toFixed(1)} MB`, goal: goals.rss ?? '' },
  ];
}
