// A queue or subscription without sessions → its messages, a few at once, on one link.
import type { ProcessErrorArgs, ServiceBusReceivedMessage } from '@azure/service-bus';
import { keepLocked, type Line, type LineDeps, LinkMessages } from './link-messages.ts';
import { RECEIVER, untilAccepted } from './link-probe.ts';
import { isIdle } from './source-fault.ts';

/** So many may wait for their events without holding up those behind them; a bridge that is gone leaves as many locked. */
const IN_FLIGHT = 8;

/** Returns at once; reports to `line`. */
export function streamMessages(line: Line, deps: LineDeps): void {
  const { bus, entity, over, dead } = line;
  const receiver = bus.client.createReceiver(entity.path, RECEIVER);
  const messages = new LinkMessages(receiver, line, deps);
  const take = async (message: ServiceBusReceivedMessage) => {
    const held = new AbortController();
    void keepLocked(() => receiver.renewMessageLock(message), deps, AbortSignal.any([held.signal, dead]));
    await messages.handle(message);
    held.abort();
  };
  const handlers = {
    processMessage: (message: ServiceBusReceivedMessage) => line.track(take(message)),
    processError: async ({ error }: ProcessErrorArgs) => {
      if (!isIdle(error)) line.die(error);
    },
    // Neither is in the SDK's types: called once the link is attached, before it gets credit, and whether its own faults count too.
    postInitialize: () => untilAccepted(deps, over).then(line.attached, () => undefined),
    forwardInternalErrors: true,
  };
  const subscription = receiver.subscribe(handlers, { autoCompleteMessages: false, maxConcurrentCalls: IN_FLIGHT });
  const drain = () => void line.track(subscription.close().catch(() => undefined));
  if (over.aborted) drain();
  over.addEventListener('abort', drain, { once: true });
}
