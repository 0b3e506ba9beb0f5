// A scored folder of src/ → the tests that cover it, and the lowest score that is good enough.

export interface ScoredFolder {
  /** The folder in src/. */
  readonly name: string;
  /** Patterns of test files. Each mutant of the folder runs only those of them that reach it. */
  readonly tests: readonly string[];
  /** The least percentage of its mutants that the tests must find. */
  readonly least: number;
}

/** They reach only the `options.ts` of a folder: its section of the configuration. */
const CONFIGURATION = ['check-config', 'json-schema', 'read-config'].map(configTest);

/** In the order in which they are scored: first the folders that decide what is published and what is posted. */
export const SCORED: readonly ScoredFolder[] = [
  scored('changes', 95, []),
  scored('cloudevents', 95, CONFIGURATION),
  scored('delivery', 95, CONFIGURATION),
  scored('auth', 90, [...CONFIGURATION, configTest('cross-checks-proofs'), 'test/unit/http/callers.test.ts']),
  scored('outbox', 90, CONFIGURATION),
  scored('metadata', 90, CONFIGURATION),
  scored('approvals', 95, CONFIGURATION),
];

function configTest(name: string): string {
  return `test/unit/config/${name}.test.ts`;
}

/**
 * Properties that take seconds do not run: they would for each survivor, and a promise has a test that states it.
 * @param others tests in other folders that check promises of this one
 */
function scored(name: string, least: number, others: readonly string[]): ScoredFolder {
  return { name, least, tests: [`test/unit/${name}/**/!(*-property).test.ts`, ...others] };
}
