// Tasks → child processes that play histories, a few at a time.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Task } from './worker.ts';

/** One child process; its listeners, stores and clocks are its own. */
export class Worker implements Disposable {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'worker.ts'));

  /** @throws Error if the process ends, or with the stack of what failed in it */
  run<Result>(task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`a worker ended with ${code} at history ${task.world}`));
      this.#child.once('exit', ended);
      this.#child.once('message', (answer: { result?: Result; error?: string }) => {
        this.#child.off('exit', ended);
        if (answer.error === undefined) resolve(answer.result as Result);
        else reject(new Error(`history ${task.world} of seed ${task.seed} could not be played: ${answer.error}`));
      });
      this.#child.send(task);
    });
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }
}
