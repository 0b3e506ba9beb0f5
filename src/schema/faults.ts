// Schema issues → faults of a file, with path and hint, without values.
import { closest, distance } from 'fastest-levenshtein';
import type * as v from 'valibot';
import { visibleLine } from '../formats/visible-text.ts';

/** Keys and list positions from the top of the file. */
export type Path = readonly (string | number)[];

/** The name of the file in faults: `configuration`, `scenario`, `event`. */
export type FileKind = string | 'body';

/** One fault of a file. Never quotes a value of the file, which might be a misplaced secret. */
export interface Fault {
  /**
   * `sinks.audit.url`, `approvals.approvers.orders.tokens[0]`; `line 3, column 5` if the file is not valid YAML; empty
   * for the whole file.
   */
  readonly path: string;
  readonly message: string;
  readonly allowed?: string;
  /** A spelling that was probably meant. */
  readonly suggestion?: string;
}

/** A fault in the value of one key of a sink's or source's options. */
export interface OptionFault {
  /** The path of the key within the options: `url`, `headers.authorization`. */
  readonly key: string;
  /** Says what is wrong and what to do, without the value. */
  readonly message: string;
}

/** `['tokens', 0]` → `tokens[0]`. */
export function formatPath(path: Path): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');
}

/** Returns one readable line. */
export function formatFault({ path, message, allowed, suggestion }: Fault): string {
  const hints = [allowed === undefined ? '' : ` (allowed: ${allowed})`, didYouMean(suggestion)];
  return visibleLine(`${path === '' ? '' : `${path}: `}${message}${hints.join('')}`);
}

/** Returns a fault for an unknown key, with the known ones. */
export function unknownKey(path: Path, known: readonly string[], kind: FileKind): Fault {
  const suggestion = nearest(String(path.at(-1)), known);
  return {
    path: formatPath(path),
    message: `is not a key of the ${kind}`,
    allowed: known.join(', '),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** Returns the candidate that `text` probably misspells, without case. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const [wanted, known] = [text.toLowerCase(), candidates.map((candidate) => candidate.toLowerCase())];
  const best = closest(wanted, known);
  return distance(wanted, best) <= Math.max(1, Math.floor(best.length / 3))
    ? candidates[known.indexOf(best)]
    : undefined;
}

/** Returns `; did you mean Mon?` for the end of a message, or nothing. */
export function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
}

/** Returns a schema's issue as a fault. */
export function faultOf(issue: v.BaseIssue<unknown>, path: Path): Fault {
  const at = formatPath(path);
  const isTyped = issue.kind !== 'schema';
  if (issue.input === undefined) return { path: at, message: 'is missing' };
  if (!issue.message.startsWith('Invalid ')) return { path: at, message: issue.message };
  if (isTyped) return { path: at, message: breach(issue) };
  if (issue.input === null) return { path: at, message: 'is empty: set a value or remove the key' };
  const options = optionsOf(issue.expected);
  if (options === null)
    return {
      path: at,
      message: `must be ${NOUNS[issue.expected ?? ''] ?? 'something else'}, not ${nounOf(issue.input)}`,
    };
  const suggestion = typeof issue.input === 'string' ? nearest(issue.input, options) : undefined;
  return {
    path: at,
    message: 'is not an allowed value',
    allowed: options.join(', '),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a mapping',
  '(string | null)': 'a text or empty',
};

function nounOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null
    ? 'empty'
    : typeof value === 'object'
      ? 'a mapping'
      : typeof value === 'string'
        ? 'a text'
        : `a ${typeof value}`;
}

/**
 * Returns the members of `("all" | "own")`, nested ones too; null if the schema expects a type instead of fixed values.
 */
function optionsOf(expected: string | null): string[] | null {
  const members = expected?.replaceAll(/[()]/g, '').split(' | ') ?? [];
  const isLiteral = members.every((member) => /^(".*"|-?\d+)$/.test(member));
  return isLiteral && members.length > 0 ? members.map((member) => member.replace(/^"|"$/g, '')) : null;
}

/** Returns the message for a failed check, if the schema has none. */
function breach(issue: v.BaseIssue<unknown>): string {
  const { type, requirement } = issue;
  if (type === 'integer' || type === 'safe_integer') return 'must be a whole number';
  if (type === 'min_value') return `must be at least ${String(requirement)}`;
  if (type === 'max_value') return `must be at most ${String(requirement)}`;
  if (type === 'non_empty' || (type === 'min_length' && requirement === 1)) return 'must not be empty';
  if (type === 'min_length') return `must have a length of at least ${String(requirement)}`;
  if (type === 'max_length') return `must have a length of at most ${String(requirement)}`;
  if (type === 'url') return 'must be a URL';
  if (type === 'regex') return `must match ${String(requirement)}`;
  return 'is not valid';
}
