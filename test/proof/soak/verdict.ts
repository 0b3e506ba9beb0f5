// Samples → a line for each quantity with its slope a month, and what grows that must not.
import type { Sample } from './month.ts';
import { type Trend, trendOf } from './trend.ts';

/** One poll a second, 30 days. */
export const POLLS_A_MONTH = 2_592_000;
const MIB = 1024 * 1024;

/** The slopes up to which a growth counts as none: by quantity, a month. */
export interface Bounds {
  /** Memory and store, in MiB. */
  readonly mib: number;
  /** Descriptors, timers, handles, and rows that `store.retain` deletes. */
  readonly count: number;
}

interface Quantity {
  readonly name: string;
  readonly unit: 'MiB' | '';
  readonly of: (sample: Sample) => number;
  /** Kept for 400 days by promise: its growth is reported, and judged for each maintenance. */
  readonly isRemembered?: boolean;
}

const QUANTITIES: readonly Quantity[] = [
  { name: 'RSS', unit: 'MiB', of: ({ rss }) => rss / MIB },
  { name: 'RSS without files', unit: 'MiB', of: ({ anonymous }) => anonymous / MIB },
  { name: 'heap used', unit: 'MiB', of: ({ heapUsed }) => heapUsed / MIB },
  { name: 'outside the heap', unit: 'MiB', of: ({ external }) => external / MIB },
  { name: 'descriptors', unit: '', of: ({ descriptors }) => descriptors },
  { name: 'timers', unit: '', of: ({ timers }) => timers },
  { name: 'handles', unit: '', of: ({ handles }) => handles },
  { name: 'rows of store.retain', unit: '', of: ({ retainedRows }) => retainedRows },
  { name: 'rows of 400 days', unit: '', of: ({ rememberedRows }) => rememberedRows, isRemembered: true },
  { name: 'store', unit: 'MiB', of: ({ storeBytes }) => storeBytes / MIB, isRemembered: true },
];

export interface Verdict {
  readonly lines: readonly string[];
  /** What grows; empty if nothing does. */
  readonly failures: readonly string[];
}

/**
 * A quantity fails if it grows for certain (0 lies below the 95 % interval) and by more than its bound.
 * @param maintenancesAMonth those that the mix would have in a month
 */
export function verdictOf(samples: readonly Sample[], bounds: Bounds, maintenancesAMonth: number): Verdict {
  const judged = QUANTITIES.map((quantity) => {
    const { name, unit, of, isRemembered = false } = quantity;
    const trend = monthly(trendOf(samples.map((sample) => ({ x: sample.poll, y: of(sample) }))));
    const bound = isRemembered ? rememberedBound(unit, maintenancesAMonth) + bounds.mib : boundOf(unit, bounds);
    const values = samples.map(of);
    const line = `${name}: ${number(values[0])} to ${number(values.at(-1))}${unit && ` ${unit}`}, a month ${interval(trend)}`;
    return { line, isGrowing: trend.low > 0 && trend.slope > bound, bound };
  });
  return {
    lines: judged.map(({ line }) => line),
    failures: judged.filter(({ isGrowing }) => isGrowing).map(({ line, bound }) => `${line}; at most ${number(bound)}`),
  };
}

/** Rows and MiB that a month of maintenances may leave for 400 days: 20 rows and 8 KiB each. */
function rememberedBound(unit: Quantity['unit'], maintenances: number): number {
  return unit === 'MiB' ? (maintenances * 8) / 1024 : maintenances * 20;
}

function boundOf(unit: Quantity['unit'], bounds: Bounds): number {
  return unit === 'MiB' ? bounds.mib : bounds.count;
}

function monthly({ slope, low, high, correction }: Trend): Trend {
  return { slope: slope * POLLS_A_MONTH, low: low * POLLS_A_MONTH, high: high * POLLS_A_MONTH, correction };
}

function interval({ slope, low, high }: Trend): string {
  return `${signed(slope)} (${signed(low)} to ${signed(high)})`;
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${number(value)}`;
}

function number(value = 0): string {
  return String(Number(value.toPrecision(3)));
}
