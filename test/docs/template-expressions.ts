// Values of an ARM template → its expressions, each taken apart into calls with their arguments.

export interface Call {
  readonly name: string;
  /** As written. */
  readonly args: readonly string[];
}

export interface Expression {
  /** Where it stands: `resources.0.name`. */
  readonly path: string;
  readonly text: string;
  readonly calls: readonly Call[];
}

/** Every text that the service would evaluate. @throws Error for one whose quotes or brackets are not balanced */
export function expressionsOf(value: unknown, path: readonly string[] = []): readonly Expression[] {
  if (typeof value === 'string') {
    if (!value.startsWith('[') || value.startsWith('[[')) return [];
    const calls: Call[] = [];
    const end = readTerm(value, 1, calls);
    if (end !== value.length - 1 || value[end] !== ']')
      throw new Error(`${path.join('.')}: ends at ${end} of ${value}`);
    return [{ path: path.join('.'), text: value, calls }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => expressionsOf(member, [...path, key]));
}

const LITERAL = /'(?:[^']|'')*'|-?\d+|[A-Za-z]\w*/y;
const MEMBER = /\.[A-Za-z]\w*/y;

/** A literal, or a call with what is read of its result. @returns where it ends */
function readTerm(text: string, start: number, calls: Call[]): number {
  const [word = ''] = matchAt(LITERAL, text, start) ?? [];
  if (word === '') throw new Error(`no term at ${start} of ${text}`);
  let at = start + word.length;
  if (/^['\d-]/.test(word)) return at;
  if (text[at] !== '(') throw new Error(`${word} is not called, at ${at} of ${text}`);
  const args: string[] = [];
  at += 1;
  while (text[at] !== ')') {
    const end = readTerm(text, at, calls);
    args.push(text.slice(at, end));
    at = text.startsWith(', ', end) ? end + 2 : end;
    if (at === end && text[end] !== ')') throw new Error(`neither a comma nor a bracket at ${end} of ${text}`);
  }
  at += 1;
  for (let member = matchAt(MEMBER, text, at); member; member = matchAt(MEMBER, text, at)) at += member[0].length;
  calls.push({ name: word, args });
  return at;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
