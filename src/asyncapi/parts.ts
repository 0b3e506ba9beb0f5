// A server, channel and operation of one endpoint → the parts of an AsyncAPI 3.1 document.
import type { ChannelPlace } from '../../adapters/channel.ts';
import type { SchemaNode } from '../http/openapi/operation.ts';

/** What one endpoint adds to the document, each by its key. */
export interface DocumentPart {
  readonly servers: Readonly<Record<string, SchemaNode>>;
  readonly channels: Readonly<Record<string, SchemaNode>>;
  readonly operations: Readonly<Record<string, SchemaNode>>;
}

/** An endpoint at a broker or URL. */
export interface DescribedEndpoint {
  /** The key of its channel. */
  readonly channel: string;
  /** The prefix of the keys of its servers. */
  readonly server: string;
  readonly operation: string;
  readonly action: 'send' | 'receive';
  readonly summary: string;
  readonly messages: Readonly<Record<string, SchemaNode>>;
  readonly operationBindings?: object | undefined;
}

/** Returns the part of an endpoint: one server for each host. */
export function endpointPart(place: ChannelPlace, parts: DescribedEndpoint): DocumentPart {
  const { protocol, hosts, address, description, bindings } = place;
  const { channel, server, operation, action, summary, messages, operationBindings } = parts;
  const servers = hosts.map(
    (host, index) => [hosts.length === 1 ? server : `${server}-${index + 1}`, { host, protocol }] as const,
  );
  const references = servers.map(([key]) => ({ $ref: `#/servers/${key}` }));
  return {
    servers: Object.fromEntries(servers),
    channels: { [channel]: { address, description, servers: references, messages, ...(bindings && { bindings }) } },
    operations: {
      [operation]: {
        action,
        channel: { $ref: `#/channels/${channel}` },
        summary,
        ...(operationBindings && { bindings: operationBindings }),
      },
    },
  };
}
