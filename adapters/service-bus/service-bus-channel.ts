// The options of a Service Bus sink or source → the place and form of its messages, for AsyncAPI.
import type { ChannelPlace, SinkChannel } from '../channel.ts';
import { namespaceOf, type ServiceBusConnectionOptions } from './options/connection-options.ts';
import { showEndpoint } from './options/connection-string.ts';
import { type EntityOptions, entityOf, type ServiceBusOptions } from './options/service-bus-options.ts';
import { busMessageEncoder, MESSAGE_CONTENT_TYPES, PREFIXES } from './sink/message-encoder.ts';

/** Returns the queue or topic and its namespace. @param options with open secrets, without faults */
export function serviceBusPlace(options: ServiceBusConnectionOptions & EntityOptions): ChannelPlace {
  const { endpoint, isEmulator } = namespaceOf(options);
  const { kind, path } = entityOf(options);
  return {
    protocol: isEmulator ? 'amqp' : 'amqps',
    hosts: [showEndpoint(endpoint)],
    address: path,
    description: `The Service Bus ${kind} ${path}, by AMQP 1.0.`,
  };
}

/** Returns the queue or topic, and the form of its messages. @param options as in `serviceBusPlace` */
export function serviceBusChannel(options: ServiceBusOptions): SinkChannel {
  const { mode, sessions, attributePrefix } = options;
  const place = serviceBusPlace(options);
  const key = sessions ? 'session id' : 'partition key';
  return {
    ...place,
    description: `${place.description} The message id is the CloudEvent's id, the subject its type, the ${key} its partitionkey.`,
    mode,
    form: attributePrefix === 'colon' ? 'ServiceBusColon' : 'ServiceBus',
    contentType: MESSAGE_CONTENT_TYPES[mode],
    hasTypeHeader: false,
    prefix: PREFIXES[attributePrefix],
    otherHeaders: {},
    encode: (delivery) => {
      // The time to live is not among the headers.
      const { applicationProperties = {}, body } = busMessageEncoder(options, '', { wallMs: () => delivery.timeMs })(
        delivery,
      );
      return { headers: applicationProperties as Readonly<Record<string, string>>, body: body as Uint8Array };
    },
  };
}
