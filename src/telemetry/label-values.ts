// A label value → itself while the set of values is small enough, otherwise `other`.

const OTHER = 'other';

/** Returns a function that passes the first `most` distinct values, and returns `other` for later ones. */
export function boundedLabel(most: number, known: readonly string[] = []): (value: string) => string {
  const seen = new Set(known);
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= most || !/^[a-zA-Z0-9_.-]{1,64}$/.test(value)) return OTHER;
    seen.add(value);
    return value;
  };
}
