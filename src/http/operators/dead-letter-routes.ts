// GET /v1/dead-letters, POST /v1/dead-letters/retry and /discard (behaviour 11.7).
import * as v from 'valibot';
import type { DeadLetter } from '../../model/deliveries.ts';
import type { DeadLetterPage } from '../../model/operators.ts';
import { untilNextTurn } from '../../time/fair-queue.ts';
import { jsonBody } from '../openapi/bodies.ts';
import * as api from '../openapi/operation.ts';
import { NEXT_PAGE, oneIn, type Page, pageIn, pageParameters, strayIn } from '../query.ts';
import { type ApiRoute, type ApproverRequest, json, problem, type Reply, type RouteRequest } from '../route.ts';
import { noSuchSink, type OperatorActions, type OperatorPorts } from './sink-routes.ts';

/** Letters in one answer or request. */
const MOST = 1000;
/** Read in one turn of the event loop, so that polls go on: dead letters, and bytes of their CloudEvents. */
const IN_A_TURN = 100;
const BYTES_IN_A_TURN = 256 * 1024;
const ASKED = 'The body is {"sink": NAME, "ids": [CLOUDEVENT_ID, …]}, with 1 to 1000 ids and nothing else.';

export function deadLetterRoutes(ports: OperatorPorts): readonly ApiRoute[] {
  const act = (what: 'retry' | 'discard'): ApiRoute => ({
    method: 'POST',
    path: `/v1/dead-letters/${what}`,
    callers: 'admins',
    operation: DECIDE[what],
    handle: (request) => decide(what, request, ports),
  });
  return [
    {
      method: 'GET',
      path: '/v1/dead-letters',
      callers: 'readers',
      operation: LIST_DEAD_LETTERS,
      handle: (request) => listLetters(request, ports),
    },
    act('retry'),
    act('discard'),
  ];
}

async function listLetters(request: RouteRequest, { operations }: OperatorPorts): Promise<Reply> {
  const range = rangeIn(request.query);
  if (typeof range === 'string') return problem('bad-request', range);
  return await request.inTurn(async (signal) => json(200, await collect(range, operations, signal)));
}

async function collect(range: AskedRange, operations: OperatorActions, signal: AbortSignal) {
  const items: DeadLetter[] = [];
  let next: number | null = range.after;
  while (next !== null && items.length < range.limit) {
    signal.throwIfAborted();
    const limit = Math.min(IN_A_TURN, range.limit - items.length);
    const page: DeadLetterPage = operations.deadLetters({
      sink: range.sink,
      after: next,
      limit,
      maxBytes: BYTES_IN_A_TURN,
    });
    items.push(...page.items);
    next = page.next;
    await untilNextTurn();
  }
  return { items, next };
}

const name = v.pipe(v.string(), v.minLength(1));
const ids = v.pipe(v.array(name), v.minLength(1), v.maxLength(MOST), v.description('Ids of CloudEvents.'));
const choice = v.strictObject({ sink: name, ids });

function decide(what: 'retry' | 'discard', { value, origin }: ApproverRequest, ports: OperatorPorts): Reply {
  const { success, output } = v.safeParse(choice, value);
  if (!success) return problem('bad-request', ASKED);
  const result = ports.operations.decide(what, output.sink, [...new Set(output.ids)], origin.approver);
  if (result === null) return noSuchSink();
  if (typeof result === 'number') return json(200, { count: result });
  const [first = ''] = result;
  const more = result.length === 1 ? '' : ` and ${result.length - 1} more`;
  return problem(
    'no-dead-letter',
    `Nothing was done: ${JSON.stringify(first.slice(0, 200))}${more} is not a dead letter of this sink.`,
  );
}

interface AskedRange extends Page {
  readonly sink: string | null;
}

function rangeIn(query: URLSearchParams): AskedRange | string {
  const stray = strayIn(query, ['sink', 'limit', 'after']);
  if (stray !== null) return stray;
  const sink = oneIn(query, 'sink');
  if (sink === null) return '?sink= is the name of a sink, once.';
  const page = pageIn(query, MOST);
  return typeof page === 'string' ? page : { sink: sink ?? null, ...page };
}

const DEAD_LETTER = api.shape('DeadLetter', {
  ...{
    id: api.id,
    eventId: api.textOrNull,
    eventType: api.textOrNull,
    resources: api.names,
    sink: api.id,
    type: api.id,
  },
  reason: { enum: ['refused', 'expired', 'sink removed'] },
  ...{ status: api.LAST_STATUS, attempts: api.count, at: api.time },
});

const LIST_DEAD_LETTERS: api.ApiOperation = {
  operationId: 'listDeadLetters',
  tag: 'operation',
  summary: 'Lists deliveries that were given up, in the order in which they were queued.',
  parameters: [api.inQuery('sink', 'Only those of this sink.', api.id), ...pageParameters(MOST)],
  answers: {
    200: api.jsonAnswer(
      'A page of them.',
      api.shape('DeadLetters', { items: api.list(DEAD_LETTER), next: NEXT_PAGE }),
      {
        items: [
          {
            ...{
              id: `${api.EXAMPLE_ID.toLowerCase()}:scheduled`,
              eventId: api.EXAMPLE_ID,
              eventType: 'Reboot',
              resources: ['web_0'],
              sink: 'hooks',
              type: 'scheduled.v1',
            },
            ...{ reason: 'refused', status: 400, attempts: 1, at: '2026-01-01T00:00:00Z' },
          },
        ],
        next: null,
      },
    ),
  },
};

const CHOICE = api.named('DeadLetterChoice', choice);
const COUNT = api.shape('Count', { count: api.count });

function deciding(operationId: string, summary: string): api.ApiOperation {
  return {
    ...{ operationId, tag: 'operation', summary },
    description: 'For approvers with `admin: true`. All of them, or none.',
    requestBody: jsonBody(CHOICE, { sink: 'hooks', ids: [`${api.EXAMPLE_ID.toLowerCase()}:scheduled`] }),
    answers: { 200: api.jsonAnswer('How many.', COUNT, { count: 1 }) },
    problems: ['unknown-sink', 'no-dead-letter'],
  };
}

const DECIDE = {
  retry: deciding('retryDeadLetters', 'Queues dead letters again, behind what is queued.'),
  discard: deciding('discardDeadLetters', 'Removes dead letters for good.'),
};
