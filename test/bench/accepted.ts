// A bridge that tells its deliveries (timed.ts) and a document with so many new events → how long until all of them are accepted.
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../support/fake-metadata.ts';
import type { Program } from '../support/program.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import type { Rig } from './rig.ts';

/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 3000;

/** Milliseconds from the answer to the poll that listed them. */
export async function untilAccepted(count: number, { metadata }: Rig, bridge: Program): Promise<number> {
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  await pause(SETTLE_MS);
  const events = Array.from({ length: count }, (_, place) => ({ ...EXAMPLE_EVENT, EventId: eventId(place) }));
  const answeredMs = sharedMs(await metadata.list(events));
  let lastMs = answeredMs;
  for (let accepted = 0; accepted < count; ) {
    const call = await calls.next();
    accepted += call.accepted;
    lastMs = Math.max(lastMs, call.toMs);
  }
  return lastMs - answeredMs;
}

function eventId(place: number): string {
  return `C7061BAC-AFDC-4513-B24B-${place.toString(16).toUpperCase().padStart(12, '0')}`;
}
