// A receiver that asks for a session, named or the next free one → the lock, once there is one.
import type { Sender } from 'rhea';
import { type Broker, spelledOut } from './broker.ts';
import type { ReceiveNode } from './namespace.ts';
import { answerAttach, holdAttach } from './rhea-link.ts';
import { type Place, serviceFault } from './service-faults.ts';
import type { SessionLock } from './session-locks.ts';
import { typed } from './typed-values.ts';

const FILTER = 'com.microsoft:session-filter';
const TIMEOUT = 'com.microsoft:timeout';
const LOCKED_UNTIL = 'com.microsoft:locked-until-utc';
const DEFAULT_TIMEOUT_MS = 60_000;

/** The id of the session that a link asks for, null for the next free one, undefined where it asks for none. */
export function sessionWanted(link: Sender): string | null | undefined {
  const { filter } = link.source as { filter?: Readonly<Record<string, unknown>> };
  if (!filter || !(FILTER in filter)) return undefined;
  const wanted = filter[FILTER];
  return wanted === null || wanted === undefined ? null : String(wanted);
}

/**
 * Answers the attach once there is a session, and calls `accepted` with its lock; a named one that is held is refused
 * at once.
 */
export function acceptSession(
  broker: Broker,
  link: Sender,
  node: ReceiveNode,
  wanted: string | null,
  place: Place,
  accepted: (lock: SessionLock) => void,
): void {
  const { sessions } = node.store;
  const lost = () => link.close(serviceFault('sessionLockLost', place));
  const take = (id: string): boolean => {
    const lock = sessions.accept(id, lost);
    if (!lock) return false;
    answerAttach(link, { properties: { [LOCKED_UNTIL]: typed.ticks(lock.until) } }, { [FILTER]: lock.id });
    accepted(lock);
    return true;
  };
  const refuse = (name: 'sessionCannotBeLocked' | 'timeout') => {
    answerAttach(link);
    link.close(spelledOut(name, place));
  };
  if (wanted !== null) {
    if (!take(wanted)) refuse('sessionCannotBeLocked');
    return;
  }
  const takeNext = () => node.store.sessionIds().some((id) => !sessions.of(id) && take(id));
  if (takeNext()) return;
  holdAttach(link);
  const stop = () => {
    stopWaiting();
    cancel();
  };
  const stopWaiting = node.store.onMessage(() => {
    if (!link.is_remote_open() || takeNext()) stop();
  });
  const timeoutMs = Number(link.properties?.[TIMEOUT] ?? DEFAULT_TIMEOUT_MS);
  const cancel = broker.clock.at(broker.clock.now() + timeoutMs, () => {
    stop();
    if (link.is_remote_open()) refuse('timeout');
  });
}
