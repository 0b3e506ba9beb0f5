// YAML 1.2 text → plain data and faults with line and column, and back. Heavy: import it lazily.
import {
  type Document,
  isPair,
  isScalar,
  isSeq,
  Lexer,
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

/** More than any file needs. The library takes much stack and memory for each level. */
const MOST_LEVELS = 100;
/** A file that is not YAML can have a fault at each of its characters. */
const MOST_PROBLEMS = 100;

/** Duplicate keys, tags, more than 100 levels, several documents and aliases that multiply are faults. */
export function parseYaml(text: string, kind: FileKind): ParsedYaml {
  const lines = new LineCounter();
  const deep = tooDeepAt(text);
  if (deep !== null) {
    const message = `is nested more than ${MOST_LEVELS} levels deep`;
    return { value: undefined, faults: [{ path: `line ${deep}`, message }] };
  }
  // The library compares each key with each other key of its mapping.
  const uniqueKeys = false;
  const options = { version: '1.2', lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys } as const;
  const document = withoutStacks(() => parseDocument(text, options));
  const found = [...document.errors, ...document.warnings].slice(0, MOST_PROBLEMS);
  const problems = found.map((problem) => faultOf(problem, lines, kind));
  const faults = [...duplicateKeys(document, lines), ...problems];
  if (problems.length > 0) return { value: undefined, faults };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), faults };
  } catch (error) {
    return {
      value: undefined,
      faults: [...faults, { path: '', message: `the ${kind} is not usable YAML: ${messageOf(error)}` }],
    };
  }
}

/**
 * Returns the line at which too many lists and mappings are open, or null. Reads the signs of the text alone: those of
 * flow collections, and those that begin levels of a block on one line.
 */
function tooDeepAt(text: string): number | null {
  let [line, open, begun] = [1, 0, 0];
  for (const sign of new Lexer().lex(text)) {
    if (sign === '[' || sign === '{') open += 1;
    else if (sign === ']' || sign === '}') open = Math.max(0, open - 1);
    else if (open === 0 && (sign === '-' || sign === '?' || sign === ':')) begun += 1;
    else if (sign.endsWith('\n')) {
      line += sign.split('\n').length - 1;
      begun = 0;
    }
    if (open > MOST_LEVELS || begun > MOST_LEVELS) return line;
  }
  return null;
}

/** The errors of the library take 4 KB each with their stacks, which nobody reads. */
function withoutStacks<T>(parse: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns plain JSON data as YAML without aliases and without a line end at its end. */
export function yamlText(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();
}

function faultOf({ pos, code, message }: YAMLError, lines: LineCounter, kind: FileKind): Fault {
  return {
    path: placeOf(pos[0], lines),
    message: code === 'MULTIPLE_DOCS' ? `a second document begins here: a file holds one ${kind}` : message,
  };
}

function placeOf(offset: number, lines: LineCounter): string {
  const { line, col } = lines.linePos(offset);
  return `line ${line}, column ${col}`;
}

/** Returns a fault for each key that its mapping has already. */
function duplicateKeys(document: Document, lines: LineCounter): readonly Fault[] {
  const faults: Fault[] = [];
  const seen = new Map<unknown, Set<unknown>>();
  visit(document, {
    Pair: (_, pair, ancestors) => {
      if (!isScalar(pair.key)) return;
      const mapping = ancestors.at(-1);
      const keys = seen.get(mapping) ?? new Set();
      seen.set(mapping, keys);
      if (keys.has(pair.key.value)) {
        const place = placeOf(pair.key.range?.[0] ?? 0, lines);
        const path = [...ancestors, pair].flatMap((node, index, nodes) => stepFrom(node, nodes[index + 1]));
        faults.push({ path: formatPath(path), message: `is a duplicate key, repeated at ${place}` });
      }
      keys.add(pair.key.value);
    },
  });
  return faults;
}

function stepFrom(node: Document | Node | Pair, next: Document | Node | Pair | undefined): Path {
  if (isSeq(node)) return [node.items.indexOf(next)];
  return isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [];
}
