// The contract of sinks and sources at a broker or URL: the way of their messages, for AsyncAPI.
import type { Delivery } from '../src/model/deliveries.ts';

/** The place of messages, as in an AsyncAPI document. Contains no credential and no other secret. */
export interface ChannelPlace {
  /** AsyncAPI's name of the protocol: `kafka-secure`, `amqps`, `https`. */
  readonly protocol: string;
  /** `host` or `host:port`; at least one. */
  readonly hosts: readonly string[];
  /** Null if it may be a secret. */
  readonly address: string | null;
  /** For readers of the document. */
  readonly description: string;
  /** The bindings of the channel, if AsyncAPI defines any for the protocol. */
  readonly bindings?: object;
}

/** The form of a CloudEvent. `template`: a body in the user's own format. */
export type ContentMode = 'structured' | 'binary' | 'batch' | 'template';

/** The place and the form of a sink's CloudEvents. */
export interface SinkChannel extends ChannelPlace {
  readonly mode: ContentMode;
  /** In PascalCase, for titles: `Kafka`, `SignedWebhook`. Sinks with other headers have another form. */
  readonly form: string;
  /** The media type of the body. */
  readonly contentType: string;
  /** Whether the header with the media type counts as a header of the message. */
  readonly hasTypeHeader: boolean;
  /** In binary mode, the name of an attribute's header without the attribute. */
  readonly prefix: string;
  /** The other headers of every message, with their descriptions. */
  readonly otherHeaders: Readonly<Record<string, string>>;
  /** The bindings of each message, if AsyncAPI defines any for the protocol. */
  readonly messageBindings?: object;
  /** The bindings of sending, if AsyncAPI defines any for the protocol. */
  readonly operationBindings?: object;
  /** Returns the headers and the body of one delivery. Not called with mode `template`. */
  encode(delivery: EncodedEvent): { readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array };
}

/** The parts of a delivery from which its bytes are made. */
export type EncodedEvent = Pick<Delivery, 'id' | 'bytes' | 'partitionKey' | 'timeMs'>;
