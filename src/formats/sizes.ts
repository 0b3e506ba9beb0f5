// Sizes (`512B`, `64KiB`, `1MiB`) as people write them → bytes.

const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

export const SIZE_PATTERN = '^\\d+(B|KiB|MiB|GiB)$';

/** Returns bytes, or null if `text` is not a size, or has more digits than a number can hold. */
export function parseSize(text: string): number | null {
  const match = /^(\d+)(B|KiB|MiB|GiB)$/.exec(text);
  const bytes = match ? Number(match[1]) * BYTES[match[2] as keyof typeof BYTES] : Number.NaN;
  return Number.isFinite(bytes) ? bytes : null;
}
