// The conditions that Azure Service Bus answers with and the texts beside them: the SDK reads both.
import type { AmqpFault } from './rhea-link.ts';

const MORE = 'To know more visit https://aka.ms/sbResourceMgrExceptions.';

/** The conditions of the service, by the name that people use. */
export const CONDITIONS = {
  notFound: 'amqp:not-found',
  unauthorized: 'amqp:unauthorized-access',
  quotaExceeded: 'amqp:resource-limit-exceeded',
  tooLarge: 'amqp:link:message-size-exceeded',
  internalError: 'amqp:internal-error',
  detachForced: 'amqp:link:detach-forced',
  connectionForced: 'amqp:connection:forced',
  notAllowed: 'amqp:not-allowed',
  serverBusy: 'com.microsoft:server-busy',
  disabled: 'com.microsoft:entity-disabled',
  timeout: 'com.microsoft:timeout',
  messageLockLost: 'com.microsoft:message-lock-lost',
  messageNotFound: 'com.microsoft:message-not-found',
  sessionLockLost: 'com.microsoft:session-lock-lost',
  sessionCannotBeLocked: 'com.microsoft:session-cannot-be-locked',
} as const;

export type ConditionName = keyof typeof CONDITIONS;

/** Where it happened: the namespace's address, the entity's path, a link's name. */
export interface Place {
  readonly namespace: string;
  readonly path: string;
  readonly link?: string;
}

const TEXTS: Readonly<Record<ConditionName, (place: Place) => string>> = {
  notFound: ({ namespace, path }) => `The messaging entity 'sb://${namespace}/${path}' could not be found. ${MORE}`,
  unauthorized: ({ namespace, path }) =>
    `Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: 'sb://${namespace}/${path}'.`,
  quotaExceeded: ({ path }) =>
    `The maximum entity size has been reached or exceeded for Queue: '${path}'. Size of entity in bytes:1073741900, Max entity size in bytes:1073741824. ${MORE}`,
  tooLarge: ({ link }) =>
    `The received message (delivery-id:0, size:300000 bytes) exceeds the limit (262144 bytes) allowed on the link '${link}'.`,
  internalError: () => `The service was unable to process the request; please retry the operation. ${MORE}`,
  detachForced: ({ link }) =>
    `The link '${link}' is force detached. Code: publisher(link7). Details: AmqpMessagePublisher.IdleTimerExpired: Idle timeout: 00:10:00.`,
  connectionForced: ({ namespace }) => linkless(namespace, 300_000).description,
  notAllowed: ({ path }) => `The operation is not allowed on '${path}'.`,
  serverBusy: () =>
    `The request was terminated because the entity is being throttled. Error code: 50009. Please wait 2 seconds and try again. ${MORE}`,
  disabled: ({ namespace, path }) =>
    `Messaging entity 'sb://${namespace}/${path}' is currently disabled. For more information please see https://aka.ms/ServiceBusExceptions .`,
  timeout: ({ path }) => `The operation did not complete within the allotted timeout of 00:01:00. Entity: '${path}'.`,
  messageLockLost: () =>
    'The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.',
  messageNotFound: () => 'Failed to lock one or more specified messages. The message does not exist.',
  sessionLockLost: () => 'The session lock was lost. Request a new session receiver.',
  sessionCannotBeLocked: () =>
    `The requested session cannot be accepted. It may be locked by another receiver. ${MORE}`,
};

/** A condition with the text that the service gives for it at this place, tracking id and all. */
export function serviceFault(name: ConditionName, place: Place): AmqpFault {
  const tracking = `TrackingId:5b0c1f6a7d3e4f55b6d7c8e9_G1, SystemTracker:${place.namespace}:${place.path}`;
  return { condition: CONDITIONS[name], description: `${TEXTS[name](place)} ${tracking}` };
}

/** What a link is told when its token has run out. */
export function tokenExpired(place: Place, claim: 'Send' | 'Listen'): AmqpFault {
  const details = unauthorized(place, claim).description;
  return {
    condition: CONDITIONS.detachForced,
    description: `The link '${place.link}' is force detached. Code: RenewToken. Details: ${details}`,
  };
}

export function unauthorized({ namespace, path }: Place, claim: 'Send' | 'Listen' | 'Manage'): AmqpFault {
  const description = `Unauthorized access. '${claim}' claim(s) are required to perform this operation. Resource: 'sb://${namespace}/${path}'.`;
  return { condition: CONDITIONS.unauthorized, description };
}

/** What a connection is told that had no link for so long. */
export function linkless(namespace: string, ms: number): AmqpFault {
  const description = `The connection was closed by container '${namespace}' because it did not have any active links in the past ${ms} milliseconds.`;
  return { condition: CONDITIONS.connectionForced, description };
}
