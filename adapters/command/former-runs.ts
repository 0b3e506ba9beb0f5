// Runs of a key whose end nobody saw → ended before the next one, or the group that cannot be.
import type { AdapterDeps } from '../adapter.ts';
import { findOutlived } from './outlived-runs.ts';
import { type GroupSystem, ProcessGroup } from './process-group.ts';
import type { OpenRun, RunNotes } from './run-notes.ts';

/** Runs that a killed bridge left behind, and those that could not be ended. */
export class FormerRuns {
  readonly #notes: RunNotes;
  readonly #system: GroupSystem;
  readonly #deps: AdapterDeps;

  constructor(notes: RunNotes, system: GroupSystem, deps: AdapterDeps) {
    this.#notes = notes;
    this.#system = system;
    this.#deps = deps;
  }

  /** Gives them 5 s from TERM to KILL. @returns the number of a process group that goes on all the same; null for none @throws BridgeError BRIDGE_STORE_* */
  async end(key: string): Promise<number | null> {
    for (const run of this.#notes.open(key)) {
      const left = await this.#endOne(run);
      if (left !== null) return left;
      this.#notes.over(run.seq);
    }
    return null;
  }

  async #endOne(run: OpenRun): Promise<number | null> {
    const { logger } = this.#deps;
    const { pid } = run;
    if (this.#system.platform !== 'linux') {
      const fields = { area: 'delivery', pid };
      logger.warn(fields, 'a run of the former process may still go on, which cannot be told here: look whether its program runs twice');
      return null;
    }
    const group = await findOutlived(run, this.#system);
    if (group === null) return null;
    logger.warn(
      { area: 'delivery', pid: group },
      'a run outlived the process that began it: it is ended before the next one for its event',
    );
    return (await new ProcessGroup(group, this.#system, this.#deps).end()) ? null : group;
  }
}
