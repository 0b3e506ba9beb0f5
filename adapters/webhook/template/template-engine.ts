// Liquid text → a template and the variables it uses. Loads liquidjs: import it lazily.
import { CaptureTag, type Context, Liquid, type Template as Parsed } from 'liquidjs';
import {
  escapeJsonString,
  escapeSlack,
  FilterFault,
  formatDate,
  textOf,
  toJson,
  truncate,
} from './template-filters.ts';

export interface Template {
  /** Renders the template. @param scope plain data; inherited members are not accessible */
  render(scope: Readonly<Record<string, unknown>>): Rendered;
  /** The variables that the template uses, with their lines. */
  readonly variables: readonly Variable[];
}

/** A fault is a readable clause without values and without text of the template. */
export type Rendered = { readonly text: string } | { readonly fault: string };

export interface Variable {
  /** `data`, `eventId`; ends before the first part that depends on another variable or an index. */
  readonly path: readonly string[];
  readonly line: number;
}

/**
 * In array elements and characters, as counted by liquidjs. Its time limit is not used: a machine that is frozen for
 * maintenance would exceed it.
 */
const MEMORY_LIMIT = 1_000_000;

/** Without those that read files (include, render, layout, block) or write HTML (tablerow). */
const TAGS = new Set('# assign break capture case comment continue cycle echo for if liquid raw unless'.split(' '));

/** Without those that draw at random (sample), read a clock, or take an expression from a text. */
const FILTERS = new Set(
  [
    'append base64_encode capitalize downcase escape escape_once lstrip prepend remove remove_first remove_last replace replace_first',
    'replace_last rstrip sha256 slice split strip strip_newlines truncatewords upcase url_encode',
    'abs at_least at_most ceil divided_by floor minus modulo plus round times',
    'compact concat find first has join last map reject reverse size sort sort_natural sum uniq where',
    'default raw',
  ].flatMap((names) => names.split(' ')),
);

/** Contexts inside `capture`, with their depth: captured text is escaped only at output. */
const capturing = new WeakMap<Context, number>();

class Capture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const depth = capturing.get(context) ?? 0;
    capturing.set(context, depth + 1);
    yield* super.render(context);
    capturing.set(context, depth);
  }
}

/**
 * Compiles a template.
 * @param json whether each output is escaped for a JSON string, unless its last filter is `raw` or `json`
 */
export function compile(text: string, json: boolean): Template | { readonly fault: string } {
  const liquid = engine(json);
  try {
    const parsed = liquid.parse(text);
    return { render: (scope) => render(liquid, parsed, scope), variables: variablesOf(liquid, parsed) };
  } catch (error) {
    return { fault: `is not valid Liquid: ${faultOf(error)}` };
  }
}

function render(liquid: Liquid, parsed: Parsed[], scope: Readonly<Record<string, unknown>>): Rendered {
  try {
    return { text: String(liquid.renderSync(parsed, scope)) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

function engine(json: boolean): Liquid {
  const liquid = new Liquid({
    // An empty folder in memory: nothing is ever read from the disk.
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    locale: 'en-US',
    memoryLimit: MEMORY_LIMIT,
    outputEscape: function (this: { readonly context: Context }, value: unknown): string {
      return json && !capturing.get(this.context) ? escapeJsonString(value) : textOf(value);
    },
  });
  for (const name of Object.keys(liquid.filters)) if (!FILTERS.has(name)) liquid.unregisterFilter(name);
  for (const name of Object.keys(liquid.tags)) if (!TAGS.has(name)) delete liquid.tags[name];
  liquid.registerTag('capture', Capture);
  liquid.registerFilter('date', formatDate);
  liquid.registerFilter('json', { handler: toJson, raw: true });
  liquid.registerFilter('slack', escapeSlack);
  liquid.registerFilter('truncate', truncate);
  return liquid;
}

function variablesOf(liquid: Liquid, parsed: Parsed[]): Variable[] {
  const { globals } = liquid.analyzeSync(parsed, { partials: false });
  return Object.values(globals)
    .flat()
    .map(({ segments, location }) => {
      const end = segments.findIndex((segment) => typeof segment !== 'string');
      const path = (end === -1 ? segments : segments.slice(0, end)).map(String);
      return { path, line: location.row };
    });
}

/**
 * Returns the fault. liquidjs quotes the template, which may contain a secret: only names of filters and tags are
 * repeated.
 */
function faultOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const [, words = message, line, column] = /^(.*), line:(\d+), col:(\d+)$/s.exec(message) ?? [];
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
  const cause = error instanceof Error && 'originalError' in error ? error.originalError : undefined;
  if (cause instanceof FilterFault) return `${cause.message}${place}`;
  const filter = /^undefined filter: ([\w-]{1,40})$/.exec(words)?.[1];
  if (filter !== undefined) return `the filter ${filter} does not exist${place}`;
  const tag = /^tag "([\w-]{1,40})" not found$/.exec(words)?.[1];
  if (tag !== undefined) return `the tag ${tag} does not exist${place}`;
  if (/not closed/.test(words)) return `a tag or an output that begins here is not closed${place}`;
  if (/limit exceeded/.test(words)) return `it creates lists or texts that are too large${place}`;
  return `it cannot be parsed or rendered${place}`;
}
