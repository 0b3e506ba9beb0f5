// One step of a check → its result within a time limit, or a BridgeError.
import type { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { type Deps, deadline, orAbort } from '../../../src/time/clock.ts';
import { busTimeoutFault, type FaultPlace } from '../service-bus-fault.ts';

interface CheckStepOptions {
  readonly place: FaultPlace;
  /** Milliseconds. */
  readonly timeout: number;
  /** Converts the error of the step. */
  readonly faultOf: (error: unknown, place: FaultPlace) => BridgeError;
}

/**
 * Runs `work` with a time limit, even if it ignores its signal.
 * @throws BridgeError, such as BRIDGE_SERVICE_BUS_TIMEOUT, or the signal's reason
 */
export async function checkStep<T>(
  work: (until: AbortSignal) => Promise<T>,
  { place, timeout, faultOf }: CheckStepOptions,
  deps: Pick<Deps, 'after'>,
  signal: AbortSignal,
): Promise<T> {
  using limit = deadline(deps, timeout, () => busTimeoutFault(place, formatDuration(timeout)), signal);
  try {
    return await orAbort(work(limit.signal), limit.signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : faultOf(error, place);
  }
}
