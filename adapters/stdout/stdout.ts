// The sink type `stdout`: options → an adapter that prints CloudEvents as NDJSON.
import * as v from 'valibot';
import { BridgeError, codeOf, messageOf } from '../../src/errors.ts';
import { visible } from '../../src/formats/visible-text.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, Outcome } from '../adapter.ts';

/**
 * Codes of temporary failures: a full disk or no memory. After any other error the stream is closed for the life of the
 * process.
 */
const TEMPORARY = new Set(['ENOSPC', 'EDQUOT', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'EINTR']);
const LINE_END = Buffer.from('\n');

/**
 * Writes each batch as one chunk and waits for the stream's callback. So a slow reader slows the lane, and memory does
 * not grow. Never ends the stream. An abort rejects at once, but does not undo the write.
 */
class StdoutAdapter implements Adapter {
  readonly limits = { inFlight: 1, batch: 100, batchBytes: 1024 ** 2 };
  readonly #deps: Pick<AdapterDeps, 'name' | 'stdout'>;
  #pendingWrites = 0;
  #listening = false;
  #hasIncompleteLine = false;
  #closing = false;
  /** The error after which nothing can be written. */
  #ended: BridgeError | null = null;

  constructor(deps: Pick<AdapterDeps, 'name' | 'stdout'>) {
    this.#deps = deps;
  }

  async check(): Promise<null> {
    this.#throwIfEnded();
    return null;
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    this.#throwIfEnded();
    try {
      await this.#write(batch, signal);
    } catch (error) {
      throw signal.aborted ? error : this.#failure(error);
    }
    return batch.map(() => 'accepted');
  }

  close(): void {
    this.#closing = true;
    this.#unlisten();
  }

  #throwIfEnded(): void {
    if (!this.#ended && !this.#deps.stdout.writable) this.#ended = this.#endedError(undefined);
    if (this.#ended) throw this.#ended;
  }

  #write(batch: readonly Delivery[], signal: AbortSignal): Promise<void> {
    const { stdout } = this.#deps;
    const isTerminal = 'isTTY' in stdout && stdout.isTTY === true;
    const lines = batch.flatMap(({ bytes }) => [isTerminal ? forTerminal(bytes) : bytes, LINE_END]);
    // A failed write may have left an incomplete line: end it, so that it corrupts no other.
    const chunk = Buffer.concat(this.#hasIncompleteLine ? [LINE_END, ...lines] : lines);
    this.#listen();
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown) => {
        signal.removeEventListener('abort', abort);
        stdout.off('close', close);
        if (error === undefined || error === null) resolve();
        else reject(error);
      };
      const abort = () => settle(signal.reason);
      // process.stdout emits 'close' after each error, and stays usable.
      const close = () => {
        if (stdout.destroyed) settle(this.#endedError(undefined));
      };
      signal.addEventListener('abort', abort, { once: true });
      stdout.on('close', close);
      this.#pendingWrites += 1;
      stdout.write(chunk, (error) => {
        this.#pendingWrites -= 1;
        this.#hasIncompleteLine = Boolean(error);
        settle(error);
        if (this.#closing && !error) this.#unlisten();
      });
    });
  }

  #failure(error: unknown): BridgeError {
    if (error instanceof BridgeError) this.#ended = error;
    else if (TEMPORARY.has(codeOf(error) ?? '')) {
      const problem = `could not write to standard output: ${messageOf(error)}; free space on the disk that stores it`;
      return this.#error('BRIDGE_STDOUT_FAILED', problem, 'retry', error);
    }
    this.#ended ??= this.#endedError(error);
    return this.#ended;
  }

  #endedError(cause: unknown): BridgeError {
    const problem = `cannot write: standard output is closed (${codeOf(cause) ?? 'ended'}); restart the bridge with a reader that keeps reading`;
    return this.#error('BRIDGE_STDOUT_CLOSED', problem, 'retired', cause);
  }

  #error(
    code: 'BRIDGE_STDOUT_CLOSED' | 'BRIDGE_STDOUT_FAILED',
    problem: string,
    disposition: 'retry' | 'retired',
    cause: unknown,
  ) {
    const details = {
      disposition,
      scope: 'sink',
      untilRestart: disposition === 'retired',
      cause,
      status: codeOf(cause),
    } as const;
    return new BridgeError(code, `sink ${this.#deps.name} ${problem}`, details);
  }

  /**
   * Adds an `error` listener: without one, a broken pipe would end the process. The write's callback reports the error.
   */
  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#deps.stdout.on('error', ignore);
  }

  /** Removes the listener, unless a write is pending or failed: its `error` event is still to come. */
  #unlisten(): void {
    if (this.#pendingWrites > 0 || this.#hasIncompleteLine) return;
    this.#listening = false;
    this.#deps.stdout.off('error', ignore);
  }
}

/** Returns the same JSON with control characters escaped, so that no text of an event can run a terminal command. */
function forTerminal(bytes: Uint8Array): Uint8Array {
  return Buffer.from(visible(Buffer.from(bytes).toString()));
}

function ignore(): void {}

const options = v.strictObject({
  type: v.pipe(v.optional(v.literal('stdout')), v.description('The kind of sink.')),
});

type StdoutOptions = v.InferOutput<typeof options>;

/**
 * Defines the sink type `stdout`: structured CloudEvents on standard output, one JSON object for each line. It has no
 * options.
 */
export const stdoutSink: AdapterDefinition<StdoutOptions> = {
  type: 'stdout',
  options,
  create: (_options, deps) => new StdoutAdapter(deps),
};
