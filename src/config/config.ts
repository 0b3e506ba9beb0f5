// Config: checked, with defaults, opened secrets and durations in milliseconds. Types alone.
import type { AdapterDefinition, ApprovalSourceDefinition } from '../../adapters/adapter.ts';
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
  /** Every kind of sink there is, for what sinks of an earlier configuration left behind. */
  readonly kinds: readonly AdapterDefinition<unknown>[];
}

/** One sink, ready for `adapter.create(options, …)`. */
export interface SinkConfig extends SinkCommon {
  readonly type: string;
  readonly adapter: AdapterDefinition<unknown>;
  /** What the adapter's schema made of its own keys; secrets are open. */
  readonly options: unknown;
  /** What relative paths in `options` start from. */
  readonly directory: string;
  /** The environment of the process, for adapters that start programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** SHA-256 in hex over all that is configured of it and the values of its secrets: another one means another configuration. */
  readonly fingerprint: string;
}

/** One source, ready for `definition.create(options, …)`. */
export interface SourceConfig extends SourceCommon {
  readonly type: string;
  readonly definition: ApprovalSourceDefinition<unknown>;
  /** What its schema made of its own keys; secrets are open. */
  readonly options: unknown;
}
