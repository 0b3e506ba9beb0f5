// A part of the proof: deliberate defects of the sources → each must be found, or the part fails.
import { NOTHING, type Part, type ProofOptions } from '../part.ts';
import { inParallel } from '../turns.ts';
import { type DefectPatch, LEAST_DEFECTS, obstacleTo, ROOT, readPatches } from './patches.ts';
import { search } from './search.ts';
import { SourceCopy } from './source-copy.ts';

/** In the short profile every patch must apply; the long one searches each defect, or those that `--only` names. */
export const defects: Part = {
  name: 'defects',
  run: async (options) => {
    const patches = readPatches();
    expectAll(patches);
    if (options.isLong) await expectFound(chosen(patches, options), options);
    else options.log(`${patches.length} defects can be applied; the long profile searches each`);
    return NOTHING;
  },
};

/** @throws Error if there is none, which is a mistyped name */
export function chosen(patches: readonly DefectPatch[], { only }: Pick<ProofOptions, 'only'>): readonly DefectPatch[] {
  const found = patches.filter(({ name }) => only === null || only.split(',').some((text) => name.includes(text)));
  if (found.length === 0) throw new Error(`--only ${only} is in the name of no defect`);
  return found;
}

function expectAll(patches: readonly DefectPatch[]): void {
  if (patches.length < LEAST_DEFECTS) throw new Error(`there are ${patches.length} defects, not ${LEAST_DEFECTS}`);
  const obstacles = patches.flatMap((patch) => {
    const obstacle = obstacleTo(patch, ROOT);
    return obstacle === null ? [] : [`${patch.name}: ${obstacle}`];
  });
  if (obstacles.length > 0) throw new Error(`renew the patches that do not apply any more:\n${obstacles.join('\n')}`);
}

/** Each job searches in a copy of its own. @throws Error with the defects that were not found */
export async function expectFound(
  patches: readonly DefectPatch[],
  { jobs, log }: Pick<ProofOptions, 'jobs' | 'log'>,
): Promise<void> {
  const next = patches.values();
  const missed: string[] = [];
  const work = async () => {
    using copy = new SourceCopy();
    for (const patch of next) {
      const { isFound, how } = await copy.with(patch, () => search(patch, copy.folder));
      log(`  ${patch.name}: ${how}`);
      if (!isFound) missed.push(patch.name);
    }
  };
  await inParallel(Math.min(jobs, patches.length), work);
  if (missed.length > 0) throw new Error(`${missed.length} defects were not found: ${missed.sort().join(', ')}`);
}
