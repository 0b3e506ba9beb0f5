// A series of samples → the slope of its trend, with a 95 % confidence interval.
//
// The slope is the estimate of Theil and Sen: the median of the slopes of all pairs, which single outliers do not move.
// The interval is Sen's, by the variance of Kendall's S (Sen 1968, J. Am. Stat. Assoc. 63, 1379). Samples of a process
// depend on each other, which makes that interval too narrow: the variance is corrected as Hamed and Rao propose (1998,
// J. Hydrology 204, 182).

/** Of the normal distribution, for 95 %. */
const Z = 1.959964;

export interface Trend {
  /** Per unit of x. */
  readonly slope: number;
  /** The ends of the 95 % confidence interval. */
  readonly low: number;
  readonly high: number;
  /** The factor of Hamed and Rao, at least 1; 1 for samples that do not depend on each other. */
  readonly correction: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** @param points in the order of x, at equal distances; at least 4. @throws RangeError for fewer */
export function trendOf(points: readonly Point[]): Trend {
  if (points.length < 4) throw new RangeError(`a trend needs at least 4 samples, not ${points.length}`);
  const slopes = pairSlopes(points);
  const slope = medianOf(slopes);
  const correction = correctionOf(points.map(({ x, y }) => y - slope * x));
  const width = Z * Math.sqrt(varianceOfS(points.map(({ y }) => y)) * correction);
  const at = (place: number) => slopes[Math.min(Math.max(place, 0), slopes.length - 1)] as number;
  return {
    slope,
    low: at(Math.round((slopes.length - width) / 2) - 1),
    high: at(Math.round((slopes.length + width) / 2)),
    correction,
  };
}

/** In ascending order. */
function pairSlopes(points: readonly Point[]): number[] {
  const slopes: number[] = [];
  for (const [index, from] of points.entries())
    for (const to of points.slice(index + 1)) slopes.push((to.y - from.y) / (to.x - from.x));
  return slopes.sort((a, b) => a - b);
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  const at = (place: number) => sorted[place] as number;
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle));
}

/** The variance of Kendall's S without a trend, less what equal values take from it. */
function varianceOfS(values: readonly number[]): number {
  const term = (count: number) => count * (count - 1) * (2 * count + 5);
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const ties = [...counts.values()].reduce((sum, count) => sum + term(count), 0);
  return (term(values.length) - ties) / 18;
}

/** By the significant autocorrelations of the ranks of what the trend leaves; never below 1. */
function correctionOf(residuals: readonly number[]): number {
  const count = residuals.length;
  const ranks = ranksOf(residuals);
  const mean = (count + 1) / 2;
  const variance = ranks.reduce((sum, rank) => sum + (rank - mean) ** 2, 0);
  if (variance === 0) return 1;
  let sum = 0;
  for (let lag = 1; lag < count - 2; lag++) {
    const covariance = ranks
      .slice(lag)
      .reduce((total, rank, at) => total + (rank - mean) * ((ranks[at] as number) - mean), 0);
    const correlation = covariance / variance;
    if (Math.abs(correlation) > Z / Math.sqrt(count))
      sum += (count - lag) * (count - lag - 1) * (count - lag - 2) * correlation;
  }
  return Math.max(1, 1 + (2 * sum) / (count * (count - 1) * (count - 2)));
}

/** Equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const [first, last] = [new Map<number, number>(), new Map<number, number>()];
  for (const [index, value] of sorted.entries()) {
    if (!first.has(value)) first.set(value, index + 1);
    last.set(value, index + 1);
  }
  return values.map((value) => ((first.get(value) as number) + (last.get(value) as number)) / 2);
}
