// The arguments of `npm run proof` → its parts, one after the other; the last line has the counts.
import { hasFaults, lastLine, summed } from './last-line.ts';
import { argumentsOf, readArguments } from './options.ts';
import type { Counts, ProofOptions } from './part.ts';
import { PARTS } from './parts.ts';
import { tellWorld } from './simulation/tell-world.ts';

const log = (line: string) => void process.stdout.write(`${line}\n`);

const { runs, parts, world } = readArguments(process.argv.slice(2));
for (const name of parts ?? [])
  if (!PARTS.some((part) => part.name === name))
    throw new Error(`There is no part ${name}. The parts are ${PARTS.map((part) => part.name).join(', ')}.`);
const chosen = PARTS.filter(({ name }) => parts === null || parts.includes(name));
for (const run of runs) {
  if (world === null) await prove({ ...run, log });
  else await tellWorld(run.seed, world, log);
}

async function prove(options: ProofOptions): Promise<void> {
  const { minutes } = options;
  log(`options: ${argumentsOf(options)}${minutes === null ? '' : ` --minutes ${minutes}`}`);
  const counts: Counts[] = [];
  for (const part of chosen) {
    const sinceMs = performance.now();
    const share = minutes === null ? null : minutes / chosen.length;
    const found = await part.run({ ...options, minutes: share });
    counts.push(found);
    log(`${part.name}: ${found.maintenances} maintenances, ${found.kills} kills, ${elapsed(sinceMs)}`);
  }
  const total = summed(counts);
  if (minutes !== null) log(`repeat: npm run proof -- ${argumentsOf({ ...options, ...total.repeatedBy })}`);
  log(lastLine(options, total));
  if (hasFaults(total)) process.exitCode = 1;
}

function elapsed(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}
