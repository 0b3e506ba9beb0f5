// Stands in for `node:test` in this process: test files → their tests, none of which has run.

/** What the unit tests use of a `TestContext` of `node:test`. */
export interface CollectedContext {
  after(undo: () => unknown): void;
}

export interface CollectedTest {
  /** With the names of the suites around it. */
  readonly name: string;
  readonly run: (context: CollectedContext) => unknown;
}

let suites: readonly string[] = [];
let collected: CollectedTest[] = [];

export function test(name: string, run: CollectedTest['run']): void;
export function test(name: string, options: unknown, run: CollectedTest['run']): void;
export function test(name: string, second: unknown, third?: CollectedTest['run']): void {
  const run = typeof second === 'function' ? (second as CollectedTest['run']) : third;
  const isSkipped = typeof second === 'object' && second !== null && 'skip' in second && Boolean(second.skip);
  if (run !== undefined && !isSkipped) collected.push({ name: [...suites, name].join(' > '), run });
}

export function describe(name: string, suite: () => void): void {
  const around = suites;
  suites = [...around, name];
  suite();
  suites = around;
}

// biome-ignore lint/style/noDefaultExport: `node:test` has it.
export default test;

/** Returns the tests that were collected since the last call. */
export function takeCollected(): readonly CollectedTest[] {
  const taken = collected;
  collected = [];
  return taken;
}
