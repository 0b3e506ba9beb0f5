// The JSON that a route takes → its request body in OpenAPI: plain, or also as a CloudEvent.
import { nearMissPattern } from '../../schema/near-misses.ts';
import { inHeader, named, object, optional, type SchemaNode } from './operation.ts';

const DESCRIPTION = 'At most 64 KiB, not compressed.';

export function jsonBody(schema: SchemaNode, example: SchemaNode, description: string = DESCRIPTION): SchemaNode {
  return { description, required: true, content: { 'application/json': { schema, example } } };
}

/** What an approver sends. The schema of the CloudEvent that carries it is called `name` with `Event` behind it. */
export function approverBody(name: string, schema: SchemaNode, example: SchemaNode): SchemaNode {
  const plain = named(name, schema);
  const event = { specversion: '1.0', id: '1', source: '/workflows/maintenance', type: 'com.example.answer' };
  return {
    description: DESCRIPTION,
    required: true,
    content: {
      'application/json': { schema: plain, example },
      'application/cloudevents+json': {
        schema: named(`${name}Event`, cloudEvent(plain)),
        examples: {
          data: { value: { ...event, data: example } },
          base64: { value: { ...event, data_base64: Buffer.from(JSON.stringify(example)).toString('base64') } },
        },
      },
    },
  };
}

/** In structured mode. Its other attributes are not needed. */
function cloudEvent(carried: SchemaNode): SchemaNode {
  const base64: SchemaNode = {
    type: 'string',
    contentEncoding: 'base64',
    contentMediaType: 'application/json',
    contentSchema: carried,
  };
  return {
    description: 'A CloudEvent in structured mode that carries the same in `data`, or as Base64 in `data_base64`.',
    ...object({ specversion: { const: '1.0' }, data: optional(carried), data_base64: optional(base64) }),
    oneOf: [{ required: ['data'] }, { required: ['data_base64'] }],
  };
}

/** A CloudEvent in binary mode has its attributes in headers. Without `ce-specversion` the body is plain JSON. */
export const BINARY_MODE: readonly SchemaNode[] = [
  inHeader('ce-specversion', 'Makes the request a CloudEvent in binary mode.', { const: '1.0' }),
  inHeader('ce-id', 'Not compared with anything.'),
  inHeader('ce-source', 'Not compared with anything: only the token or certificate says who approves.'),
  inHeader('ce-type', 'Any.'),
];

/**
 * Other keys are allowed, as some clients of the metadata service send them, unless they are misspellings of these or
 * of `misplaced`.
 */
export function keysOf(own: readonly string[], misplaced: readonly string[] = []): SchemaNode {
  return { anyOf: [{ enum: own }, { not: { pattern: [...own, ...misplaced].map(nearMissPattern).join('|') } }] };
}
