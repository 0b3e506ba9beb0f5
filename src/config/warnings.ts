// A valid configuration → its warnings: similar names, exposed files, deprecated settings.
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type * as v from 'valibot';
import type { DecisiveFile } from '../../adapters/adapter.ts';
import { usedDeprecations } from '../schema/deprecated.ts';
import { type Fault, formatFault, formatPath, type Path } from '../schema/faults.ts';
import type { Exposure } from '../secrets/file-exposure.ts';
import type { FileReference } from '../secrets/secret.ts';
import { fileReferences, type Surroundings } from './secrets.ts';
import { SECTIONS, type Sections } from './sections.ts';
import type { ReadSink } from './sinks.ts';
import type { ReadSource } from './sources.ts';

/** A valid setting that is probably a mistake. */
export interface Warning extends Fault {
  /** Whether `run` logs it too, not only `check`. */
  readonly isGrave: boolean;
  /** Whether the setting is deprecated; absent: no. */
  readonly isDeprecated?: boolean;
}

/** Returns the line that commands print. */
export function warningLine(warning: Warning): string {
  return `${warning.isDeprecated ? 'DEPRECATED' : 'warning'}: ${formatFault(warning)}`;
}

/** Logs the warnings that `run` and a reload log. */
export function logWarnings(logger: Pick<Logger, 'warn'>, warnings: readonly Warning[]): void {
  for (const warning of warnings)
    if (warning.isGrave)
      logger.warn({ path: warning.path }, warning.isDeprecated ? warningLine(warning) : warning.message);
}

/** Returns each entry twice: with the schema of its type, and with the schema of the keys that all types have. */
export function schemasOf(section: Path, entries: readonly (ReadSink | ReadSource)[], common: v.GenericSchema) {
  return entries.flatMap(({ name, definition, written }) =>
    [definition.options, common].map((schema) => ({ at: [...section, name], schema, written })),
  );
}

/** @param entries valid ones, as the file has them; not the default sink */
export function deprecations(
  file: Readonly<Record<string, unknown>>,
  entries: readonly { readonly at: Path; readonly schema: v.GenericSchema; readonly written: unknown }[],
): Warning[] {
  const sections = Object.entries<v.GenericSchema>(SECTIONS).map(([key, schema]) => ({
    at: [key],
    schema,
    written: file[key],
  }));
  const used = [...sections, ...entries].flatMap(({ at, schema, written }) => usedDeprecations(schema, written, at));
  return used.map((fault) => ({ ...fault, isGrave: true, isDeprecated: true }));
}

/** Keys of files that are not secret: reading them reveals nothing, but writing to them can grant an identity. */
const PUBLIC: ReadonlySet<unknown> = new Set(['ca', 'cert', 'clientCa', 'jwks', 'template']);

export function similarNames(
  { approvers }: Pick<Sections['approvals'], 'approvers'>,
  { readers }: Pick<Sections['http'], 'readers'>,
): Warning[] {
  return [
    ...similar(['approvals', 'approvers'], Object.keys(approvers)),
    ...similar(['http', 'readers'], Object.keys(readers)),
  ];
}

function similar(section: Path, names: readonly string[]): Warning[] {
  return names.flatMap((name, index) => {
    const other = names.slice(0, index).find((earlier) => earlier.toLowerCase() === name.toLowerCase());
    if (other === undefined) return [];
    const message = `differs from ${formatPath([...section, other])} only in case, but the bridge treats them as two callers: check that this is intended`;
    return [{ path: formatPath([...section, name]), message, isGrave: true }];
  });
}

/** Options of sinks that are probably a mistake. @param sinks valid ones with resolved secrets */
export function sinkWarnings(sinks: readonly Pick<ReadSink, 'name' | 'definition' | 'options'>[]): Warning[] {
  return sinks.flatMap(({ name, definition, options }) =>
    (definition.warnings?.(options) ?? []).map(({ key, message }) => ({
      path: formatPath(['sinks', name, key]),
      message,
      isGrave: false,
    })),
  );
}

/**
 * Programs that prepare for an event and may be cut off, because the first yes of another one starts it.
 * @param sinks valid ones with resolved secrets
 */
export function unawaitedPrograms(
  { required }: Pick<Sections['approvals'], 'required'>,
  sinks: readonly Pick<ReadSink, 'name' | 'type' | 'definition' | 'options' | 'common'>[],
): Warning[] {
  if (required !== 'any' && required !== 1) return [];
  const programs = sinks
    .filter(({ type, common }) => type === 'command' && preparesFor(common?.filter.changes))
    .map(({ name, definition, options }) => ({ name, approver: definition.approverOf?.(options) ?? null }));
  const approving = programs.filter(({ approver }) => approver !== null);
  const unawaited = programs.filter((program) =>
    program.approver === null ? approving.length > 0 : !program.approver.holds && approving.length > 1,
  );
  if (unawaited.length === 0) return [];
  const names = unawaited.map(({ name }) => name).join(', ');
  const message = `is ${required}, so the first yes of a program starts the event, perhaps while these still run: ${names}; to wait for a program, give its sink approve and hold, or list the approvers here`;
  return [{ path: 'approvals.required', message, isGrave: false }];
}

function preparesFor(changes: readonly string[] | undefined): boolean {
  return changes === undefined || changes.includes('scheduled') || changes.includes('updated');
}

/** @param outputs the outputs of the schemas @param file the configuration as written */
export function exposedFiles(outputs: readonly unknown[], file: unknown, around: Surroundings): Warning[] {
  return fileReferences(outputs, file).flatMap(({ reference, path }) => ofFile(reference, path, around));
}

/** Files whose content decides what the sink at `section` does. */
export function exposedDecisions(
  files: readonly DecisiveFile[],
  section: Path,
  { exposureOf }: Surroundings,
): Warning[] {
  return files.flatMap(({ key, path, kind, isSecret = false }) => {
    const found = `the ${kind} ${path}`;
    const who = `who could decide what this sink does: allow only its owner to write to it, and to the folders above it`;
    return ofExposure(found, exposureOf?.(path) ?? null, { at: [...section, key], who, isPublic: !isSecret });
  });
}

function ofFile({ file }: FileReference, at: Path, { directory, exposureOf }: Surroundings): Warning[] {
  const name = resolve(directory, file);
  const who = 'who could replace its content: allow only its owner to write to it, and to the folders above it';
  return ofExposure(`the file ${name}`, exposureOf?.(name) ?? null, { at, who, isPublic: PUBLIC.has(at.at(-1)) });
}

function ofExposure(
  file: string,
  exposure: Exposure | null,
  { at, who, isPublic }: { readonly at: Path; readonly who: string; readonly isPublic: boolean },
): Warning[] {
  const { writers = null, readers = null } = exposure ?? {};
  const path = formatPath(at);
  if (writers !== null) return [{ path, message: `${file} may be changed by ${writers}, ${who}`, isGrave: true }];
  if (readers === null || isPublic) return [];
  return [{ path, message: `${file} may be read by ${readers}: allow only its owner to read it`, isGrave: false }];
}
