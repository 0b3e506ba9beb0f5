// A queue or subscription with sessions → messages of several sessions, each in order.
import type { ServiceBusSessionReceiver } from '@azure/service-bus';
import { orAbort, sleep } from '../../../src/time/clock.ts';
import type { BusClient } from '../connection/service-bus-client.ts';
import { LinkMessages, renewLock } from './link-messages.ts';
import { probeLink, RECEIVER } from './link-probe.ts';
import { type Reception, SESSION_WAIT_MS } from './reception.ts';
import { isLockLost, isNoSession } from './source-fault.ts';

/** Time limit for the answer, including the SDK's slack. */
const ANSWER_MS = SESSION_WAIT_MS + 10_000;
const SESSIONS_AT_ONCE = 8;
/** A session without a message for this time is released. */
const IDLE_MS = 1000;
/** Pause before the next request for a session, in case the service does not wait. */
const PAUSE_MS = 250;

/** Receives until the reception ends. @throws what the SDK throws, or BridgeError */
export async function streamSessions(bus: BusClient, reception: Reception): Promise<void> {
  const { options, deps, stopping } = reception;
  // An attach that waits for a session gives no answer until one has a message.
  await reception.inTime(() => probeLink(bus, options, deps));
  reception.attached();
  const open = new Set<Promise<void>>();
  while (!stopping.aborted) {
    if (open.size >= SESSIONS_AT_ONCE) await Promise.race(open);
    const session = await nextSession(bus, reception);
    if (session === null) {
      await sleep(deps, PAUSE_MS, stopping).catch(() => undefined);
      continue;
    }
    const reading: Promise<void> = reception.track(readSession(session, reception)).finally(() => open.delete(reading));
    open.add(reading);
  }
}

/** Resolves with null if no session has a message. */
async function nextSession({ client }: BusClient, reception: Reception): Promise<ServiceBusSessionReceiver | null> {
  const { options, stopping } = reception;
  try {
    return await reception.inTime(
      () => orAbort(client.acceptNextSession(options.entity.path, RECEIVER), stopping),
      ANSWER_MS,
    );
  } catch (error) {
    if (stopping.aborted || isNoSession(error)) return null;
    throw error;
  }
}

/** Reads a session until it is idle or a message is not settled, and releases it. Never rejects. */
async function readSession(session: ServiceBusSessionReceiver, reception: Reception): Promise<void> {
  const { deps, stopping, connectionLost } = reception;
  const messages = new LinkMessages(session, reception);
  const held = new AbortController();
  void renewLock(() => session.renewSessionLock(), deps, AbortSignal.any([held.signal, connectionLost]));
  try {
    let isGoingOn = true;
    while (isGoingOn && !stopping.aborted) {
      const [message] = await session.receiveMessages(1, { maxWaitTimeInMs: IDLE_MS, abortSignal: stopping });
      isGoingOn = message !== undefined && (await messages.handle(message));
    }
  } catch (error) {
    if (!stopping.aborted && !isLockLost(error)) reception.lose(error);
  }
  held.abort();
  await reception.inTime(() => session.close()).catch((error: unknown) => reception.lose(error));
}
