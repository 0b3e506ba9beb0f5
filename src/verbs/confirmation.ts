// A question on a terminal → yes or no.
import { createInterface } from 'node:readline';
import type { VerbContext } from './verb.ts';

/**
 * Asks on standard error and reads one line. Returns true for `y` and `yes` alone; the end of the input and an
 * interrupt are a no.
 */
export async function isConfirmed({ stdin, stderr, signal }: VerbContext, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, signal });
  stderr.write(question);
  const answer = await lines[Symbol.asyncIterator]().next();
  lines.close();
  return !answer.done && ['y', 'yes'].includes(answer.value.trim().toLowerCase());
}
