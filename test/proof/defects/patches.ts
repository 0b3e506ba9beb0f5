// The *.patch files of this folder → deliberate defects, with what must find each, and how.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FAULTS, type Fault } from '../part.ts';
import type { FaultFound } from '../simulation/oracle/finding.ts';

export const ROOT = join(import.meta.dirname, '../../..');
/** So many defects are promised in docs/proof.md. */
export const LEAST_DEFECTS = 40;

const SEED = 1;
/** In simulated maintenances. */
const FARTHEST = 600;

/** A defect that histories of a seed must find as this fault. */
interface SimulatedSearch {
  readonly by: 'simulation';
  readonly fault: FaultFound;
  readonly seed: number;
  /** The search ends with the history that brings their number to this or more. */
  readonly maintenances: number;
}

/** A defect that another part of the proof must find. */
interface PartSearch {
  readonly by: 'part';
  readonly part: string;
  /** Null: whatever it fails of. */
  readonly fault: Fault | null;
  readonly seed: number;
  /** Further arguments of the command. */
  readonly options: readonly string[];
}

export interface DefectPatch {
  /** The name of the file, without its end. */
  readonly name: string;
  readonly path: string;
  /** What is wrong, in words. */
  readonly defect: string;
  readonly search: SimulatedSearch | PartSearch;
}

/** In the order of their names. @throws Error for a patch without a readable header */
export function readPatches(folder = import.meta.dirname): readonly DefectPatch[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.patch'));
  return names.sort().map((file) => {
    const path = join(folder, file);
    return { name: file.replace(/\.patch$/, ''), path, ...readHeader(file, readFileSync(path, 'utf8')) };
  });
}

/**
 * The lines before the first difference: `Defect`, `Found as` and, if wanted, `Seed`, `Maintenances`, or `Part`, `Only`
 * and `Options`.
 */
export function readHeader(file: string, text: string): Pick<DefectPatch, 'defect' | 'search'> {
  const [head = ''] = text.split(/^diff /m, 1);
  const fields = new Map(
    [...head.matchAll(/^([A-Z][a-z ]+): (.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  const [defect, foundAs] = [fields.get('Defect'), fields.get('Found as')];
  if (defect === undefined || foundAs === undefined) throw new Error(`${file} has no line "Defect:" or "Found as:".`);
  const [part, only, seed] = [fields.get('Part'), fields.get('Only'), Number(fields.get('Seed') ?? SEED)];
  const fault = [...FAULTS, 'late' as const].find((each) => each === foundAs) ?? null;
  if (part !== undefined && fault !== 'late' && (fault !== null || foundAs === 'failed')) {
    const more = (fields.get('Options') ?? '').split(' ').filter((each) => each !== '');
    const options = [...(only === undefined ? [] : ['--only', only]), ...more];
    return { defect, search: { by: 'part', part, fault, seed, options } };
  }
  if (part !== undefined || fault === null)
    throw new Error(
      `${file}: "Found as:" takes one of ${FAULTS.join(', ')}; without a part also late, with one failed.`,
    );
  const maintenances = Number(fields.get('Maintenances') ?? FARTHEST);
  return { defect, search: { by: 'simulation', fault, seed, maintenances } };
}

/** Why the patch cannot be applied to these sources; null if it can. */
export function obstacleTo({ path }: Pick<DefectPatch, 'path'>, root: string): string | null {
  return gitApply(['--check', path], root);
}

/** @returns what git says against it, or null */
export function gitApply(argv: readonly string[], root: string): string | null {
  // In a folder of a repository, git would skip files outside of the folder, and report success.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
  const { status, stderr, error } = spawnSync('git', ['apply', ...argv], { cwd: root, env, encoding: 'utf8' });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}
