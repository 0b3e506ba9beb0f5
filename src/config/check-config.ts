// The parsed YAML of a configuration → a Config with warnings, or all of its faults.
import { resolve } from 'node:path';
import type * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { sinkCommon } from '../delivery/options.ts';
import { BridgeError } from '../errors.ts';
import { type Fault, formatFault, formatPath, type OptionFault, type Path, unknownKey } from '../schema/faults.ts';
import { isMapping, validate } from '../schema/validate.ts';
import type { Written } from './changes.ts';
import type { Config } from './config.ts';
import {
  callerTokenFaults,
  httpFaults,
  proofFaults,
  quorumFaults,
  serverTlsFaults,
  unreachableRules,
} from './cross-checks.ts';
import { sinkConfig, sourceConfig } from './entry-configs.ts';
import { areOpen, openSecrets, type Surroundings, withHashes } from './secrets.ts';
import { SECTIONS, type Sections } from './sections.ts';
import { type ReadSink, readSinks, sharedFiles, sinksOf } from './sinks.ts';
import {
  type ReadSource,
  readSources,
  sharedStreams,
  silentApprovers,
  sourceCommon,
  speakerFaults,
} from './sources.ts';
import {
  deprecations,
  exposedDecisions,
  exposedFiles,
  schemasOf,
  similarNames,
  sinkWarnings,
  unawaitedPrograms,
  type Warning,
} from './warnings.ts';
import { windowFaults, windowWarnings } from './window-checks.ts';

/** The inputs of a check apart from the file itself. */
export interface ConfigSurroundings extends Surroundings {
  readonly adapters: readonly AdapterDefinition<unknown>[];
  /** Whether Node has the data of all time zones. Default: as it is. */
  readonly hasZoneData?: () => boolean;
  /** The wall time; absent: no check of when windows open. */
  readonly nowMs?: number;
}

/** A configuration without a fault. */
export interface ValidConfig {
  readonly options: Config;
  readonly warnings: readonly Warning[];
  /** For the comparison with another configuration. */
  readonly written: Written;
}

export type CheckedConfig = ValidConfig | { readonly faults: readonly Fault[] };

const KEYS = ['version', ...Object.keys(SECTIONS), 'sinks'];

/** Checks everything that needs no loading of modules; see `checkConfigFully`. @param file the parsed YAML */
export function checkConfig(file: unknown, around: ConfigSurroundings): CheckedConfig {
  return inspect(file, around).checked;
}

/**
 * Like `checkConfig`, with the checks for which sinks must load something, such as a template. Reports all faults in
 * one run. Warns of programs that others may change.
 */
export async function checkConfigFully(file: unknown, around: ConfigSurroundings): Promise<CheckedConfig> {
  const { checked, checkable } = inspect(file, around);
  const found = await Promise.all(
    checkable.map(async ({ name, definition, options }) =>
      inEntry(['sinks', name], (await definition.contentFaults?.(options)) ?? []),
    ),
  );
  const faults = [...('faults' in checked ? checked.faults : []), ...found.flat()];
  if (faults.length > 0 || 'faults' in checked) return { faults: distinct(faults) };
  const exposed = await Promise.all(
    checkable.map(async ({ name, definition, options }) =>
      exposedDecisions((await definition.decisiveFiles?.(options, around)) ?? [], ['sinks', name], around),
    ),
  );
  return { ...checked, warnings: [...checked.warnings, ...exposed.flat()] };
}

/** Returns a BRIDGE_CONFIG_INVALID with one line for each fault. */
export function configError(faults: readonly Fault[]): BridgeError {
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return new BridgeError(
    'BRIDGE_CONFIG_INVALID',
    [`the configuration has ${count}:`, ...faults.map(formatFault)].join('\n  '),
  );
}

/** Returns the configuration with all defaults and one sink: stdout. */
export function defaultConfig(around: Pick<ConfigSurroundings, 'adapters' | 'env' | 'directory'>): CheckedConfig {
  const readFile = () => {
    throw new Error('a configuration of defaults names no file');
  };
  return checkConfig({ version: 1 }, { ...around, readFile });
}

interface Inspected {
  readonly checked: CheckedConfig;
  /** The sinks with valid options and resolved secrets. */
  readonly checkable: readonly ReadSink[];
}

