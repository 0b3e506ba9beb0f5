// When each machine published → when it would if the first ranks published at once, others later.

/** What a receiver would see of one change. */
export interface Publishing {
  /** From the listing to the first copy. */
  readonly firstMs: number;
  /** Copies in the busiest second. */
  readonly busiest: number;
}

type Copies = readonly { readonly machine: number; readonly ms: number }[];

export function asItIs(copies: Copies): Publishing {
  return publishingOf(copies.map(({ ms }) => ms));
}

/**
 * Nobody has built this. The machines are ranked by number; nobody knows which ones are dead.
 * @param first so many ranks publish at once; the others follow evenly within `withinMs`
 */
export function asRanked(
  copies: Copies,
  { machines, first, withinMs }: { readonly machines: number; readonly first: number; readonly withinMs: number },
): Publishing {
  const step = withinMs / (machines - first);
  return publishingOf(copies.map(({ machine, ms }) => ms + Math.max(0, machine - first + 1) * step));
}

function publishingOf(times: readonly number[]): Publishing {
  const inSecond = new Map<number, number>();
  for (const ms of times) {
    const second = Math.floor(ms / 1000);
    inSecond.set(second, (inSecond.get(second) ?? 0) + 1);
  }
  return { firstMs: Math.round(Math.min(...times)), busiest: Math.max(0, ...inSecond.values()) };
}
