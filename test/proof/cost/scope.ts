// What a run opens → closed at its end; stands in for the context of a test.
import type { TestContext } from 'node:test';

/** The part of a test's context that the helpers of the tests use. */
export type Scope = Pick<TestContext, 'after'>;

/**
 * Ends what `run` opened, also if it fails.
 * @param first what is closed first: what was opened last, as programs end before their folders go; or, as tests do, what
 * was opened first
 */
export async function inScope<T>(run: (t: TestContext) => Promise<T>, first: 'last' | 'first' = 'last'): Promise<T> {
  const closers: (() => unknown)[] = [];
  const scope: Scope = { after: (close) => void closers.push(close as () => unknown) };
  try {
    // The helpers that are called here use `after` alone.
    return await run(scope as TestContext);
  } finally {
    for (const close of first === 'last' ? closers.reverse() : closers) await close();
  }
}
