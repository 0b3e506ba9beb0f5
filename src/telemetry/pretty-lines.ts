// A log line of JSON → one for people. Heavy: import it lazily.
// The bundle gives a package imported lazily as `default` alone; imported from here it keeps its names.
import { prettyFactory } from 'pino-pretty';
import { isObject } from '../formats/json-object.ts';
import { visible, visibleLine } from '../formats/visible-text.ts';

/** What the library prints as it is, in front of a line; all else it prints as JSON, but for stacks. */
const RAW = ['level', 'time', 'pid', 'hostname', 'name', 'caller', 'msg'];
/** Its colours. */
const COLOUR = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);

/** @returns what turns one line into another, in colours. Whatever stands in it, it is one line, or a stack behind it. */
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

/** Its own line ends stay: those before a place in the code. */
function visibleStack(stack: string): string {
  return stack
    .split(/\n(?= {4}at )/)
    .map(visibleLine)
    .join('\n');
}
