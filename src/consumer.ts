// `scheduled-events-bridge/consumer`: webhooks and messages → handlers, and approvals back.

import { type HttpOptions, httpOn } from './consumer/approve/approval-http.ts';
import type { ApprovalChannel } from './consumer/approve/approver.ts';
import { type Dispatcher, type DispatcherOptions, dispatcherOn } from './consumer/receive/dispatcher.ts';
import { type HandledStore, type MemoryStoreOptions, memoryHandledStore } from './consumer/receive/handled-store.ts';
import type { Handlers } from './consumer/receive/handlers.ts';
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
export { toNodeHandler } from './consumer/receive/node-handler.ts';
export {
  type NoticeEvent,
  type PreparationHandlers,
  type PreparationOptions,
  type PrepareContext,
  preparation,
} from './consumer/receive/preparation.ts';
export { type FileState, fileState, memoryState, type Prepared, type PreparedState } from './consumer/receive/prepared-state.ts';
export type { Receiver, ReceiverOptions } from './consumer/receive/receiver.ts';
export { parseServiceBusMessage, type ServiceBusMessage } from './consumer/receive/service-bus-message.ts';
export type { StreamConsumer, StreamOptions } from './consumer/receive/stream.ts';
export type { ApprovalData, ChangeData, SourceData } from './consumer/schema-types.ts';
export type { NodeRequest, NodeResponse } from './consumer/web-types.ts';
export type { ChangeName } from './model/change-names.ts';

/**
 * A function from a web-standard `Request` to its `Response`, for the webhook sink of a bridge: it verifies, drops repeats, keeps order, calls
 * handlers, and answers 2xx once they have ended. `toNodeHandler` makes a listener of `node:http` of it.
 * @throws ConsumerError `usage` for options that cannot be used, such as neither `secrets` nor `unsigned: true`
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  return receiverOn(options, machineClock());
}

/** For events that come another way, as from Kafka: the same handlers, repeats and order. Several receivers and consumers can share one. */
export function createDispatcher(handlers: Handlers, options: DispatcherOptions = {}): Dispatcher {
  return dispatcherOn(handlers, options.store ?? memoryStore(), options.typePrefix);
}

/** Handled ids in this process's memory, within bounds. @throws ConsumerError `usage` for impossible ones */
export function memoryStore(options: MemoryStoreOptions = {}): HandledStore {
  return memoryHandledStore(options, machineClock());
}

/** Approvals to the HTTP interface of one bridge. @throws ConsumerError `usage` for a URL that is none, or one that would show the token */
export function http(options: HttpOptions): ApprovalChannel {
  return httpOn(options, machineClock());
}

/**
 * The stream of a bridge, for a consumer without a broker: the same handlers, repeats and order; it connects again, with back-off, and goes on
 * behind what was handled. @throws ConsumerError `usage` for a URL that is none, or one that would show the token
 */
export function stream(options: StreamOptions): StreamConsumer {
  return streamOn(options, options.dispatcher ?? createDispatcher(options.handlers, options), machineClock());
}
