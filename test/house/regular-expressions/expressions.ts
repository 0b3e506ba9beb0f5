// The sources → their regular expressions: literals, and where others are made at run time.
import { globSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { nodesOf, type Tree } from '../syntax-tree.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Methods that make a regular expression of a text. */
const OF_TEXTS = ['match', 'matchAll', 'search'];

export interface Expression {
  readonly source: string;
  readonly flags: string;
  /** `src/net/own-host.ts:6` */
  readonly place: string;
}

export interface SourceExpressions {
  readonly path: string;
  readonly literals: readonly Expression[];
  /** Places at which one is made at run time. */
  readonly made: readonly string[];
}

/** Of each file of src/ and adapters/ that has one; also of those that run in a browser. */
export function expressionsInSources(): readonly SourceExpressions[] {
  return globSync(['src/**/*.{ts,js}', 'adapters/**/*.ts'], { cwd: ROOT })
    .map((path) => read(normalize(path)))
    .filter(({ literals, made }) => literals.length + made.length > 0)
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

function read(path: string): SourceExpressions {
  const literals: Expression[] = [];
  const made: string[] = [];
  for (const node of nodesOf(path)) {
    const place = `${path}:${node.loc?.start.line}`;
    const regex = node['regex'] as { readonly pattern: string; readonly flags: string } | undefined;
    if (node.type === 'Literal' && regex) literals.push({ source: regex.pattern, flags: regex.flags, place });
    if (isMade(node)) made.push(place);
  }
  return { path, literals, made };
}

/** `new RegExp(…)`, `RegExp(…)`, or `text.match('…')`, which makes one of a text. */
function isMade(node: Tree): boolean {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
  const callee = node['callee'] as Tree;
  if (callee['name'] === 'RegExp') return true;
  const [argument] = node['arguments'] as readonly Tree[];
  const method = String((callee['property'] as Tree | undefined)?.['name']);
  const isText =
    argument?.type === 'TemplateLiteral' || (argument?.type === 'Literal' && typeof argument['value'] === 'string');
  return OF_TEXTS.includes(method) && isText;
}
