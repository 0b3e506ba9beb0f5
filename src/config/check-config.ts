// The configuration as plain data → Config, or every fault in it.
import { resolve } from 'node:path';
import type * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { type Fault, formatFault, formatPath, unknownKey } from '../validation/faults.ts';
import { isMapping, validate } from '../validation/validate.ts';
import { approvalsSection, httpSection } from './callers.ts';
import type { Config } from './config.ts';
import { httpFaults, quorumFaults, tlsFaults, tokenFaults } from './cross-checks.ts';
import { fingerprint } from './fingerprint.ts';
import { areOpen, type OpenedSecrets, openSecrets, type Surroundings } from './secrets.ts';
import { cloudeventsSection, metadataSection, publishSection, storeSection } from './sections.ts';
import type { SinkConfig } from './sink-section.ts';
import { type ReadSink, readSinks } from './sinks.ts';

/** What else a configuration depends on. */
export interface ConfigSurroundings extends Surroundings {
  readonly adapters: readonly AdapterDefinition<unknown>[];
}

export type CheckedConfig = { readonly options: Config } | { readonly faults: readonly Fault[] };

/** The sections that are all of ours, in the order in which they are documented. */
export const SECTIONS = {
  metadata: metadataSection,
  cloudevents: cloudeventsSection,
  publish: publishSection,
  store: storeSection,
  http: httpSection,
  approvals: approvalsSection,
} as const;

const KEYS = ['version', ...Object.keys(SECTIONS), 'sinks'];

/** `file` is what YAML made of the text. */
export function checkConfig(file: unknown, around: ConfigSurroundings): CheckedConfig {
  if (!isMapping(file)) return { faults: [{ path: '', message: 'the configuration must be a mapping; the shortest is `version: 1`' }] };
  const faults: Fault[] = [
    ...versionFaults(file['version']),
    ...Object.keys(file)
      .filter((key) => !KEYS.includes(key))
      .map((key) => unknownKey([key], KEYS, 'configuration')),
  ];
  const section = <T>(key: keyof typeof SECTIONS, schema: v.GenericSchema<unknown, T>): T | undefined => {
    const { output, faults: found } = validate(schema, file[key] === undefined ? {} : file[key], [key], 'configuration');
    faults.push(...found);
    return output;
  };
  const metadata = section('metadata', SECTIONS.metadata);
  const cloudevents = section('cloudevents', SECTIONS.cloudevents);
  const publish = section('publish', SECTIONS.publish);
  const store = section('store', SECTIONS.store);
  const http = section('http', SECTIONS.http);
  const approvals = section('approvals', SECTIONS.approvals);
  const { sinks, faults: sinkFaults } = readSinks(file['sinks'], around.adapters);
  faults.push(...sinkFaults);

  const secrets = openSecrets([http, approvals, ...sinks.map(({ options }) => options)], file, around);
  faults.push(...secrets.faults, ...sinks.flatMap((sink) => secretFaults(sink, secrets)));
  if (http) faults.push(...httpFaults(http, file['http']), ...tlsFaults(http, secrets.opened));
  if (approvals) faults.push(...quorumFaults(approvals, file['approvals']));
  faults.push(...tokenFaults({ ...(approvals ? { approvals } : {}), ...(http ? { http } : {}) }, secrets.opened));

  if (faults.length > 0 || !metadata || !cloudevents || !publish || !store || !http || !approvals) return { faults: distinct(faults) };
  const path = resolve(around.directory, store.path ?? defaultStore(around.env));
  const named = Object.fromEntries(sinks.flatMap((sink) => sinkConfig(sink, around)));
  return { options: { metadata, cloudevents, publish, store: { ...store, path }, http, approvals, sinks: named } };
}

function versionFaults(version: unknown): Fault[] {
  if (version === 1) return [];
  return [{ path: 'version', message: version === undefined ? 'is missing' : 'is no version that this bridge knows', allowed: '1' }];
}

/** systemd names the folder of StateDirectory= in STATE_DIRECTORY, several with colons between them. */
function defaultStore(env: Surroundings['env']): string {
  return env['STATE_DIRECTORY']?.split(':')[0] || './scheduled-events-bridge-data';
}

/** What is wrong with the values of a sink's secrets, where all of them could be opened. */
function secretFaults({ name, adapter, options }: ReadSink, secrets: OpenedSecrets): Fault[] {
  if (options === undefined || !areOpen(options, secrets)) return [];
  return (adapter.secretFaults?.(options) ?? []).map(({ key, message }) => ({ path: formatPath(['sinks', name, key]), message }));
}

function sinkConfig({ name, adapter, common, options, written }: ReadSink, around: Surroundings): [string, SinkConfig][] {
  if (!common) return [];
  return [[name, { type: adapter.type, adapter, options, ...common, fingerprint: fingerprint(written, around) }]];
}

function distinct(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [formatFault(fault), fault])).values()];
}
