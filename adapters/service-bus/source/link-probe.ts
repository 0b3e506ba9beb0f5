// A queue or subscription → whether the bridge may receive, by a link that asks for no message.
import type { ProcessErrorArgs } from '@azure/service-bus';
import { BridgeError } from '../../../src/errors.ts';
import { type Deps, sleep } from '../../../src/time/clock.ts';
import type { BusClient } from '../connection/service-bus-client.ts';
import type { SourceEntity } from '../options/service-bus-source-options.ts';
import type { FaultPlace } from '../service-bus-fault.ts';
import { isForSessions, lacksSessions } from './source-fault.ts';

/** The service takes every link, and takes it back right after where it refuses it. */
const REFUSAL_MS = 100;
/** The SDK keeps locks by message id, which need not differ, nor exist. */
export const RECEIVER = { receiveMode: 'peekLock', maxAutoLockRenewalDurationInMs: 0, skipParsingBodyAsJson: true } as const;

export type LinkDeps = Pick<Deps, 'after' | 'wallMs'>;

/** A link has just been attached: waits until it is surely not refused. @throws the signal's reason */
export async function untilAccepted(deps: LinkDeps, signal?: AbortSignal): Promise<void> {
  await sleep(deps, REFUSAL_MS, signal);
}

/** What is to be received from, and how. */
export interface Probed {
  readonly entity: SourceEntity;
  readonly sessions: boolean;
  readonly place: FaultPlace;
}

/**
 * Where sessions are required, a link for all messages is refused for just that; one for a session would either wait for one or take it.
 * @throws whatever the SDK throws, or BridgeError BRIDGE_SERVICE_BUS_ENTITY where there are no sessions though `sessions` says so
 */
export async function probeLink({ client }: BusClient, { entity, sessions, place }: Probed, deps: LinkDeps): Promise<void> {
  const receiver = client.createReceiver(entity.path, RECEIVER);
  try {
    await attach(receiver, deps);
  } catch (error) {
    if (sessions && isForSessions(error)) return;
    throw error;
  } finally {
    receiver.close().catch(() => undefined);
  }
  if (sessions) throw lacksSessions(place);
}

function attach(receiver: ReturnType<BusClient['client']['createReceiver']>, deps: LinkDeps): Promise<void> {
  return new Promise((resolve, reject) => {
    const handlers = {
      processMessage: async () => reject(new BridgeError('BRIDGE_INTERNAL', 'a message arrived on a link without credit')),
      processError: async ({ error }: ProcessErrorArgs) => reject(error),
      // Not in the SDK's types: called once the link is attached, which gets its credit only once this ends.
      postInitialize: () => {
        untilAccepted(deps).then(resolve, reject);
        return new Promise<void>(() => undefined);
      },
    };
    receiver.subscribe(handlers, { autoCompleteMessages: false });
  });
}
