// A source file → the nodes of its syntax tree.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Node, parse } from 'acorn';

const ROOT = join(import.meta.dirname, '../..');

export type Tree = Node & Readonly<Record<string, unknown>>;

/** Returns every node of the file in the order of the source, each before its parts. */
export function nodesOf(path: string): readonly Tree[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const script = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  return nodesIn(parse(script, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, locations: true }));
}

/** Returns the node and every node within it. */
export function nodesIn(part: unknown): readonly Tree[] {
  if (Array.isArray(part)) return part.flatMap(nodesIn);
  if (typeof part !== 'object' || part === null || !('type' in part)) return [];
  return [part as Tree, ...Object.values(part).flatMap(nodesIn)];
}
