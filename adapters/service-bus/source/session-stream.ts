// A queue or subscription with sessions → messages of several sessions, each in its order.
import type { ServiceBusSessionReceiver } from '@azure/service-bus';
import { orAbort, sleep } from '../../../src/time/clock.ts';
import type { BusClient } from '../connection/service-bus-client.ts';
import { keepLocked, LinkMessages } from './link-messages.ts';
import { probeLink, RECEIVER } from './link-probe.ts';
import { type Reception, SESSION_WAIT_MS } from './reception.ts';
import { isLockLost, isNoSession } from './source-fault.ts';

/** By when it has answered, the SDK's own slack included. */
const ANSWER_MS = SESSION_WAIT_MS + 10_000;
const SESSIONS_AT_ONCE = 8;
/** A session without a message for so long is left to others. */
const IDLE_MS = 1000;
/** Before sessions are asked for again, should the service not wait for one. */
const PAUSE_MS = 250;

/** Ends with the reception. @throws whatever the SDK throws, or BridgeError */
export async function streamSessions(bus: BusClient, reception: Reception): Promise<void> {
  const { options, deps, stopping } = reception;
  // An attach that waits for a session tells nothing before there is one.
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

/** Null where none had a message. */
async function nextSession({ client }: BusClient, reception: Reception): Promise<ServiceBusSessionReceiver | null> {
  const { options, stopping } = reception;
  try {
    return await reception.inTime(() => orAbort(client.acceptNextSession(options.entity.path, RECEIVER), stopping), ANSWER_MS);
  } catch (error) {
    if (stopping.aborted || isNoSession(error)) return null;
    throw error;
  }
}

/** Until nothing comes, or what came is not dealt with: then others may have the session. Never rejects. */
async function readSession(session: ServiceBusSessionReceiver, reception: Reception): Promise<void> {
  const { deps, stopping, connectionLost } = reception;
  const messages = new LinkMessages(session, reception);
  const held = new AbortController();
  void keepLocked(() => session.renewSessionLock(), deps, AbortSignal.any([held.signal, connectionLost]));
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
