// The arguments of `npm run proof` → its parts, one after the other; the last line has the counts.
import { hasFailed, lastLine, summed } from './last-line.ts';
import { type Arguments, argumentsOf, readArguments, USAGE } from './options.ts';
import type { Counts, ProofOptions } from './part.ts';
import { PARTS } from './parts.ts';
import { runPart } from './run-part.ts';
import { tellWorld } from './simulation/tell-world.ts';

const log = (line: string) => void process.stdout.write(`${line}\n`);

const names = PARTS.map(({ name }) => name);
const { runs, parts, world } = argumentsOrExit(process.argv.slice(2));
const chosen = PARTS.filter(({ name }) => parts === null || parts.includes(name));
for (const run of runs) {
  if (world === null) await prove({ ...run, log });
  else await tellWorld(run.seed, world, log);
}

/** Ends the process with 0 after `--help`, and with 2 for arguments that it cannot read. */
function argumentsOrExit(argv: readonly string[]): Arguments {
  if (argv.includes('--help')) {
    log(`${USAGE}\n\nParts: ${names.join(', ')}. docs/proof.md describes them.`);
    process.exit(0);
  }
  try {
    const read = readArguments(argv);
    const unknown = read.parts?.find((name) => !names.includes(name));
    if (unknown !== undefined) throw new Error(`There is no part ${unknown}. The parts are ${names.join(', ')}.`);
    return read;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    process.exit(2);
  }
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
