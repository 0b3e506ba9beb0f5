// A part and options → its counts; what it lacks on this machine, and what it throws, are problems.
import { argumentsOf } from './options.ts';
import { type Counts, FAULTS, NOTHING, type Part, type ProofOptions } from './part.ts';

/** Runs one part to its end, and prints what it did and what was wrong. Never throws because of a part. */
export async function runPart(part: Part, options: ProofOptions): Promise<Counts> {
  const { log } = options;
  const sinceMs = performance.now();
  const missing = part.missing?.() ?? null;
  const counts = missing === null ? await countsOf(part, options) : withoutIt(missing, options);
  const isFine = counts.problems.length === 0;
  const elapsed = `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
  if (missing === null) log(`${part.name}: ${counts.maintenances} maintenances, ${counts.kills} kills, ${elapsed}`);
  else log(`${part.name}: not run, because ${missing}${isFine ? '' : '. The long profile and CI need it.'}`);
  for (const problem of counts.problems) log(indented(`${part.name}: ${problem}`));
  if (isFine && FAULTS.every((fault) => counts[fault] === 0)) return counts;
  // What a run with --minutes did is repeated by the sizes that it reached.
  const done = { ...options, ...counts.repeatedBy };
  log(`${part.name}: FAILED. Repeat it: npm run proof -- --parts ${part.name} ${argumentsOf(done)}`);
  return counts;
}

async function countsOf(part: Part, options: ProofOptions): Promise<Counts> {
  // An error that no promise of the part has, such as one of a socket, must not end the other parts.
  const strays: string[] = [];
  const take = (error: unknown) => void strays.push(textOf(error));
  process.on('uncaughtException', take);
  try {
    const counts = await part.run(options);
    return { ...counts, problems: [...counts.problems, ...strays] };
  } catch (error) {
    return { ...NOTHING, problems: [textOf(error), ...strays] };
  } finally {
    process.off('uncaughtException', take);
  }
}

/** A tool may be missing in the short profile of a person. `REQUIRE_PROOF=1` is set in CI. */
function withoutIt(missing: string, { isLong }: ProofOptions): Counts {
  return isLong || process.env['REQUIRE_PROOF'] ? { ...NOTHING, problems: [missing] } : NOTHING;
}

/** The stack of an error, and the messages of what caused it: what happened comes last. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${error.message}\nbecause of ${textOf(error.cause)}`;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
