// Types of a checked Config: with defaults, resolved secrets and durations in milliseconds.
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import type { ApprovalSourceDefinition } from '../../adapters/approval-source.ts';
import type { SinkCommon } from '../delivery/options.ts';
import type { Sections } from './sections.ts';
import type { SourceCommon } from './sources.ts';

export interface Config extends Omit<Sections, 'store' | 'approvals'> {
  /** `path` is absolute. */
  readonly store: Sections['store'] & { readonly path: string };
  /** `sources` by name, in the file's order; often empty. */
  readonly approvals: Sections['approvals'] & { readonly sources: Readonly<Record<string, SourceConfig>> };
  /** By name, in the file's order; never empty. */
  readonly sinks: Readonly<Record<string, SinkConfig>>;
  /** The paths of the deprecated settings that the file uses. */
  readonly deprecated: readonly string[];
  /** All sink types, to clean up what sinks of an earlier configuration left behind. */
  readonly kinds: readonly AdapterDefinition<unknown>[];
}

/** One sink, ready for `adapter.create(options, …)`. */
export interface SinkConfig extends SinkCommon {
  readonly type: string;
  readonly adapter: AdapterDefinition<unknown>;
  /** The output of the adapter's schema; secrets are resolved. */
  readonly options: unknown;
  /** The base folder of relative paths in `options`. */
  readonly directory: string;
  /** The environment of the process, for adapters that start programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** SHA-256 in hex of the sink's configuration and the values of its secrets; changes with either. */
  readonly fingerprint: string;
}

/** One source, ready for `definition.create(options, …)`. */
export interface SourceConfig extends SourceCommon {
  readonly type: string;
  readonly definition: ApprovalSourceDefinition<unknown>;
  /** The output of the source's schema; secrets are resolved. */
  readonly options: unknown;
}
