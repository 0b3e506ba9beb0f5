// A queue or subscription without sessions → its messages, up to 8 at once, on one link.
import type { ProcessErrorArgs, ServiceBusReceivedMessage } from '@azure/service-bus';
import type { BusClient } from '../connection/service-bus-client.ts';
import { LinkMessages, renewLock } from './link-messages.ts';
import { RECEIVER, untilAccepted } from './link-probe.ts';
import type { Reception } from './reception.ts';
import { isIdle } from './source-fault.ts';

/** Number of messages that may wait for their events without delaying others. A killed bridge leaves as many locked. */
const IN_FLIGHT = 8;

/** Subscribes to the messages and returns. */
export async function streamMessages(bus: BusClient, reception: Reception): Promise<void> {
  const { options, deps, stopping, connectionLost } = reception;
  const receiver = bus.client.createReceiver(options.entity.path, RECEIVER);
  const messages = new LinkMessages(receiver, reception);
  const take = async (message: ServiceBusReceivedMessage) => {
    const held = new AbortController();
    void renewLock(() => receiver.renewMessageLock(message), deps, AbortSignal.any([held.signal, connectionLost]));
    await messages.handle(message);
    held.abort();
  };
  const handlers = {
    processMessage: (message: ServiceBusReceivedMessage) => reception.track(take(message)),
    processError: async ({ error }: ProcessErrorArgs) => {
      if (!isIdle(error)) reception.lose(error);
    },
    // Not in the SDK's types. The first is called when the link is attached, before it gets credit. The second also
    // reports internal errors.
    postInitialize: () =>
      untilAccepted(deps, stopping).then(
        () => reception.attached(),
        () => undefined,
      ),
    forwardInternalErrors: true,
  };
  const subscription = receiver.subscribe(handlers, { autoCompleteMessages: false, maxConcurrentCalls: IN_FLIGHT });
  const drain = () => void reception.track(subscription.close().catch(() => undefined));
  if (stopping.aborted) drain();
  stopping.addEventListener('abort', drain, { once: true });
}
