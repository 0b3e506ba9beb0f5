// The sink type `windows-event-log`: options → an adapter that writes to the log Application.
import { dirname, join } from 'node:path';
import { encodeEach } from '../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { deadline } from '../../src/time/clock.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { eventLogEntry } from './event-log-entry.ts';
import { type EventLogTarget, tooSlowFault, windowsFault } from './event-log-fault.ts';
import { EventLogHelper, type HelperRequest } from './event-log-helper.ts';
import { type WindowsEventLogOptions, windowsEventLogOptions } from './windows-event-log-options.ts';

/** The .zip for Windows has this program in the folder of node.exe. */
const PROGRAM = 'scheduled-events-bridge-service.exe';

/** Writes one entry at a time, by a helper process. */
export class WindowsEventLogAdapter implements Adapter {
  readonly limits: AdapterLimits;
  readonly #options: WindowsEventLogOptions;
  readonly #deps: AdapterDeps;
  readonly #target: EventLogTarget;
  readonly #helper: EventLogHelper;

  /** @param command starts the helper */
  constructor(
    options: WindowsEventLogOptions,
    deps: AdapterDeps,
    command: readonly [string, ...string[]] = [join(dirname(process.execPath), PROGRAM), 'event-log'],
  ) {
    this.limits = { inFlight: 1, batch: options.maxBatch, batchBytes: options.maxBatchBytes };
    this.#options = options;
    this.#deps = deps;
    this.#target = { sink: deps.name, source: options.source };
    this.#helper = new EventLogHelper(command, this.#target);
  }

  /** Starts the helper, which checks if the source is registered. Writes no entry. */
  async check(signal: AbortSignal): Promise<null> {
    using limit = this.#limit(signal);
    const fault = await this.#ask({ source: this.#target.source }, limit.signal);
    if (fault !== null) throw fault;
    return null;
  }

  /** A delivery is accepted when `ReportEvent` of Windows has returned true. */
  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const { source, format } = this.#options;
    const encode = (delivery: Delivery) => eventLogEntry(delivery, format);
    const { members, refused } = encodeEach(batch, encode, { sink: this.#deps.name, made: 'message' });
    const outcomes: Outcome[] = refused;
    using limit = this.#limit(signal);
    let failure: BridgeError | null = null;
    for (const { index, made } of members) {
      const fault: BridgeError | null = failure ?? (await this.#ask({ source, ...made }, limit.signal));
      outcomes[index] = fault ?? 'accepted';
      if (fault?.scope === 'sink') failure = fault;
    }
    signal.throwIfAborted();
    return outcomes;
  }

  close(): Promise<void> {
    return this.#helper.close();
  }

  #limit(signal: AbortSignal) {
    const { timeout } = this.#options;
    return deadline(this.#deps, timeout, () => tooSlowFault(this.#target, timeout), signal);
  }

  /** Returns null if Windows has done it. @throws the signal's reason after an abort of the bridge */
  async #ask(request: HelperRequest, signal: AbortSignal): Promise<BridgeError | null> {
    try {
      const answer = await this.#helper.ask(request, signal);
      return answer.code === 0 ? null : windowsFault(answer, this.#target);
    } catch (error) {
      if (error instanceof BridgeError) return error;
      throw error;
    }
  }
}

export const windowsEventLogSink: AdapterDefinition<WindowsEventLogOptions> = {
  type: 'windows-event-log',
  options: windowsEventLogOptions(process.platform),
  isLocal: true,
  create: (options, deps) => new WindowsEventLogAdapter(options, deps),
};