function inspect(file: unknown, around: ConfigSurroundings): Inspected {
  if (!isMapping(file)) {
    const faults = [{ path: '', message: 'the configuration must be a mapping; the shortest one is `version: 1`' }];
    return { checked: { faults }, checkable: [] };
  }
  const faults: Fault[] = [
    ...versionFaults(file['version']),
    ...Object.keys(file)
      .filter((key) => !KEYS.includes(key))
      .map((key) => unknownKey([key], KEYS, 'configuration')),
  ];
  const { metadata, cloudevents, publish, store, http, approvals, log } = readSections(file, faults);
  const { sinks, faults: sinkFaults } = readSinks(sinksOf(file), around.adapters);
  const { sources, faults: sourceFaults } = readSources(file['approvals'], around.adapters);
  faults.push(...sinkFaults, ...sourceFaults, ...silentApprovers(file['approvals'], sinksOf(file)));

  const outputs = [http, approvals, ...[...sinks, ...sources].map(({ options }) => options)];
  const secrets = openSecrets(outputs, file, around);
  const isOpen = ({ options }: { readonly options: unknown }) => options !== undefined && areOpen(options, secrets);
  const checkable = sinks.filter(isOpen);
  faults.push(...speakerFaults(checkable, file['approvals']));
  const sourceSecrets = secretFaults(['approvals', 'sources'], sources.filter(isOpen));
  faults.push(...secrets.faults, ...secretFaults(['sinks'], checkable), ...sourceSecrets);
  if (sourceSecrets.length === 0) faults.push(...sharedStreams(sources.filter(isOpen)));
  const folder = store && storeFolder(store, around);
  faults.push(
    ...sharedFiles(checkable, { directory: around.directory, ...(folder === undefined ? {} : { store: folder }) }),
  );
  if (http) faults.push(...httpFaults(http, file['http']), ...serverTlsFaults(http, secrets.opened));
  if (approvals) faults.push(...quorumFaults(approvals, file['approvals']), ...unreachableRules(approvals));
  faults.push(...windowFaults(file['approvals'], around.hasZoneData));
  if (approvals) faults.push(...proofFaults(approvals, file, secrets.opened));
  faults.push(...callerTokenFaults({ ...(approvals ? { approvals } : {}), ...(http ? { http } : {}) }, secrets.opened));

  if (
    faults.length > 0 ||
    !metadata ||
    !cloudevents ||
    !publish ||
    !store ||
    folder === undefined ||
    !http ||
    !approvals ||
    !log
  )
    return { checked: { faults: distinct(faults) }, checkable };
  const named = Object.fromEntries(sinks.flatMap((sink) => sinkConfig(sink, around)));
  const withSources = { ...approvals, sources: Object.fromEntries(sources.flatMap(sourceConfig)) };
  const old = deprecations(file, [
    ...(file['sinks'] === undefined ? [] : schemasOf(['sinks'], sinks, sinkCommon)),
    ...schemasOf(['approvals', 'sources'], sources, sourceCommon),
  ]);
  const options = {
    metadata,
    cloudevents,
    publish,
    store: { ...store, path: folder },
    http,
    approvals: withSources,
    log,
    sinks: named,
    deprecated: old.map(({ path }) => path),
    kinds: around.adapters,
  };
  const warnings = [
    ...old,
    ...similarNames(approvals, http),
    ...sinkWarnings(checkable),
    ...unawaitedPrograms(approvals, checkable),
    ...windowWarnings(approvals, around.nowMs),
    ...exposedFiles(outputs, file, around),
  ];
  return { checked: { options, warnings, written: withHashes({ ...file, sinks: sinksOf(file) }, around) }, checkable };
}

/** Reads all sections except sinks, and adds their faults. A section is undefined if nothing of it is valid. */
function readSections(
  file: Readonly<Record<string, unknown>>,
  faults: Fault[],
): { readonly [Key in keyof Sections]: Sections[Key] | undefined } {
  const section = <T>(key: keyof typeof SECTIONS, schema: v.GenericSchema<unknown, T>): T | undefined => {
    const { output, faults: found } = validate(
      schema,
      file[key] === undefined ? {} : file[key],
      [key],
      'configuration',
    );
    faults.push(...found);
    return output;
  };
  return {
    metadata: section('metadata', SECTIONS.metadata),
    cloudevents: section('cloudevents', SECTIONS.cloudevents),
    publish: section('publish', SECTIONS.publish),
    store: section('store', SECTIONS.store),
    http: section('http', SECTIONS.http),
    approvals: section('approvals', SECTIONS.approvals),
    log: section('log', SECTIONS.log),
  };
}

function versionFaults(version: unknown): Fault[] {
  if (version === 1) return [];
  return [
    {
      path: 'version',
      message: version === undefined ? 'is missing' : 'is not a version that this bridge supports',
      allowed: '1',
    },
  ];
}

/** Returns an absolute path. systemd puts the folders of StateDirectory= into STATE_DIRECTORY, separated by colons. */
export function storeFolder(
  { path }: Sections['store'],
  { directory, env }: Pick<ConfigSurroundings, 'directory' | 'env'>,
): string {
  return resolve(directory, path ?? (env['STATE_DIRECTORY']?.split(':')[0] || './scheduled-events-bridge-data'));
}

function secretFaults(section: Path, entries: readonly (ReadSink | ReadSource)[]): Fault[] {
  return entries.flatMap(({ name, definition, options }) =>
    inEntry([...section, name], definition.secretFaults?.(options) ?? []),
  );
}

function inEntry(at: Path, faults: readonly OptionFault[]): Fault[] {
  return faults.map(({ key, message }) => ({ path: formatPath([...at, key]), message }));
}

function distinct(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [formatFault(fault), fault])).values()];
}
