// Sinks and sources as they were read → their configurations, with their names.
import type { SinkConfig, SourceConfig } from './config.ts';
import { fingerprint, type Surroundings } from './secrets.ts';
import type { ReadSink } from './sinks.ts';
import type { ReadSource } from './sources.ts';

/** Returns nothing if the common keys have a fault. */
export function sinkConfig(
  { name, type, definition, common, options, written }: ReadSink,
  around: Surroundings,
): [string, SinkConfig][] {
  if (!common) return [];
  const { directory, env } = around;
  const own = { type, adapter: definition, options, directory, env, fingerprint: fingerprint(written, around) };
  return [[name, { ...own, ...common }]];
}

/** Returns nothing if the common keys have a fault. */
export function sourceConfig({ name, type, definition, common, options }: ReadSource): [string, SourceConfig][] {
  return common ? [[name, { type, definition, options, ...common }]] : [];
}
