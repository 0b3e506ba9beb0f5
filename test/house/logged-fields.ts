// The sources → the fields of log lines, and calls whose fields cannot be read from them.
import { globSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { nodesIn, nodesOf, type Tree } from './syntax-tree.ts';

const ROOT = join(import.meta.dirname, '../..');
const METHODS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'child'];

export interface LoggedFields {
  /** By name, each with a file that logs it. */
  readonly fields: ReadonlyMap<string, string>;
  /** `file: expression kind` of what is handed to a logger from elsewhere. */
  readonly unread: readonly string[];
}

/** Of all calls of a logger in src/ and adapters/. */
export function loggedFields(): LoggedFields {
  const fields = new Map<string, string>();
  const unread = new Set<string>();
  for (const path of globSync(['src/**/*.ts', 'adapters/**/*.ts'], { cwd: ROOT }).map(normalize)) {
    const nodes = nodesOf(path);
    for (const node of nodes.filter(isLogged)) {
      const [given] = node['arguments'] as readonly Tree[];
      if (given) for (const name of namesIn(given, nodes, () => unread.add(path))) fields.set(name, path);
    }
  }
  return { fields, unread: [...unread].sort() };
}

/** `….logger.info(…)`, `logger[level](…)`, `parent.child(…)`. */
function isLogged(node: Tree): boolean {
  if (node.type !== 'CallExpression') return false;
  const callee = node['callee'] as Tree;
  if (callee.type !== 'MemberExpression') return false;
  const receiver = callee['object'] as Tree;
  const name = nameOf((receiver['property'] as Tree | undefined) ?? receiver);
  const isLogger = /logger$/i.test(name) || (name === 'parent' && nameOf(callee['property'] as Tree) === 'child');
  return isLogger && (callee['computed'] === true || METHODS.includes(nameOf(callee['property'] as Tree)));
}

function nameOf(node: Tree): string {
  return String(node['name'] ?? node['value'] ?? '');
}

/** Keys of the object that the expression gives, as far as its own file shows them; else `onUnread`. */
function namesIn(expression: Tree, nodes: readonly Tree[], onUnread: () => void): readonly string[] {
  const within = (part: unknown) => namesIn(part as Tree, nodes, onUnread);
  if (expression.type === 'Literal' || expression.type === 'TemplateLiteral') return [];
  if (expression.type === 'ObjectExpression') {
    const properties = expression['properties'] as readonly Tree[];
    return properties.flatMap((each) => {
      if (each.type === 'SpreadElement') return within(each['argument']);
      return each['computed'] === true ? within(each['key']) : [nameOf(each['key'] as Tree)];
    });
  }
  if (expression.type === 'LogicalExpression') return within(expression['right']);
  if (expression.type === 'ConditionalExpression')
    return [...within(expression['consequent']), ...within(expression['alternate'])];
  const sources = sourcesOf(expression, nodes);
  if (sources.length === 0) onUnread();
  return sources.flatMap(within);
}

/** What a variable begins with, or a function of the file returns. */
function sourcesOf(expression: Tree, nodes: readonly Tree[]): readonly Tree[] {
  if (expression.type === 'Identifier') {
    const declared = nodes.filter(
      (node) => node.type === 'VariableDeclarator' && nameOf(node['id'] as Tree) === nameOf(expression),
    );
    return declared.flatMap((node) =>
      (node['init'] as Tree | null)?.type === 'ObjectExpression' ? [node['init'] as Tree] : [],
    );
  }
  if (expression.type !== 'CallExpression') return [];
  const name = nameOf(expression['callee'] as Tree);
  const functions = nodes.filter((node) => node.type === 'FunctionDeclaration' && nameOf(node['id'] as Tree) === name);
  const returns = functions.flatMap(nodesIn).filter((node) => node.type === 'ReturnStatement');
  return returns.flatMap((node) => (node['argument'] ? [node['argument'] as Tree] : []));
}
