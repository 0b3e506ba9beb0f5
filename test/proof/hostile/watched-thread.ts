// Batches of hostile cases → a thread with little memory; one that hangs or dies is replaced.
import { Worker } from 'node:worker_threads';
import { inputOf } from './kept.ts';
import type { Batch, Done } from './worker.ts';

/** Of a thread: the samples, the product, one case. */
const MOST_MEMORY_MB = 160;
/** A case that runs longer hangs. */
const LONGEST_MS = 20_000;
const LOOK_MS = 500;

export class WatchedThread implements AsyncDisposable {
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | null = null;

  /** Tries the whole batch, also after a case that ended the thread. */
  async run(batch: Batch): Promise<Done> {
    const done = await this.#upToFailure(batch);
    if (this.#worker !== null) return done;
    const next = (this.#running[0] ?? 0) + 1;
    const rest = batch.from + batch.cases - next;
    const others = rest > 0 ? await this.run({ ...batch, from: next, cases: rest }) : null;
    return others === null ? done : { ...others, failures: [...done.failures, ...others.failures] };
  }

  /** Ends without a thread if a case hangs, or ends it: that case is the failure. */
  #upToFailure(batch: Batch): Promise<Done> {
    this.#running[0] = batch.from;
    this.#worker ??= new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: this.#running,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
    });
    const worker = this.#worker;
    return new Promise((resolve) => {
      const stopWatching = this.#watch(() => fail(`hangs: it took more than ${LONGEST_MS / 1000} s`));
      const end = (done: Done) => {
        stopWatching();
        worker.off('message', end).off('error', ended);
        resolve(done);
      };
      const fail = (why: string) => {
        void worker.terminate();
        this.#worker = null;
        const index = this.#running[0] ?? batch.from;
        end({ failures: [{ target: batch.target, index, input: inputOf(batch, index), why }], ...NOT_MEASURED });
      };
      const ended = (error: Error) => fail(`ended the thread: ${error.stack ?? error.message}`);
      worker.on('error', ended).on('message', end);
      worker.postMessage(batch);
    });
  }

  /** Calls `hang` if the same case runs for too long. */
  #watch(hang: () => void): () => void {
    let [last, lastMs] = [-1, performance.now()];
    const watch = setInterval(() => {
      const [index = 0, nowMs] = [this.#running[0], performance.now()];
      if (index !== last) [last, lastMs] = [index, nowMs];
      else if (nowMs - lastMs > LONGEST_MS) hang();
    }, LOOK_MS);
    return () => clearInterval(watch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }
}

const NOT_MEASURED = { ms: 0, bytes: 0, slowestMs: 0 } as const;
