// A seed and labels → random numbers that repeat, whatever else of a history is left out.
import { createHash } from 'node:crypto';
import { mulberry32 } from '../../support/mulberry32.ts';

/** A stream of its own for each list of labels, so that leaving out one step changes no other one. */
export class Chance {
  /** At least 0 and below 1. */
  readonly next: () => number;

  constructor(...labels: readonly (string | number)[]) {
    this.next = mulberry32(createHash('sha256').update(labels.join('\n')).digest().readInt32LE(0));
  }

  /** A whole number of at least `least` and below `limit`. */
  between(least: number, limit: number): number {
    return least + Math.floor(this.next() * (limit - least));
  }

  is(share: number): boolean {
    return this.next() < share;
  }

  one<T>(list: readonly T[]): T {
    return list[this.between(0, list.length)] as T;
  }

  some<T>(list: readonly T[], share: number): T[] {
    return list.filter(() => this.is(share));
  }
}

/** A GUID of version 4 in upper case, as the metadata service writes EventIds. */
export function guidOf(...labels: readonly (string | number)[]): string {
  const hex = createHash('sha256').update(labels.join('\n')).digest('hex').toUpperCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
