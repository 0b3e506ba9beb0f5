// The kind `file`: options → an adapter that appends CloudEvents to a file, one a line.
import { resolve } from 'node:path';
import { encodeEach } from '../../src/cloudevents/unencodable.ts';
import { encodeLog } from '../../src/log-record/formats.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { deadline, orAbort } from '../../src/time/clock.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { type Disk, disk as machineDisk } from './disk.ts';
import { checkFile } from './file-check.ts';
import { fileFault, tooSlow } from './file-fault.ts';
import { type FileOptions, fileOptions, filesWritten } from './file-options.ts';
import { LogFile } from './log-file.ts';

/** Writes and flushes each batch at once. The file is closed between batches. */
export class FileAdapter implements Adapter {
  readonly limits: AdapterLimits;
  readonly #options: FileOptions;
  readonly #deps: AdapterDeps;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: LogFile;
  /** Resolves when the disk has finished the last call, even after its time-out. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: FileOptions, deps: AdapterDeps, disk: Disk = machineDisk) {
    this.limits = { inFlight: 1, batch: options.maxBatch, batchBytes: options.maxBatchBytes };
    this.#options = options;
    this.#deps = deps;
    this.#disk = disk;
    this.#path = resolve(deps.directory, options.path);
    this.#file = new LogFile(this.#path, options.rotate ?? null, disk);
  }

  check(signal: AbortSignal): Promise<string | null> {
    return this.#within(signal, () => checkFile(this.#path, this.#options.rotate !== undefined, this.#disk));
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const ofWhat = { sink: this.#deps.name, made: 'line' } as const;
    const { members, refused } = encodeEach(batch, ({ bytes }) => encodeLog(bytes, this.#options.format), ofWhat);
    const outcomes: Outcome[] = refused;
    const lines = members.map(({ made }) => made);
    const { durable, failure } = await this.#within(signal, () => this.#file.append(lines));
    const failed = failure === undefined ? null : fileFault(failure, this.#deps.name, this.#path);
    for (const [place, { index }] of members.entries())
      outcomes[index] = place >= durable && failed !== null ? failed : 'accepted';
    return outcomes;
  }

  /** Waits for the disk, because another adapter may then write the file. */
  async close(): Promise<void> {
    await this.#turn;
  }

  /**
   * Runs one call at a time, with a time limit. A call to the disk cannot be canceled, so the next one waits for it.
   */
  async #within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { timeout } = this.#options;
    using limit = deadline(this.#deps, timeout, () => tooSlow(this.#deps.name, this.#path, timeout), signal);
    const turn = this.#turn.then(() => {
      limit.signal.throwIfAborted();
      return work();
    });
    this.#turn = turn.catch(() => {});
    try {
      return await orAbort(turn, limit.signal);
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : fileFault(error, this.#deps.name, this.#path);
    }
  }
}

/** A line is accepted once it is flushed to disk. */
export const fileSink: AdapterDefinition<FileOptions> = {
  type: 'file',
  options: fileOptions,
  filesOf: filesWritten,
  create: (options, deps) => new FileAdapter(options, deps),
};
