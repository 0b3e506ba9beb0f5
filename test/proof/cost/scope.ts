// What a run opens → closed at its end, in reverse order; stands in for the context of a test.
import type { TestContext } from 'node:test';

/** The part of a test's context that the helpers of the tests use. */
export type Scope = Pick<TestContext, 'after'>;

/** Ends what `run` opened, also if it fails. */
export async function inScope<T>(run: (t: TestContext) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = [];
  const scope: Scope = { after: (close) => void closers.push(close as () => unknown) };
  try {
    // The helpers that are called here use `after` alone.
    return await run(scope as TestContext);
  } finally {
    // Programs end before their folders go.
    for (const close of closers.reverse()) await close();
  }
}
