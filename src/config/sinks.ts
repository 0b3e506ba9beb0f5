// The section `sinks` and the adapters → each sink's options, and faults.
import { dirname } from 'node:path';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { type SinkCommon, sinkCommon } from '../delivery/options.ts';
import { type Fault, formatPath } from '../schema/faults.ts';
import { isMapping } from '../schema/validate.ts';
import { type ReadEntry, readEntries } from './entries.ts';

/** A sink of a known type; its secrets are not resolved yet. */
export type ReadSink = ReadEntry<AdapterDefinition<unknown>, SinkCommon>;

/** Without the section, CloudEvents go to standard output. */
const DEFAULT_SINKS = { stdout: { type: 'stdout' } };

/** Returns `sinks` in the form of the file, or its default. */
export function sinksOf(file: Readonly<Record<string, unknown>>): unknown {
  return file['sinks'] === undefined ? DEFAULT_SINKS : file['sinks'];
}

/** @param section from `sinksOf` */
export function readSinks(
  section: unknown,
  adapters: readonly AdapterDefinition<unknown>[],
): { readonly sinks: readonly ReadSink[]; readonly faults: readonly Fault[] } {
  if (!isMapping(section))
    return { sinks: [], faults: [{ path: 'sinks', message: 'must be a mapping from names to sinks' }] };
  const types = adapters.map((definition) => ({ type: definition.type, options: definition.options, definition }));
  const { entries, faults } = readEntries(section, { at: ['sinks'], noun: 'sink', types, common: sinkCommon });
  return { sinks: entries, faults: [...emptyFaults(section), ...secondStdout(section), ...faults] };
}

function emptyFaults(section: Readonly<Record<string, unknown>>): Fault[] {
  if (Object.keys(section).length > 0) return [];
  return [{ path: 'sinks', message: 'is empty: add a sink, or remove the key for standard output' }];
}

/** Two stdout sinks would mix their lines. */
function secondStdout(section: Readonly<Record<string, unknown>>): Fault[] {
  const stdouts = Object.entries(section).filter(([, sink]) => isMapping(sink) && sink['type'] === 'stdout');
  const names = stdouts.map(([name]) => name);
  return names.slice(1).map((name) => ({
    path: formatPath(['sinks', name]),
    message: `is a second stdout sink next to sinks.${names[0]}: only one can use standard output`,
  }));
}

interface FilesAround {
  readonly directory: string;
  readonly store?: string;
  /** The platform of the process by default. */
  readonly platform?: NodeJS.Platform;
}

/**
 * Files that two sinks would write, or that are in the folder of the store.
 * @param sinks valid ones with resolved secrets
 */
export function sharedFiles(
  sinks: readonly Pick<ReadSink, 'name' | 'definition' | 'options'>[],
  around: FilesAround,
): Fault[] {
  // On Windows, paths that differ only in case name the same file.
  const same = (path: string) => ((around.platform ?? process.platform) === 'win32' ? path.toLowerCase() : path);
  const writers = new Map<string, string>();
  return sinks.flatMap(({ name, definition, options }) => {
    const files = definition.filesOf?.(options, around.directory) ?? [];
    const path = formatPath(['sinks', name, 'path']);
    const faults: Fault[] = [];
    const shared = files.find((file) => writers.has(same(file)));
    if (shared !== undefined)
      faults.push({
        path,
        message: `writes ${shared}, and so does sinks.${writers.get(same(shared))}: give each sink its own file`,
      });
    const stored = files.find((file) => around.store !== undefined && same(dirname(file)) === same(around.store));
    if (stored !== undefined)
      faults.push({ path, message: `writes ${stored}, in the folder of the store: use another folder` });
    for (const file of files) writers.set(same(file), name);
    return faults;
  });
}
