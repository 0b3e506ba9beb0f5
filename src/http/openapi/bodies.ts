// Approvers' request bodies → OpenAPI: plain JSON, or a structured or binary CloudEvent.
import type { Node } from './node.ts';

/** `name` is of a schema and, with `Event` behind it, of the CloudEvent that carries it. */
export function requestBody(name: string, example: Node): Node {
  const event = { specversion: '1.0', id: '1', source: '/workflows/maintenance', type: 'com.example.answer' };
  return {
    description: 'At most 64 KiB, not compressed.',
    required: true,
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${name}` }, example },
      'application/cloudevents+json': {
        schema: { $ref: `#/components/schemas/${name}Event` },
        examples: {
          data: { value: { ...event, data: example } },
          base64: { value: { ...event, data_base64: Buffer.from(JSON.stringify(example)).toString('base64') } },
        },
      },
    },
  };
}

/** A CloudEvent in binary mode: its attributes beside the plain body. Without `ce-specversion` the body is no CloudEvent, and that is fine too. */
export const BINARY_MODE: readonly Node[] = [
  attribute('ce-specversion', 'Makes the request a CloudEvent in binary mode.', { const: '1.0' }),
  attribute('ce-id', 'Not compared with anything.'),
  attribute('ce-source', 'Not compared with anything: who approves is told by the token alone.'),
  attribute('ce-type', 'Any.'),
];

function attribute(name: string, description: string, schema: Node = {}): Node {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } };
}
