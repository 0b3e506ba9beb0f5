// GET /v1/dead-letters, POST /v1/dead-letters/retry and /discard (behaviour 11.7).
import type { DeadLetter } from '../../model/deliveries.ts';
import type { DeadLetterPage, DeadLetterRange } from '../../model/operators.ts';
import { nextTurn } from '../../time/turn.ts';
import type { Access } from '../access.ts';
import { admitAdmin } from '../admin.ts';
import { admitWithBody } from '../admit-with-body.ts';
import { problem } from '../problem.ts';
import { numberIn, oneIn, strayIn } from '../query.ts';
import { json, type Reply, type Route, type RouteRequest } from '../route.ts';
import type { Operations, OperatorPorts } from './ports.ts';
import { unknownSink } from './sink-routes.ts';

/** Letters of one answer: without `?limit=`, and at most. */
const LIMIT = 100;
const MOST = 1000;
/** Read in one turn of the event loop, so that no poll waits for it: letters, and bytes of their CloudEvents. */
const IN_A_TURN = 100;
const BYTES_IN_A_TURN = 256 * 1024;
const ASKED = 'The body is {"sink": NAME, "ids": [CLOUDEVENT_ID, …]}, with 1 to 1000 ids and nothing else.';

export function deadLetterRoutes(ports: OperatorPorts, access: Access): readonly Route[] {
  const act = (what: 'retry' | 'discard'): Route => ({
    method: 'POST',
    path: `/v1/dead-letters/${what}`,
    handle: (request) => decide(what, request, ports, access),
  });
  return [{ method: 'GET', path: '/v1/dead-letters', handle: (request) => list(request, ports, access) }, act('retry'), act('discard')];
}

async function list(request: RouteRequest, { operations }: OperatorPorts, access: Access): Promise<Reply> {
  const refused = await access.refuseReading(request);
  if (refused !== null) return refused;
  const range = rangeIn(request.query);
  if (typeof range === 'string') return problem('bad-request', range);
  return await request.inTurn(async (signal) => json(200, await collect(range, operations, signal)));
}

async function collect(range: AskedRange, operations: Operations, signal: AbortSignal) {
  const items: DeadLetter[] = [];
  let next: number | null = range.after;
  while (next !== null && items.length < range.limit) {
    signal.throwIfAborted();
    const limit = Math.min(IN_A_TURN, range.limit - items.length);
    const page: DeadLetterPage = operations.deadLetters({ sink: range.sink, after: next, limit, maxBytes: BYTES_IN_A_TURN });
    items.push(...page.items);
    next = page.next;
    await new Promise<void>(nextTurn);
  }
  return { items, next };
}

async function decide(what: 'retry' | 'discard', request: RouteRequest, ports: OperatorPorts, access: Access): Promise<Reply> {
  const admitted = await admitWithBody(request, () => admitAdmin(request, ports, access));
  if ('reply' in admitted) return admitted.reply;
  const choice = choiceIn(admitted.value);
  if (choice === null) return problem('bad-request', ASKED);
  const result = ports.operations.decide(what, choice.sink, choice.ids, admitted.admin);
  if (result === null) return unknownSink();
  if (typeof result === 'number') return json(200, { count: result });
  const [first = ''] = result;
  const more = result.length === 1 ? '' : ` and ${result.length - 1} more`;
  return problem('no-dead-letter', `Nothing was done: ${JSON.stringify(first.slice(0, 200))}${more} is no dead letter of this sink now.`);
}

type AskedRange = Omit<DeadLetterRange, 'maxBytes'>;

function rangeIn(query: URLSearchParams): AskedRange | string {
  const stray = strayIn(query, ['sink', 'limit', 'after']);
  if (stray !== null) return stray;
  const sink = oneIn(query, 'sink');
  if (sink === null) return '?sink= is the name of a sink, once.';
  const limit = numberIn(query, 'limit', LIMIT);
  if (limit === null || limit < 1 || limit > MOST) return `?limit= is a number from 1 to ${MOST}, once.`;
  const after = numberIn(query, 'after', 0);
  if (after === null) return '?after= is the number that next gave in the answer before, once.';
  return { sink: sink ?? null, limit, after };
}

function choiceIn(value: unknown): { readonly sink: string; readonly ids: readonly string[] } | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { sink, ids, ...others } = value as Readonly<Record<string, unknown>>;
  if (!isName(sink) || !Array.isArray(ids) || Object.keys(others).length > 0) return null;
  if (ids.length < 1 || ids.length > MOST || !ids.every(isName)) return null;
  return { sink, ids: [...new Set(ids)] };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
