// The log of a broker → its last lines, for an error or for a test that failed.
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';

const LINES = 40;

/** Instead of a log that cannot be read, why. */
export function logEnd(file: string): string {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(-LINES).join('\n');
  } catch (error) {
    return (error as Error).message;
  }
}

/** For a hook after the test. @param name of the broker */
export function showWhereFailed(t: TestContext, name: string, file: string): void {
  // The types of Node do not name it yet.
  const { passed } = t as TestContext & { readonly passed: boolean };
  if (!passed) t.diagnostic(`the end of the log of ${name}:\n${logEnd(file)}`);
}
