// A queue or subscription → a check that the bridge may receive, without receiving a message.
import type { ProcessErrorArgs } from '@azure/service-bus';
import { BridgeError } from '../../../src/errors.ts';
import { type Deps, sleep } from '../../../src/time/clock.ts';
import type { BusClient } from '../connection/service-bus-client.ts';
import type { SourceEntity } from '../options/service-bus-source-options.ts';
import type { FaultPlace } from '../service-bus-fault.ts';
import { noSessionsFault, requiresSessions } from './source-fault.ts';

/** The service accepts every link first, and detaches it within this time if it refuses it. */
const REFUSAL_MS = 100;
/** The SDK's own lock renewal is off: it uses message ids, which may be equal or missing. */
export const RECEIVER = {
  receiveMode: 'peekLock',
  maxAutoLockRenewalDurationInMs: 0,
  skipParsingBodyAsJson: true,
} as const;

export type LinkDeps = Pick<Deps, 'after' | 'wallMs'>;

/** Waits after an attach until the service can no longer refuse the link. @throws the signal's reason */
export async function untilAccepted(deps: LinkDeps, signal?: AbortSignal): Promise<void> {
  await sleep(deps, REFUSAL_MS, signal);
}

/** The entity to receive from, and how. */
export interface Probed {
  readonly entity: SourceEntity;
  readonly sessions: boolean;
  readonly place: FaultPlace;
}

/**
 * Attaches a link without a session. An entity with sessions refuses it for that reason, which proves the access; a
 * session link would wait for a session or take it. @throws what the SDK throws, or BridgeError
 * BRIDGE_SERVICE_BUS_ENTITY if `sessions` is true and the entity has none
 */
export async function probeLink(
  { client }: BusClient,
  { entity, sessions, place }: Probed,
  deps: LinkDeps,
): Promise<void> {
  const receiver = client.createReceiver(entity.path, RECEIVER);
  try {
    await attach(receiver, deps);
  } catch (error) {
    if (sessions && requiresSessions(error)) return;
    throw error;
  } finally {
    receiver.close().catch(() => undefined);
  }
  if (sessions) throw noSessionsFault(place);
}

function attach(receiver: ReturnType<BusClient['client']['createReceiver']>, deps: LinkDeps): Promise<void> {
  return new Promise((resolve, reject) => {
    const handlers = {
      processMessage: async () =>
        reject(new BridgeError('BRIDGE_INTERNAL', 'a message arrived on a link without credit')),
      processError: async ({ error }: ProcessErrorArgs) => reject(error),
      // Not in the SDK's types: called when the link is attached. The link gets credit only after this promise
      // resolves.
      postInitialize: () => {
        untilAccepted(deps).then(resolve, reject);
        return new Promise<void>(() => undefined);
      },
    };
    receiver.subscribe(handlers, { autoCompleteMessages: false });
  });
}
