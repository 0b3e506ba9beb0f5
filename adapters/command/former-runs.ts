// The open runs of a key → ended before the next run, or the group that could not be ended.
import type { LeftBehindDeps } from '../adapter.ts';
import { findOutlived } from './outlived-runs.ts';
import { type GroupSystem, ProcessGroup } from './process-group.ts';
import type { OpenRun, RunNotes } from './run-notes.ts';

/** Ends runs that a killed bridge left behind, or that could not be ended before. */
export class FormerRuns {
  readonly #notes: RunNotes;
  readonly #system: GroupSystem;
  readonly #deps: LeftBehindDeps;
  /** By delivery, so that the start of the adapter and a delivery share one attempt. */
  readonly #ending = new Map<number, Promise<number | null>>();

  constructor(notes: RunNotes, system: GroupSystem, deps: LeftBehindDeps) {
    this.#notes = notes;
    this.#system = system;
    this.#deps = deps;
  }

  /** Ends the open runs of all keys concurrently, whether or not their deliveries come again. Never rejects. */
  async endAll(): Promise<void> {
    try {
      await Promise.all(this.#notes.ofOtherProcesses().map((run) => this.#endOnce(run)));
    } catch (error) {
      this.#deps.logger.debug(
        { err: error },
        'runs of an earlier process cannot be ended now: the bridge tries again before the next run of their event',
      );
    }
  }

  /**
   * Ends the open runs of one key, with 5 s between TERM and KILL.
   * @returns the number of a process group that could not be ended, or null
   * @throws BridgeError BRIDGE_STORE_*
   */
  async end(key: string): Promise<number | null> {
    for (const run of this.#notes.ofKey(key)) {
      const left = await this.#endOnce(run);
      if (left !== null) return left;
    }
    return null;
  }

  #endOnce(run: OpenRun): Promise<number | null> {
    const { seq } = run;
    const ending = this.#ending.get(seq) ?? this.#endAndNote(run).finally(() => this.#ending.delete(seq));
    this.#ending.set(seq, ending);
    return ending;
  }

  async #endAndNote(run: OpenRun): Promise<number | null> {
    const left = await this.#endOne(run);
    if (left === null) this.#notes.over(run.seq);
    return left;
  }

  async #endOne(run: OpenRun): Promise<number | null> {
    const { logger } = this.#deps;
    const { pid } = run;
    if (this.#system.platform !== 'linux') {
      const fields = { pid };
      logger.warn(
        fields,
        'a run of an earlier process may still be active, which this platform cannot show: check if its program runs twice',
      );
      return null;
    }
    const group = await findOutlived(run, this.#system);
    if (group === null) return null;
    logger.warn({ pid: group }, 'a run has outlived the process that started it: the bridge ends it before the next run of its event');
    return (await new ProcessGroup(group, this.#system, this.#deps).end()) ? null : group;
  }
}
