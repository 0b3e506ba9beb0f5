// One step of a check → its result within a time limit, or the BridgeError that says why not.

import type { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { type Deps, deadline, orAbort } from '../../../src/time/clock.ts';
import { type FaultPlace, timeoutFault } from '../service-bus-fault.ts';

export interface CheckStepOptions {
  readonly place: FaultPlace;
  /** Milliseconds. */
  readonly timeout: number;
  /** What is thrown for what the step throws. */
  readonly faultOf: (error: unknown, place: FaultPlace) => BridgeError;
}

/** `work` need not end with its signal. @throws BridgeError, BRIDGE_SERVICE_BUS_TIMEOUT among them, or the signal's reason. */
export async function checkStep<T>(
  work: (until: AbortSignal) => Promise<T>,
  { place, timeout, faultOf }: CheckStepOptions,
  deps: Pick<Deps, 'after'>,
  signal: AbortSignal,
): Promise<T> {
  const limit = deadline(deps, timeout, () => timeoutFault(place, formatDuration(timeout)), signal);
  try {
    return await orAbort(work(limit.signal), limit.signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : faultOf(error, place);
  } finally {
    limit.cancel();
  }
}
