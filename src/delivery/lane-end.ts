// A lane that ends → its calls ended, their outcomes stored, its adapter disposed.
import type { Deps } from '../time/clock.ts';
import { disposeInTime } from '../time/dispose.ts';
import type { LaneReport } from './lane-report.ts';
import type { ManagedAdapter } from './managed-adapter.ts';
import type { OutcomeWriter } from './outcome-writer.ts';

interface LaneEndParts {
  readonly adapter: ManagedAdapter;
  readonly writer: OutcomeWriter;
  readonly report: LaneReport;
  readonly deps: Pick<Deps, 'after'>;
  /** It begins to end: no call may begin any more. */
  readonly onBegun: () => void;
  /** Resolves once no call runs. */
  readonly callsEnded: () => Promise<void>;
  /** No call begins or ends any more. */
  readonly onQuiet: () => void;
}

export class LaneEnd {
  readonly #parts: LaneEndParts;
  readonly #abort = new AbortController();
  readonly #closing = Promise.withResolvers<void>();
  readonly #disposed = Promise.withResolvers<void>();
  #onReleased: (() => void) | null = null;
  #ended: Promise<void> | null = null;

  constructor(parts: LaneEndParts) {
    this.#parts = parts;
  }

  /** Aborts what runs. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get hasBegun(): boolean {
    return this.#ended !== null;
  }

  /** By `leave`. */
  get hasLeft(): boolean {
    return this.#onReleased !== null;
  }

  /** Keys of calls are free. */
  released(): void {
    this.#onReleased?.();
  }

  /**
   * Lets running calls end for `graceMs`, then aborts them. Never rejects. If it is called again, the grace that ends
   * first counts.
   */
  close(graceMs: number): Promise<void> {
    this.#closing.resolve();
    return this.#within(graceMs);
  }

  /** See `Lane.leave`. */
  leave(onReleased: () => void): Promise<void> {
    this.#onReleased = onReleased;
    this.#parts.writer.dropRetirement();
    return this.#begin();
  }

  /** See `Lane.disposed`. */
  async disposed(graceMs: number): Promise<void> {
    void this.#within(graceMs);
    await this.#disposed.promise;
  }

  #within(graceMs: number): Promise<void> {
    const cancelGrace = this.#parts.deps.after(graceMs, () => this.#abort.abort());
    const ended = this.#begin();
    void ended.then(cancelGrace);
    return ended;
  }

  #begin(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    const { adapter, writer, report, deps, onBegun, callsEnded, onQuiet } = this.#parts;
    onBegun();
    await callsEnded();
    if (!this.hasLeft) writer.close();
    onQuiet();
    await disposeInTime(adapter, deps, (reason) => report.disposeFailed(reason), adapter.limits.closeMs);
    this.#disposed.resolve();
    if (!this.hasLeft) return;
    await Promise.race([writer.written(), this.#closing.promise]);
    writer.close();
  }
}
