// The arguments of `npm run proof` → its parts, one after the other; the last line has the counts.
import { hasFailed, lastLine, summed } from './last-line.ts';
import { argumentsOf, readArguments } from './options.ts';
import type { Counts, ProofOptions } from './part.ts';
import { PARTS } from './parts.ts';
import { runPart } from './run-part.ts';
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
  for (const part of chosen)
    counts.push(await runPart(part, { ...options, minutes: minutes === null ? null : minutes / chosen.length }));
  const total = summed(counts);
  if (minutes !== null) log(`repeat: npm run proof -- ${argumentsOf({ ...options, ...total.repeatedBy })}`);
  const failed = chosen.filter((_, index) => hasFailed(counts[index] as Counts)).map(({ name }) => name);
  if (failed.length > 0) log(`failed: ${failed.join(', ')}`);
  log(lastLine(options, total));
  if (hasFailed(total)) process.exitCode = 1;
}
