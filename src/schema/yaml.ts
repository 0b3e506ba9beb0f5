// YAML 1.2 text → plain data and faults with line and column, and back. Heavy: import it lazily.
import {
  type Document,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  visit,
  type YAMLError,
} from 'yaml';
import { messageOf } from '../errors.ts';
import { type Fault, type FileKind, formatPath, type Path } from './faults.ts';

interface ParsedYaml {
  /** Undefined if the text cannot be read. The last of duplicate keys counts, only for further checks. */
  readonly value: unknown;
  readonly faults: readonly Fault[];
}

/** Duplicate keys, tags, several documents and aliases that multiply are faults. */
export function parseYaml(text: string, kind: FileKind): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false, stringKeys: true });
  const problems = [...document.errors, ...document.warnings];
  const faults = problems.map((problem) => faultOf(problem, document, lines, kind));
  if (problems.some(({ code }) => code !== 'DUPLICATE_KEY')) return { value: undefined, faults };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), faults };
  } catch (error) {
    return {
      value: undefined,
      faults: [...faults, { path: '', message: `the ${kind} is not usable YAML: ${messageOf(error)}` }],
    };
  }
}

/** Returns plain JSON data as YAML without aliases and without a line end at its end. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();
}

function faultOf({ pos, code, message }: YAMLError, document: Document, lines: LineCounter, kind: FileKind): Fault {
  const { line, col } = lines.linePos(pos[0]);
  const place = `line ${line}, column ${col}`;
  if (code === 'DUPLICATE_KEY')
    return { path: formatPath(keysAt(document, pos[0])), message: `is a duplicate key, repeated at ${place}` };
  return {
    path: place,
    message: code === 'MULTIPLE_DOCS' ? `a second document begins here: a file holds one ${kind}` : message,
  };
}

/** Returns the path of the key at `offset`. */
function keysAt(document: Document, offset: number): Path {
  let keys: Path = [];
  visit(document, {
    Pair: (_, pair, ancestors) => {
      if (!isScalar(pair.key) || pair.key.range?.[0] !== offset) return undefined;
      keys = [...ancestors, pair].flatMap((node, index, nodes) => stepFrom(node, nodes[index + 1]));
      return visit.BREAK;
    },
  });
  return keys;
}

function stepFrom(node: Document | Node | Pair, next: Document | Node | Pair | undefined): Path {
  if (isSeq(node)) return [node.items.indexOf(next)];
  return isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [];
}
