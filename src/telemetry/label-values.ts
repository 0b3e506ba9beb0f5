// Label values → a bounded set of values, `other` for the rest.

const OTHER = 'other';

/** Passes the first `most` distinct values; those that come later count as `other`. */
export function boundedLabel(most: number, known: readonly string[] = []): (value: string) => string {
  const seen = new Set(known);
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= most || !/^[a-zA-Z0-9_.-]{1,64}$/.test(value)) return OTHER;
    seen.add(value);
    return value;
  };
}
