// A queue or subscription with sessions → messages of several sessions, each in its order.
import type { ServiceBusSessionReceiver } from '@azure/service-bus';
import { orAbort, sleep } from '../../../src/time/clock.ts';
import { keepLocked, type Line, type LineDeps, LinkMessages } from './link-messages.ts';
import { type Probed, probeLink, RECEIVER } from './link-probe.ts';
import { isLockLost, isNoSession } from './source-fault.ts';

/** So long the service is asked to wait for a session with a message; the SDK gives an attach up after a minute. */
export const SESSION_WAIT_MS = 35_000;
/** By when it has answered, the SDK's own slack included. */
const ANSWER_MS = SESSION_WAIT_MS + 10_000;
const SESSIONS_AT_ONCE = 8;
/** A session without a message for so long is left to others. */
const IDLE_MS = 1000;
/** Before sessions are asked for again, should the service not wait for one. */
const PAUSE_MS = 250;

/** Ends with the line. @throws whatever the SDK throws, or BridgeError */
export async function streamSessions(line: Line, probed: Probed, deps: LineDeps): Promise<void> {
  const { bus, over, inTime, track } = line;
  // An attach that waits for a session tells nothing before there is one.
  await inTime(() => probeLink(bus, probed, deps));
  line.attached();
  const open = new Set<Promise<void>>();
  while (!over.aborted) {
    if (open.size >= SESSIONS_AT_ONCE) await Promise.race(open);
    const session = await nextSession(line);
    if (session === null) {
      await sleep(deps, PAUSE_MS, over).catch(() => undefined);
      continue;
    }
    const reading: Promise<void> = track(readSession(session, line, deps)).finally(() => open.delete(reading));
    open.add(reading);
  }
}

/** Null where none had a message. */
async function nextSession({ bus, entity, over, inTime }: Line): Promise<ServiceBusSessionReceiver | null> {
  try {
    return await inTime(() => orAbort(bus.client.acceptNextSession(entity.path, RECEIVER), over), ANSWER_MS);
  } catch (error) {
    if (over.aborted || isNoSession(error)) return null;
    throw error;
  }
}

/** Until nothing comes, or what came is not dealt with: then others may have the session. Never rejects. */
async function readSession(session: ServiceBusSessionReceiver, line: Line, deps: LineDeps): Promise<void> {
  const { over, dead, inTime, die } = line;
  const messages = new LinkMessages(session, line, deps);
  const held = new AbortController();
  void keepLocked(() => session.renewSessionLock(), deps, AbortSignal.any([held.signal, dead]));
  try {
    let isGoingOn = true;
    while (isGoingOn && !over.aborted) {
      const [message] = await session.receiveMessages(1, { maxWaitTimeInMs: IDLE_MS, abortSignal: over });
      isGoingOn = message !== undefined && (await messages.handle(message));
    }
  } catch (error) {
    if (!over.aborted && !isLockLost(error)) die(error);
  }
  held.abort();
  await inTime(() => session.close()).catch(die);
}
