// What a route says of itself → its type, and the pieces of schema that routes share.
import type { GenericSchema } from 'valibot';
import type { ProblemType } from '../../model/problems.ts';

/** An object of the document, as OpenAPI 3.1 or JSON Schema names its members. */
export interface SchemaNode {
  readonly [name: string]: unknown;
}

/** A message alone is refused as `old`. */
export type DocumentedProblem = Exclude<ProblemType, 'old'>;

/** What the OpenAPI document says of a route. Its callers, its body and its path bring further problems with them. */
export interface ApiOperation {
  readonly operationId: string;
  readonly tag: 'health' | 'events' | 'approvals' | 'operation';
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly SchemaNode[];
  readonly requestBody?: SchemaNode;
  /** By status. */
  readonly answers: Readonly<Record<number, SchemaNode>>;
  readonly problems?: readonly DocumentedProblem[];
}

export const EXAMPLE_ID = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';

export const text: SchemaNode = { type: 'string' };
export const id: SchemaNode = { type: 'string', minLength: 1 };
export const names: SchemaNode = { type: 'array', items: id };
export const time: SchemaNode = { type: 'string', format: 'date-time' };
export const timeOrNull: SchemaNode = { type: ['string', 'null'], format: 'date-time' };
export const textOrNull: SchemaNode = { type: ['string', 'null'] };
export const count: SchemaNode = { type: 'integer', minimum: 0 };

const OPTIONAL = Symbol('optional');

export function optional(schema: SchemaNode): SchemaNode {
  return { ...schema, [OPTIONAL]: true };
}

/** All members are required unless they are `optional`. Answers may get new members, so an object is not closed. */
export function object(properties: Readonly<Record<string, SchemaNode>>): SchemaNode {
  const required = Object.entries(properties).flatMap(([name, schema]) => (OPTIONAL in schema ? [] : [name]));
  return { type: 'object', required, properties };
}

export function list(items: SchemaNode): SchemaNode {
  return { type: 'array', items };
}

export function orNull(schema: SchemaNode): SchemaNode {
  return { anyOf: [{ type: 'null' }, schema] };
}

const DEFINITION = Symbol('definition');

/** Returns a reference to a schema that the document has to list under `components`. */
export function named(name: string, schema: SchemaNode | GenericSchema): SchemaNode {
  return Object.freeze({ $ref: `#/components/schemas/${name}`, [DEFINITION]: schema });
}

/** An object that the document lists under `components`. */
export function shape(name: string, properties: Readonly<Record<string, SchemaNode>>): SchemaNode {
  return named(name, object(properties));
}

/** Returns what `named` was given, or undefined if the node is not such a reference. */
export function definitionOf(node: object): SchemaNode | GenericSchema | undefined {
  return (node as { readonly [DEFINITION]?: SchemaNode | GenericSchema })[DEFINITION];
}

/** `/v1/holds/:eventId` → `/v1/holds/{eventId}`. */
export function templateOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? `{${segment.slice(1)}}` : segment))
    .join('/');
}

export function jsonAnswer(description: string, schema: SchemaNode, example: unknown): SchemaNode {
  return { description, content: { 'application/json': { schema, example } } };
}

export function inPath(name: string, description: string, schema: SchemaNode = {}, example?: string): SchemaNode {
  return { name, in: 'path', required: true, description, schema: { ...id, ...schema }, ...(example && { example }) };
}

export function inQuery(name: string, description: string, schema: SchemaNode): SchemaNode {
  return { name, in: 'query', required: false, description, schema };
}

export function inHeader(name: string, description: string, schema: SchemaNode = {}): SchemaNode {
  return { name, in: 'header', required: false, description, schema: { ...text, ...schema } };
}

export const EVENT_ID_IN_PATH = inPath(
  'eventId',
  'An EventId; its letter case does not count.',
  { maxLength: 256 },
  EXAMPLE_ID,
);

/** Of a delivery that failed. */
export const DELIVERY_STATE: SchemaNode = { enum: ['queued', 'delivered', 'dead', 'discarded'] };

export const LAST_STATUS: SchemaNode = {
  type: ['integer', 'string', 'null'],
  description: 'The last failure at the other side, if any: an HTTP status or a code.',
};
