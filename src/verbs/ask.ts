// A question on standard error → whether the next line of standard input is a yes.
import { createInterface } from 'node:readline';
import type { VerbContext } from './verb.ts';

/**
 * Returns a function that asks and reads one line: `y` and `yes` are a yes, in any letter case. All else is a no, also
 * the end of the input and an interrupt.
 */
export function questions({ stdin, stderr, signal }: VerbContext): (question: string) => Promise<boolean> {
  // One reader for all questions, because piped lines arrive together.
  const answers = createInterface({ input: stdin, signal })[Symbol.asyncIterator]();
  return async (question) => {
    stderr.write(`${question} [y/N] `);
    const answer = await answers.next();
    return !answer.done && ['y', 'yes'].includes(answer.value.trim().toLowerCase());
  };
}
