// The configured sinks → their channels, with a message for each CloudEvent type that passes.
import type { EncodedEvent, SinkChannel } from '../../adapters/channel.ts';
import type { Config, SinkConfig } from '../config/config.ts';
import type { SchemaNode } from '../http/openapi/operation.ts';
import { CHANGE_NAMES, type ChangeName } from '../model/change-names.ts';
import type { JournalEntry } from '../model/events.ts';
import { type Components, pascal } from './components.ts';
import { binaryHeaders, dataSchema, eventSchema, plainHeaders } from './envelope.ts';
import { type DocumentPart, endpointPart } from './parts.ts';

/** The parts of a document that its channels share. */
export interface DocumentContext {
  readonly typePrefix: string;
  readonly components: Components;
  /** A sample of each CloudEvent type. */
  readonly samples: readonly JournalEntry[];
}

/** Returns a part for each sink that sends to a broker or URL. The key of its channel is the sink's name. */
export function sinkParts(sinks: Config['sinks'], context: DocumentContext): readonly DocumentPart[] {
  return Object.entries(sinks).flatMap(([name, sink]) => {
    const channel = sink.adapter.channel?.(sink.options);
    return channel === undefined ? [] : [sinkPart(name, sink, channel, context)];
  });
}

function sinkPart(name: string, { filter }: SinkConfig, channel: SinkChannel, context: DocumentContext): DocumentPart {
  const changes = filter.changes ?? CHANGE_NAMES;
  const messages = changes.map((change) => [pascal(change), messageOf(change, changes, channel, context)] as const);
  return endpointPart(channel, {
    channel: name,
    server: `sink-${name}`,
    operation: `send.${name}`,
    action: 'send',
    summary: `Sends CloudEvents to the sink ${name}.`,
    messages: Object.fromEntries(messages),
    operationBindings: channel.operationBindings,
  });
}

function messageOf(
  change: ChangeName,
  changes: readonly ChangeName[],
  channel: SinkChannel,
  context: DocumentContext,
): SchemaNode {
  const { typePrefix, components, samples } = context;
  const { mode, contentType, messageBindings } = channel;
  const headers =
    mode === 'binary' ? binaryHeaders(change, typePrefix, channel, components) : plainHeaders(channel, components);
  const sample = samples.find((entry) => entry.change === change);
  return {
    ...nameOf(change, mode === 'structured' ? '' : pascal(mode)),
    contentType,
    ...(headers && { headers }),
    payload: payloadOf(change, changes, mode, context),
    ...(messageBindings && { bindings: messageBindings }),
    ...(sample && mode !== 'template' && { examples: [exampleOf(sample, channel)] }),
  };
}

/** Returns the members of a message that name it. */
export function nameOf(change: ChangeName, suffix = ''): SchemaNode {
  return { name: `${pascal(change)}${suffix}`, title: pascal(change), summary: SUMMARIES[change] };
}

const SUMMARIES: Readonly<Record<ChangeName, string>> = {
  scheduled: 'An event was announced: prepare, then approve.',
  updated: 'The content of an event changed: look at it again.',
  started: 'An event starts now.',
  ended: 'An event has ended: recover.',
  'approval.recorded': 'An approver said yes.',
  'approval.submitted': 'The metadata service accepted the approval.',
  'approval.failed': 'An approval was rejected, became void or was given up.',
  'source.blind': 'The bridge lost sight of the metadata service.',
  'source.restored': 'The bridge sees the metadata service again.',
};

function payloadOf(
  change: ChangeName,
  changes: readonly ChangeName[],
  mode: SinkChannel['mode'],
  context: DocumentContext,
): SchemaNode {
  const { typePrefix, components } = context;
  if (mode === 'template') return { description: 'Any: the template of the sink decides.' };
  if (mode === 'binary') return dataSchema(change, components);
  if (mode === 'structured') return eventSchema(change, typePrefix, components);
  const members = CHANGE_NAMES.filter((name) => changes.includes(name)).map((name) =>
    eventSchema(name, typePrefix, components),
  );
  return {
    type: 'array',
    minItems: 1,
    items: { oneOf: members },
    contains: eventSchema(change, typePrefix, components),
  };
}

function exampleOf(sample: EncodedEvent, channel: SinkChannel): SchemaNode {
  const { headers, body } = channel.encode(sample);
  const own = Object.entries(headers).filter(([name]) => channel.hasTypeHeader || name !== 'content-type');
  // Signatures are missing: they need a secret.
  const isWhole = Object.keys(channel.otherHeaders).every((name) => name in headers);
  return {
    name: 'sample',
    ...(own.length > 0 && isWhole && { headers: Object.fromEntries(own) }),
    payload: JSON.parse(Buffer.from(body).toString()) as unknown,
  };
}
