// Runs of a key whose end nobody saw → ended before the next one, or the group that cannot be.
import type { LeftBehindDeps } from '../adapter.ts';
import { findOutlived } from './outlived-runs.ts';
import { type GroupSystem, ProcessGroup } from './process-group.ts';
import type { OpenRun, RunNotes } from './run-notes.ts';

/** Runs that a killed bridge left behind, and those that could not be ended. */
export class FormerRuns {
  readonly #notes: RunNotes;
  readonly #system: GroupSystem;
  readonly #deps: LeftBehindDeps;
  /** By their deliveries: the start of the adapter and a delivery wait for one end. */
  readonly #ending = new Map<number, Promise<number | null>>();

  constructor(notes: RunNotes, system: GroupSystem, deps: LeftBehindDeps) {
    this.#notes = notes;
    this.#system = system;
    this.#deps = deps;
  }

  /** Those of every key, side by side: whether a delivery of theirs comes again or not. Never rejects. */
  async endAll(): Promise<void> {
    try {
      await Promise.all(this.#notes.ofOtherProcesses().map((run) => this.#endOnce(run)));
    } catch (error) {
      this.#deps.logger.debug({ err: error }, 'runs of a former process are looked for when their event runs again');
    }
  }

  /** Those of one key. Gives them 5 s from TERM to KILL. @returns the number of a process group that goes on all the same; null for none @throws BridgeError BRIDGE_STORE_* */
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
      logger.warn(fields, 'a run of the former process may still go on, which cannot be told here: look whether its program runs twice');
      return null;
    }
    const group = await findOutlived(run, this.#system);
    if (group === null) return null;
    logger.warn({ pid: group }, 'a run outlived the process that began it: it is ended before its event runs again');
    return (await new ProcessGroup(group, this.#system, this.#deps).end()) ? null : group;
  }
}
