// `scheduled-events-bridge/consumer`: CloudEvents of a bridge → handlers; approvals → the bridge.

import { type HttpOptions, httpOn } from './consumer/approve/approval-http.ts';
import type { ApprovalChannel } from './consumer/approve/approver.ts';
import { type Dispatcher, type DispatcherOptions, dispatcherOn } from './consumer/receive/dispatcher.ts';
import { type HandledStore, type MemoryStoreOptions, memoryHandledStore } from './consumer/receive/handled-store.ts';
import type { Handlers } from './consumer/receive/handlers.ts';
import { type PreparationHandlers, type PreparationOptions, preparationOn } from './consumer/receive/preparation.ts';
import { type Receiver, type ReceiverOptions, receiverOn } from './consumer/receive/receiver.ts';
import { type StreamConsumer, type StreamOptions, streamOn } from './consumer/receive/stream.ts';
import { machineClock } from './time/machine-clock.ts';

export { type KafkaProducer, kafka, type ServiceBusSender, serviceBus } from './consumer/approve/approval-brokers.ts';
export type { HttpOptions } from './consumer/approve/approval-http.ts';
export {
  type ApprovalChannel,
  type ApprovalOrder,
  type ApprovalResult,
  type ApproveOptions,
  type Approver,
  type CallOptions,
  createApprover,
  type ReleaseOptions,
} from './consumer/approve/approver.ts';
export { ConsumerError, type ConsumerErrorCode } from './consumer/consumer-error.ts';
export {
  type BridgeEvent,
  type CloudEvent,
  changeOf,
  type DataOf,
  type EventOf,
  isChange,
  type LifeEvent,
} from './consumer/event.ts';
export type { ReadOptions } from './consumer/read-event.ts';
export type { Dispatcher, DispatcherOptions, Handled, HandleOptions } from './consumer/receive/dispatcher.ts';
export type { HandledStore, MemoryStoreOptions } from './consumer/receive/handled-store.ts';
export type { Handler, HandlerContext, Handlers } from './consumer/receive/handlers.ts';
export type { DeliveryMode } from './consumer/receive/http-event.ts';
export { type KafkaMessage, parseKafkaMessage } from './consumer/receive/kafka-message.ts';
export type { LastEnd } from './consumer/receive/last-end.ts';
export { toNodeHandler } from './consumer/receive/node-handler.ts';
export type {
  NoticeEvent,
  PreparationHandlers,
  PreparationOptions,
  PrepareContext,
} from './consumer/receive/preparation.ts';
export {
  type Ended,
  type FileState,
  fileState,
  memoryState,
  type Prepared,
  type PreparedState,
  type StoredEvent,
} from './consumer/receive/prepared-state.ts';
export type { Receiver, ReceiverOptions } from './consumer/receive/receiver.ts';
export { parseServiceBusMessage, type ServiceBusMessage } from './consumer/receive/service-bus-message.ts';
export type { StreamConsumer, StreamOptions } from './consumer/receive/stream.ts';
export type { ApprovalData, ChangeData, ObservedVm, SourceData } from './consumer/schema-types.ts';
export type { NodeRequest, NodeResponse } from './consumer/web-types.ts';
export type { ChangeName } from './model/change-names.ts';

/**
 * Returns a function from a web-standard `Request` to its `Response`, for the webhook sink of a bridge. It verifies
 * deliveries, drops repeats, keeps the order, calls the handlers, and answers 2xx once they have ended. `toNodeHandler`
 * turns it into a listener for `node:http`.
 * @throws ConsumerError `usage` if an option is not valid, for example with neither `secrets` nor `unsigned: true`
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  return receiverOn(options, machineClock());
}

/**
 * Returns a dispatcher for events that come another way, for example from Kafka. It drops repeats, keeps the order and
 * calls the handlers. Several receivers and consumers can share one.
 * @throws ConsumerError `usage` for an unknown handler
 */
export function createDispatcher(handlers: Handlers, options: DispatcherOptions = {}): Dispatcher {
  return dispatcherOn(handlers, options.store ?? memoryStore(), options.typePrefix);
}

/**
 * Returns handlers that prepare once for each event, and recover when it has ended. What has ended is not prepared for
 * again, and old news is passed.
 * @throws ConsumerError `usage` if a time is not valid
 */
export function preparation(options: PreparationOptions): PreparationHandlers {
  return preparationOn(options, machineClock());
}

/**
 * Returns a store of handled ids in this process's memory, within bounds.
 * @throws ConsumerError `usage` if the bounds are not valid
 */
export function memoryStore(options: MemoryStoreOptions = {}): HandledStore {
  return memoryHandledStore(options, machineClock());
}

/**
 * Returns a channel that sends approvals to the HTTP interface of one bridge.
 * @throws ConsumerError `usage` if the URL is not valid, or would expose the token
 */
export function http(options: HttpOptions): ApprovalChannel {
  return httpOn(options, machineClock());
}

/**
 * Reads the stream of a bridge, for a consumer without a broker. It drops repeats, keeps the order and calls the
 * handlers. After a break it reconnects with back-off, and resumes after the last event that was handled.
 * @throws ConsumerError `usage` if the URL is not valid, or would expose the token
 */
export function stream(options: StreamOptions): StreamConsumer {
  return streamOn(options, options.dispatcher ?? createDispatcher(options.handlers, options), machineClock());
}
