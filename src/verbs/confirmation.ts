// A question on standard error → whether the next line of standard input is a yes.
import { createInterface, type Interface } from 'node:readline';
import type { VerbContext } from './verb.ts';

/**
 * Asks on standard error and reads one line. Returns true for `y` and `yes` alone, in any letter case; the end of the
 * input and an interrupt are a no.
 */
export async function isConfirmed(context: VerbContext, question: string): Promise<boolean> {
  const lines = linesOf(context);
  try {
    return await asking(context, lines)(question);
  } finally {
    lines.close();
  }
}

/** Like `isConfirmed`, for several questions: one reader for all, because piped lines arrive together. */
export function confirmations(context: VerbContext): (question: string) => Promise<boolean> {
  return asking(context, linesOf(context));
}

function linesOf({ stdin, signal }: VerbContext): Interface {
  return createInterface({ input: stdin, signal });
}

function asking({ stderr }: VerbContext, lines: Interface): (question: string) => Promise<boolean> {
  const answers = lines[Symbol.asyncIterator]();
  return async (question) => {
    stderr.write(question);
    const answer = await answers.next();
    return !answer.done && ['y', 'yes'].includes(answer.value.trim().toLowerCase());
  };
}
