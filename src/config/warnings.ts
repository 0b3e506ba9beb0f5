// A valid configuration → warnings: names that differ in case alone, exposed files.
import { resolve } from 'node:path';
import { type Fault, formatPath, type Path } from '../schema/faults.ts';
import type { FileReference } from '../secrets/secret.ts';
import { fileReferences, type Surroundings } from './secrets.ts';
import type { Sections } from './sections.ts';
import type { ReadSink } from './sinks.ts';

/** One thing to look at. */
export interface Warning extends Fault {
  /** `run` tells it too, not `check` alone. */
  readonly isGrave: boolean;
}

/** Keys of files that are not secret: reading them reveals nothing, but writing to them can grant an identity. */
const PUBLIC: ReadonlySet<unknown> = new Set(['ca', 'cert', 'clientCa', 'jwks', 'template']);

export function similarNames(
  { approvers }: Pick<Sections['approvals'], 'approvers'>,
  { readers }: Pick<Sections['http'], 'readers'>,
): Warning[] {
  return [...similar(['approvals', 'approvers'], Object.keys(approvers)), ...similar(['http', 'readers'], Object.keys(readers))];
}

function similar(section: Path, names: readonly string[]): Warning[] {
  return names.flatMap((name, index) => {
    const other = names.slice(0, index).find((earlier) => earlier.toLowerCase() === name.toLowerCase());
    if (other === undefined) return [];
    const message = `differs from ${formatPath([...section, other])} in case alone, and they are two who each have a vote: is that meant?`;
    return [{ path: formatPath([...section, name]), message, isGrave: true }];
  });
}

/** Options of sinks that are probably not meant. Of sinks without a fault, secrets open. */
export function sinkWarnings(sinks: readonly Pick<ReadSink, 'name' | 'definition' | 'options'>[]): Warning[] {
  return sinks.flatMap(({ name, definition, options }) =>
    (definition.warnings?.(options) ?? []).map(({ key, message }) => ({ path: formatPath(['sinks', name, key]), message, isGrave: false })),
  );
}

/** `file` is the configuration as it was written, `outputs` what the schema made of it. */
export function exposedFiles(outputs: readonly unknown[], file: unknown, around: Surroundings): Warning[] {
  return fileReferences(outputs, file).flatMap(({ reference, path }) => ofFile(reference, path, around));
}

function ofFile({ file }: FileReference, path: Path, { directory, exposureOf }: Surroundings): Warning[] {
  const name = resolve(directory, file);
  const { writers = null, readers = null } = exposureOf?.(name) ?? {};
  const of = (message: string, isGrave: boolean) => [{ path: formatPath(path), message, isGrave }];
  if (writers !== null)
    return of(`the file ${name} may be changed by ${writers}, who could put what they like into it: let its owner alone write to it`, true);
  if (readers === null || PUBLIC.has(path.at(-1))) return [];
  return of(`the file ${name} may be read by ${readers}: let its owner alone read it`, false);
}
