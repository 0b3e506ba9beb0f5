// The configuration as the parts of the bridge get it: checked, defaults filled in, secrets open, durations in milliseconds.
import type { ApprovalsSection, HttpSection } from './callers.ts';
import type { CloudeventsSection, MetadataSection, PublishSection } from './sections.ts';
import type { SinkConfig } from './sink-section.ts';

export interface Config {
  readonly metadata: MetadataSection;
  readonly cloudevents: CloudeventsSection;
  readonly publish: PublishSection;
  /** `path` is absolute. */
  readonly store: { readonly path: string; readonly retainMs: number };
  /** `tls.cert` and `tls.key` reveal PEM text. */
  readonly http: HttpSection;
  readonly approvals: ApprovalsSection;
  /** By name, in the file's order; never empty. */
  readonly sinks: Readonly<Record<string, SinkConfig>>;
}
