// A scored folder of src/ → the tests that cover it, and the lowest score that is good enough.

export interface ScoredFolder {
  /** The folder in src/. */
  readonly name: string;
  /** Patterns of test files. Each mutant of the folder runs only those of them that reach it. */
  readonly tests: readonly string[];
  /** The least percentage of its mutants that the tests must find. */
  readonly least: number;
}

/** In the order in which they are scored: first the folders that decide what is published and what is posted. */
export const SCORED: readonly ScoredFolder[] = [
  { name: 'changes', tests: ['test/unit/changes/**/*.test.ts'], least: 95 },
  {
    name: 'cloudevents',
    tests: ['test/unit/cloudevents/**/*.test.ts', 'test/unit/config/json-schema.test.ts'],
    least: 95,
  },
  { name: 'delivery', tests: ['test/unit/delivery/**/*.test.ts'], least: 95 },
  { name: 'auth', tests: ['test/unit/auth/**/*.test.ts'], least: 90 },
  { name: 'outbox', tests: ['test/unit/outbox/**/*.test.ts'], least: 90 },
  { name: 'metadata', tests: ['test/unit/metadata/**/*.test.ts'], least: 90 },
  { name: 'approvals', tests: ['test/unit/approvals/**/*.test.ts'], least: 95 },
];
