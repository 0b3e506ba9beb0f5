// One check of `check --connect` → its finding: fine, a note, or an error with a remedy.

export interface Finding {
  /**
   * `metadata`, `clock`, `network`, `container`, `proxy`, `store`, `http.listen`, `http.health`, `approvals.jwt`,
   * `sinks.NAME`, `approvals.sources.NAME`.
   */
  readonly name: string;
  /** What failed and what to do; null if nothing failed. */
  readonly error: string | null;
  /** Additional information that is not a fault; null if there is none. */
  readonly found: string | null;
}

/** Returns a finding that keeps the bridge from working. */
export function fault(name: string, error: string): Finding {
  return { name, error, found: null };
}

/** Returns a finding that is not a fault. */
export function note(name: string, found: string): Finding {
  return { name, error: null, found };
}
