// Pieces of an OpenAPI document: the type of a node, shared examples, a JSON answer.

/** An object of the document, as OpenAPI 3.1 names its members. */
export interface Node {
  readonly [name: string]: unknown;
}

export const EXAMPLE_ID = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';

/** An answer in JSON of a schema under `components`. */
export function jsonResponse(description: string, schema: string, example: unknown): Node {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } } };
}

export const EVENT_ID_PARAMETER: Node = {
  name: 'eventId',
  in: 'path',
  required: true,
  description: 'An EventId; its letter case does not count.',
  schema: { type: 'string', minLength: 1, maxLength: 256 },
  example: EXAMPLE_ID,
};
