// A simulator → the metadata client's transport, in memory: delays, resets, cut-off answers.
import { BridgeError } from '../../src/errors.ts';
import type { MetadataTransport } from '../../src/metadata/transport.ts';
import type { SimAnswer } from '../../src/simulator/answer.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { type Deps, deadline, sleep } from '../../src/time/clock.ts';

export function simulatorTransport(simulator: Simulator, deps: Pick<Deps, 'after'>): MetadataTransport {
  return async ({ method, url, headers, body, timeoutMs }, signal) => {
    signal.throwIfAborted();
    const { pathname, search } = new URL(url);
    const answer = simulator.handle({
      method,
      url: pathname + search,
      headers,
      body: new TextEncoder().encode(body ?? ''),
    });
    const limit = deadline(
      deps,
      timeoutMs,
      () => new BridgeError('BRIDGE_METADATA_TIMEOUT', `the simulator did not answer within ${timeoutMs} ms`),
      signal,
    );
    try {
      const heldMs = (answer.delayMs ?? 0) + heldBackMs(simulator, answer);
      if (heldMs > 0) await sleep(deps, heldMs, limit.signal);
    } finally {
      limit.cancel();
    }
    const isCut = answer.truncate !== undefined && answer.truncate < answer.body.length;
    if (answer.reset || isCut)
      throw new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'the simulator broke off the connection');
    return { status: answer.status, headers: answer.headers, body: answer.body };
  };
}

/** Real time until the answer is due by the simulator's clock, whose speed stays as it is meanwhile. */
function heldBackMs({ group: { clock } }: Simulator, { notBeforeMs }: SimAnswer): number {
  return notBeforeMs === undefined ? 0 : Math.max(0, (notBeforeMs - clock.nowMs()) / clock.speed);
}
