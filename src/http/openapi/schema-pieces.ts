// Pieces of schema that requests and answers share: texts, times, counts, objects and lists.
import type { Node } from './node.ts';

export const text: Node = { type: 'string' };
export const id: Node = { type: 'string', minLength: 1 };
export const names: Node = { type: 'array', items: id };
export const time: Node = { type: 'string', format: 'date-time' };
export const timeOrNull: Node = { type: ['string', 'null'], format: 'date-time' };
export const textOrNull: Node = { type: ['string', 'null'] };
export const count: Node = { type: 'integer', minimum: 0 };

/** All of its members are there, unless `optional` says otherwise. */
export function object(properties: Node, optional: readonly string[] = []): Node {
  return { type: 'object', required: Object.keys(properties).filter((name) => !optional.includes(name)), properties };
}

export function list(schema: string): Node {
  return { type: 'array', items: { $ref: `#/components/schemas/${schema}` } };
}
