// The configuration as the parts of the bridge get it: checked, defaults filled in, secrets open, durations in milliseconds.
import type { ApprovalsSection, HttpSection } from './callers.ts';
import type { CloudeventsSection, MetadataSection, PublishSection, StoreSection } from './sections.ts';
import type { SinkConfig } from './sink-section.ts';
import type { SourceConfig } from './sources.ts';

export interface Config {
  readonly metadata: MetadataSection;
  readonly cloudevents: CloudeventsSection;
  readonly publish: PublishSection;
  /** `path` is absolute. */
  readonly store: StoreSection & { readonly path: string };
  /** `tls.cert` and `tls.key` reveal PEM text. */
  readonly http: HttpSection;
  /** `sources` by name, in the file's order; often empty. */
  readonly approvals: ApprovalsSection & { readonly sources: Readonly<Record<string, SourceConfig>> };
  /** By name, in the file's order; never empty. */
  readonly sinks: Readonly<Record<string, SinkConfig>>;
}
