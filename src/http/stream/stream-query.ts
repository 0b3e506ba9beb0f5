// The query and headers of GET /v1/stream → a filter and the first position, or the problem.
import { compileGlobs, globFault, LONGEST_GLOB } from '../../conditions/globs.ts';
import { oneOf } from '../../conditions/matchers.ts';
import { CHANGE_NAMES } from '../../model/change-names.ts';
import { IMPACTS } from '../../model/events.ts';
import * as api from '../openapi/operation.ts';
import { LARGEST_POSITION, numberIn, oneIn, strayIn } from '../query.ts';
import type { Reply, RouteRequest } from '../route.ts';
import { problem } from '../route.ts';
import type { StreamFrame } from './stream-frames.ts';

/** It judges each CloudEvent by itself, so that a resumed stream is the same. */
export type StreamFilter = (frame: StreamFrame) => boolean;

interface StreamQuery {
  readonly filter: StreamFilter;
  /** The stream begins after this position; null: with the next CloudEvent that is committed. */
  readonly after: number | null;
  /** The newest CloudEvents of the listed events come first. */
  readonly isFromListed: boolean;
}

const PARAMETERS = ['changes', 'impacts', 'resources', 'after', 'begin'];
/** Matching so many with the names of one event takes some milliseconds at most. */
const MOST_GLOBS = 64;

export function streamQuery({
  query,
  headers,
}: Pick<RouteRequest, 'query' | 'headers'>): StreamQuery | { readonly reply: Reply } {
  const stray = strayIn(query, PARAMETERS);
  if (stray !== null) return { reply: problem('bad-request', stray) };
  const filter = filterIn(query);
  if (typeof filter === 'string') return { reply: problem('bad-request', filter) };
  const begin = oneIn(query, 'begin');
  if (begin !== undefined && (begin !== 'listed' || query.has('after')))
    return { reply: problem('bad-request', '?begin= takes listed, once, and not together with ?after=.') };
  const after = positionIn(query, headers['last-event-id']);
  if (after !== undefined) return { filter, after, isFromListed: begin !== undefined && after === null };
  return {
    reply: problem('position', 'Last-Event-ID and ?after= must be a position: the whole number of an id:, once.'),
  };
}

/** Last-Event-ID wins, as a browser keeps its first URL. Returns undefined if it is not a position. */
function positionIn(query: URLSearchParams, header: string | string[] | undefined): number | null | undefined {
  const given = String(header ?? '').trim();
  if (given !== '') return /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  return query.has('after') ? (numberIn(query, 'after', 0) ?? undefined) : null;
}

function filterIn(query: URLSearchParams): StreamFilter | string {
  const changes = valuesIn(query, 'changes');
  const impacts = valuesIn(query, 'impacts')?.map((impact) => impact.toLowerCase());
  const resources = valuesIn(query, 'resources');
  const words = [
    faultOf('changes', changes, CHANGE_NAMES),
    faultOf('impacts', impacts, IMPACTS),
    globsFault(resources),
  ];
  const fault = words.find((word) => word !== null);
  if (fault != null) return fault;
  const isChange = changes && oneOf(changes);
  const isImpact = impacts && oneOf(impacts);
  const isNamed = resources && compileGlobs(resources).any;
  return (frame) => {
    if (isChange && !isChange(frame.change)) return false;
    // As with the filter of a sink: events about the bridge itself are judged only by `changes`.
    if (frame.change.startsWith('source.')) return true;
    if (isImpact && !(frame.judged.impact !== null && isImpact(frame.judged.impact))) return false;
    return !isNamed || isNamed(frame.judged.resources);
  };
}

/** Values are separated by commas, or the parameter is repeated. Returns undefined without the parameter. */
function valuesIn(query: URLSearchParams, name: string): string[] | undefined {
  const given = query.getAll(name);
  return given.length === 0 ? undefined : given.flatMap((text) => text.split(',')).map((value) => value.trim());
}

function faultOf(name: string, values: readonly string[] | undefined, known: readonly string[]): string | null {
  const isKnown = oneOf(known);
  return values === undefined || values.every((value) => isKnown(value))
    ? null
    : `?${name}= takes ${known.join(', ')}, separated by commas.`;
}

function globsFault(globs: readonly string[] | undefined): string | null {
  if (globs === undefined) return null;
  if (globs.length > MOST_GLOBS || globs.some((glob) => glob === '' || glob.length > LONGEST_GLOB))
    return `?resources= takes 1 to ${MOST_GLOBS} globs of 1 to ${LONGEST_GLOB} characters, separated by commas.`;
  const fault = globs.map(globFault).find((words) => words !== null);
  return fault == null ? null : `A glob in ?resources= ${fault}.`;
}

function listInQuery(name: string, description: string, items: api.SchemaNode): api.SchemaNode {
  return { ...api.inQuery(name, description, { type: 'array', minItems: 1, items }), style: 'form', explode: false };
}

/** What `streamQuery` reads, for the OpenAPI document. */
export const STREAM_PARAMETERS: readonly api.SchemaNode[] = [
  listInQuery('changes', 'Which changes.', { enum: CHANGE_NAMES }),
  listInQuery('impacts', 'Which EventTypes, without case.', { enum: IMPACTS }),
  listInQuery('resources', 'Globs (`*` and `?` alone), without case; one name in Resources that matches is enough.', {
    ...{ ...api.id, maxLength: LONGEST_GLOB, pattern: '^[^!\\[\\]{}()\\\\][^\\[\\]{}()\\\\]*$' },
  }),
  api.inQuery('after', 'Begin after this position; 0: all that is kept. Without it: from now on.', {
    ...{ type: 'integer', minimum: 0, maximum: LARGEST_POSITION },
  }),
  api.inQuery(
    'begin',
    'First the newest `scheduled`, `updated` or `started` of each event that `/v1/events` lists, then what follows. Not with `after`.',
    { enum: ['listed'] },
  ),
  api.inHeader('Last-Event-ID', 'As `after`; it wins.', { pattern: '^\\d{1,15}$' }),
];
