// What `check --connect` says of one thing: that it is well, or what is wrong and what to do.

export interface Finding {
  /** `metadata`, `clock`, `network`, `container`, `proxy`, `store`, `http.listen`, `http.health`, `approvals.jwt`, `sinks.NAME`, `approvals.sources.NAME`. */
  readonly name: string;
  /** What failed and what to do; null where nothing did. */
  readonly error: string | null;
  /** What is worth knowing besides; null where there is nothing. */
  readonly found: string | null;
}

/** Something that stands in the way. */
export function fault(name: string, error: string): Finding {
  return { name, error, found: null };
}

/** Something that is no fault by itself. */
export function note(name: string, found: string): Finding {
  return { name, error: null, found };
}
