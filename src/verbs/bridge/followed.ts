// What `tail` was asked for: since when, which changes, and where each CloudEvent goes.

export interface Followed {
  /** Null: what is published from now on. */
  readonly sinceMs: number | null;
  /** Null: all of them. */
  readonly changes: readonly string[] | null;
  /** The structured CloudEvent as JSON. Resolves once standard output has taken it. */
  readonly show: (json: string) => Promise<void>;
}
