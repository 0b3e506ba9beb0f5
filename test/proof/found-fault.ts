// A demand that is not met, and the count that it belongs to → an error that a part can count.
import { type Counts, FAULTS, type Fault, NOTHING } from './part.ts';
import { textOf } from './run-part.ts';

/** What is wrong belongs to one of the six counts. Other errors are problems of the part. */
export class FoundFault extends Error {
  override readonly name = 'FoundFault';
  readonly fault: Fault;

  constructor(fault: Fault, what: string) {
    super(`${fault}: ${what}`);
    this.fault = fault;
  }
}

/** @throws FoundFault unless it is true */
export function expect(isTrue: unknown, fault: Fault, what: string): asserts isTrue {
  if (!isTrue) throw new FoundFault(fault, what);
}

/** @throws FoundFault if one list lacks what the other has: `lost` or `invented` by default; or if the order differs */
export function expectAll(
  found: readonly string[],
  wanted: readonly string[],
  what: string,
  faults: { readonly missing?: Fault; readonly added?: Fault } = {},
): void {
  const missing = wanted.filter((each) => !found.includes(each));
  expect(missing.length === 0, faults.missing ?? 'lost', `${what}: ${missing.join(', ')}`);
  const added = found.filter((each) => !wanted.includes(each));
  expect(added.length === 0, faults.added ?? 'invented', `${what}: ${added.join(', ')}`);
  expect(found.join() === wanted.join(), 'misordered', `${what}: ${found.join(', ')}`);
}

/** An error of a check as the counts of a part: the fault that it or a cause of it names, and its text. */
export function countsOfError(error: unknown, name: string): Counts {
  const fault = faultIn(error);
  const problems = [`${name}: ${textOf(error)}`];
  return fault === null ? { ...NOTHING, problems } : { ...NOTHING, [fault]: 1, problems };
}

function faultIn(error: unknown): Fault | null {
  if (!(error instanceof Error)) return null;
  return error instanceof FoundFault ? error.fault : faultIn(error.cause);
}

/** The sums of the counts, without a digest. */
export function added(all: readonly Counts[]): Counts {
  const sum = (name: Fault | 'maintenances' | 'kills') => all.reduce((total, counts) => total + counts[name], 0);
  return {
    ...NOTHING,
    ...Object.fromEntries(FAULTS.map((fault) => [fault, sum(fault)])),
    maintenances: sum('maintenances'),
    kills: sum('kills'),
    problems: all.flatMap(({ problems }) => problems),
  };
}
