// The name and the options of a check → what it did, or what is wrong, in a process of its own.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { countsOfError } from '../found-fault.ts';
import { type Counts, NOTHING } from '../part.ts';
import type { CheckOptions } from './check.ts';
import { CHECKS } from './checks.ts';

export interface Task extends CheckOptions {
  readonly name: string;
}

export interface Answer {
  readonly did: string;
  readonly counts: Counts;
}

/** Runs one check in a process. A process that ends before its answer is a problem of the check. */
export function runCheck(task: Task): Promise<Answer> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(task)], { env: { ...process.env, [CHILD]: '1' } });
  return new Promise((resolve) => {
    child.once('message', (answer: Answer) => resolve(answer));
    child.once('close', (code, signal) => resolve(failed(new Error(`its process ended with ${code ?? signal}`), task)));
  });
}

function failed(error: unknown, { name, seed, share }: Task): Answer {
  return { did: 'failed', counts: countsOfError(error, `${name} (seed ${seed}, share ${share.index} of ${share.of})`) };
}

async function answerTo(task: Task): Promise<Answer> {
  try {
    const { did, ...counts } = await (CHECKS[task.name] as (typeof CHECKS)[string]).check(task);
    return { did, counts: { ...NOTHING, ...counts } };
  } catch (error) {
    return failed(error, task);
  }
}

const CHILD = 'PROOF_CHECK_PROCESS';

if (process.env[CHILD]) {
  delete process.env[CHILD];
  const answer = await answerTo(JSON.parse(process.argv[2] ?? '{}'));
  process.send?.(answer, () => process.disconnect());
}
