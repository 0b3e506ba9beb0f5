// A change → the schemas of its CloudEvent: the attributes, the whole event, its headers.

import type { SinkChannel } from '../../adapters/channel.ts';
import approvalSchema from '../../docs/schemas/approval.v1.json' with { type: 'json' };
import changeSchema from '../../docs/schemas/change.v1.json' with { type: 'json' };
import sourceSchema from '../../docs/schemas/source.v1.json' with { type: 'json' };
import { DATA_CONTENT_TYPE } from '../cloudevents/binary.ts';
import type { SchemaNode } from '../http/openapi/operation.ts';
import type { ChangeName } from '../model/change-names.ts';
import { type Components, pascal } from './components.ts';

interface Attribute {
  readonly schema: SchemaNode;
  readonly isRequired: boolean;
}

const DATA: readonly { readonly title: string; readonly schema: SchemaNode }[] = [
  { title: 'ApprovalData', schema: approvalSchema },
  { title: 'SourceData', schema: sourceSchema },
  { title: 'ChangeData', schema: changeSchema },
];

/** Adds the schema of `data`, from docs/schemas. @returns a reference to it */
export function dataSchema(change: ChangeName, components: Components): SchemaNode {
  const [kind] = change.split('.');
  const { title, schema } =
    DATA.find((each) => each.title === `${pascal(kind ?? '')}Data`) ?? (DATA.at(-1) as (typeof DATA)[number]);
  return components.convert(schema, title);
}

/** Adds the schema of the CloudEvent in structured mode. @returns a reference to it */
export function eventSchema(change: ChangeName, typePrefix: string, components: Components): SchemaNode {
  const attributes = attributesOf(change, typePrefix, components);
  const properties = { ...schemasOf(attributes), data: dataSchema(change, components) };
  const title = `${pascal(change)}CloudEvent`;
  // Tells the classes of one channel apart: their members alone do not.
  const discriminator = 'type';
  return components.convert(
    { type: 'object', discriminator, required: [...requiredOf(attributes), 'data'], properties },
    title,
  );
}

/** Adds the schema of the headers in binary mode: each attribute as text. @returns a reference to it */
export function binaryHeaders(
  change: ChangeName,
  typePrefix: string,
  channel: SinkChannel,
  components: Components,
): SchemaNode {
  const { datacontenttype: _, ...attributes } = attributesOf(change, typePrefix, components);
  const named = Object.fromEntries(
    Object.entries(attributes).map(([name, { schema, isRequired }]) => [
      channel.prefix + name,
      { schema: asText(schema), isRequired },
    ]),
  );
  return headersSchema(named, channel, `${pascal(change)}${channel.form}Headers`, components);
}

/**
 * Adds the schema of the headers in the other modes.
 * @returns a reference to it, or null if a message has no headers
 */
export function plainHeaders(channel: SinkChannel, components: Components): SchemaNode | null {
  const { mode, form, hasTypeHeader, otherHeaders } = channel;
  if (!hasTypeHeader && Object.keys(otherHeaders).length === 0) return null;
  return headersSchema({}, channel, `${pascal(mode)}${form}Headers`, components);
}

function headersSchema(
  attributes: Readonly<Record<string, Attribute>>,
  channel: SinkChannel,
  title: string,
  components: Components,
): SchemaNode {
  const { mode, contentType, hasTypeHeader, otherHeaders } = channel;
  // Each template has its own media type, and all share one schema.
  const type: SchemaNode = { type: 'string', ...(mode !== 'template' && { const: contentType }) };
  const properties = {
    ...(hasTypeHeader && { 'content-type': type }),
    ...schemasOf(attributes),
    ...Object.fromEntries(
      Object.entries(otherHeaders).map(([name, description]) => [name, { type: 'string', description }]),
    ),
  };
  const optional = Object.keys(attributes).filter((name) => !attributes[name]?.isRequired);
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return components.convert({ type: 'object', required, properties }, title);
}

/** Returns all attributes that a CloudEvent of this change can have, in the order of its structured form. */
function attributesOf(
  change: ChangeName,
  typePrefix: string,
  components: Components,
): Readonly<Record<string, Attribute>> {
  const isSight = change.startsWith('source.');
  const schema = isSight ? 'source' : change.startsWith('approval.') ? 'approval' : 'change';
  const ofEvent = {
    correlationid: required(text('The event: the same on all its CloudEvents.', EID)),
    impact: optional(text('The EventType in lower case.', 'freeze', 'reboot', 'redeploy', 'preempt', 'terminate')),
    initiator: optional(text('The EventSource in lower case.', 'platform', 'user')),
    ...(change === 'ended' && { outcome: required(components.convert(changeSchema.properties.outcome, 'Outcome')) }),
    ...((change === 'scheduled' || change === 'updated') && {
      expirytime: optional(time('NotBefore, while it is in the future.')),
    }),
    drill: optional({ type: 'boolean', description: 'Only for a drill: the event is made up.', examples: [true] }),
  };
  const traceparent = optional(
    text(
      "The event's EventId as trace id, if it is a GUID.",
      '00-c7061bacafdc4513b24baa5f13a16123-e6e69a738fa3f503-01',
    ),
  );
  return {
    specversion: required({ type: 'string', const: '1.0' }),
    id: required(text('Together with source, the same for each repeat.', `${EID}:${change.replace('.', '-')}`)),
    source: required({
      ...text('The scope of the events.', '/subscriptions/S/resourcegroups/G'),
      format: 'uri-reference',
    }),
    type: required({ type: 'string', const: `${typePrefix}.${change}.v1` }),
    subject: required(
      text('The event; for source.*, scheduledevents.', isSight ? 'scheduledevents' : `scheduledevents/${EID}`),
    ),
    time: required(time('When the bridge saw the change.')),
    datacontenttype: required({ type: 'string', const: DATA_CONTENT_TYPE }),
    dataschema: required({
      ...text('The JSON Schema of data.', `https://scheduled-events-bridge.github.io/schemas/${schema}.v1.json`),
      format: 'uri',
    }),
    partitionkey: required(text('CloudEvents with the same key stay in order.', isSight ? 'westno_0' : EID)),
    ...(!isSight && ofEvent),
    severitynumber: required({ type: 'integer', description: 'As in OpenTelemetry.', examples: [9, 13, 17] }),
    severitytext: required(text('As in OpenTelemetry.', 'INFO', 'WARN', 'ERROR')),
    ...(!isSight && { traceparent }),
  };
}

const EID = 'c7061bac-afdc-4513-b24b-aa5f13a16123';

function text(description: string, ...examples: readonly string[]): SchemaNode {
  return { type: 'string', minLength: 1, description, examples };
}

function time(description: string): SchemaNode {
  return { type: 'string', format: 'date-time', description };
}

function required(schema: SchemaNode): Attribute {
  return { schema, isRequired: true };
}

function optional(schema: SchemaNode): Attribute {
  return { schema, isRequired: false };
}

/** Headers hold the canonical text of an attribute (CloudEvents 1.0.2, "Type System"). */
function asText(schema: SchemaNode): SchemaNode {
  const { type, examples, ...rest } = schema;
  if (type !== 'integer' && type !== 'boolean') return schema;
  return { ...rest, type: 'string', examples: (examples as readonly unknown[]).map(String) };
}

function schemasOf(attributes: Readonly<Record<string, Attribute>>): Record<string, SchemaNode> {
  return Object.fromEntries(Object.entries(attributes).map(([name, { schema }]) => [name, schema]));
}

function requiredOf(attributes: Readonly<Record<string, Attribute>>): readonly string[] {
  return Object.entries(attributes).flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
}
