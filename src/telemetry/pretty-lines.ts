// A log line in JSON → a readable line. Heavy: import it lazily.
// In the bundle, a lazily imported package has only `default`; imported from here, it keeps its names.
import { prettyFactory } from 'pino-pretty';
import { isObject } from '../formats/json-object.ts';
import { visible, visibleLine } from '../formats/visible-text.ts';

/** Fields that the library prints unescaped at the start of a line; it prints other fields as JSON, except stacks. */
const RAW = ['level', 'time', 'pid', 'hostname', 'name', 'caller', 'msg'];
/** The library's colours. */
const COLOUR = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);

/** @returns a function that formats one line in colours; the result is always one line, or one line and a stack */
export function prettyLines(): (line: string) => string {
  const pretty = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  return (line) => {
    const parts = pretty(JSON.stringify(JSON.parse(line, readable))).split(COLOUR);
    return parts.map((part, index) => (index % 2 === 1 ? part : visible(part))).join('');
  };
}

function readable(key: string, value: unknown): unknown {
  if (key === '' && isObject(value)) return withVisible(value, RAW);
  return key === 'stack' && typeof value === 'string' ? visibleStack(value) : value;
}

function withVisible(line: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const seen = names.flatMap((name) => (typeof line[name] === 'string' ? [[name, visibleLine(line[name])]] : []));
  return { ...line, ...Object.fromEntries(seen) };
}

/** Keeps only the line ends of the stack itself, before each place in the code. */
function visibleStack(stack: string): string {
  return stack
    .split(/\n(?= {4}at )/)
    .map(visibleLine)
    .join('\n');
}
