// GET /v1/journal: what was published, by event and time, and its deliveries (behaviour 11.5).
import { toRfc3339 } from '../../formats/dates.ts';
import type { JournalItem, JournalPage, RunningView } from '../../model/operators.ts';
import { untilNextTurn } from '../../time/fair-queue.ts';
import * as api from '../openapi/operation.ts';
import { NEXT_PAGE, oneIn, type Page, pageIn, pageParameters, strayIn, timeIn } from '../query.ts';
import { type ApiRoute, problem, type Reply, type RouteRequest } from '../route.ts';
import { type OperatorActions, type OperatorPorts, RUNNING } from './sink-routes.ts';

/** Items of one answer. */
const MOST = 1000;
/** A page has at most so many bytes, but at least one item. */
const MOST_BYTES = 256 * 1024;
/** Items that are read in one turn of the event loop, so that polls go on. */
const IN_A_TURN = 100;
const COMMA = Buffer.from(',');

export function journalRoute({ operations }: Pick<OperatorPorts, 'operations'>): ApiRoute {
  return {
    method: 'GET',
    path: '/v1/journal',
    callers: 'readers',
    operation: LIST_JOURNAL,
    handle: (request) => readJournal(request, operations),
  };
}

async function readJournal(request: RouteRequest, operations: OperatorActions): Promise<Reply> {
  const range = rangeIn(request.query);
  if (typeof range === 'string') return problem('bad-request', range);
  return await request.inTurn(async (signal) => {
    const { items, next } = await collect(range, operations, signal);
    const body = Buffer.concat([Buffer.from('{"items":['), ...items, Buffer.from(`],"next":${next}}`)]);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
}

/** The items of a page with the commas between them. */
async function collect(
  range: AskedRange,
  operations: OperatorActions,
  signal: AbortSignal,
): Promise<{ items: Buffer[]; next: number | null }> {
  const page = new PageOfItems(range.limit, operations.running());
  for (let after: number | null = range.after; after !== null; ) {
    signal.throwIfAborted();
    // One item more than the limit shows if there is a next page.
    const limit = Math.min(IN_A_TURN, range.limit + 1 - page.count);
    const step: JournalPage = operations.journal({ ...range, after, limit, maxBytes: MOST_BYTES });
    for (const item of step.items) if (!page.add(item)) return { items: page.items, next: page.last };
    after = step.next;
    await untilNextTurn();
  }
  return { items: page.items, next: null };
}

class PageOfItems {
  readonly items: Buffer[] = [];
  count = 0;
  /** The position of the last item. */
  last = 0;
  readonly #limit: number;
  readonly #running: ReadonlyMap<number, RunningView>;
  #bytes = 0;

  constructor(limit: number, running: ReadonlyMap<number, RunningView>) {
    this.#limit = limit;
    this.#running = running;
  }

  /** Returns false if there is no room for the item. */
  add(item: JournalItem): boolean {
    const bytes = itemJson(item, this.#running);
    this.#bytes += bytes.byteLength + COMMA.byteLength;
    if (this.count > 0 && (this.count === this.#limit || this.#bytes > MOST_BYTES)) return false;
    if (this.count > 0) this.items.push(COMMA);
    this.items.push(bytes);
    this.count += 1;
    this.last = item.position;
    return true;
  }
}

/** The CloudEvent has the same bytes as in the journal. */
function itemJson(
  { position, atMs, bytes, deliveries }: JournalItem,
  running: ReadonlyMap<number, RunningView>,
): Buffer {
  const dated = deliveries.map(({ seq, atMs: sinceMs, ...delivery }) => ({
    ...delivery,
    at: toRfc3339(sinceMs),
    running: running.get(seq) ?? null,
  }));
  return Buffer.concat([
    Buffer.from(`{"position":${position},"at":"${toRfc3339(atMs)}","event":`),
    bytes,
    Buffer.from(`,"deliveries":${JSON.stringify(dated)}}`),
  ]);
}

interface AskedRange extends Page {
  readonly eventKey: string | null;
  readonly sinceMs: number;
  readonly untilMs: number;
}

function rangeIn(query: URLSearchParams): AskedRange | string {
  const stray = strayIn(query, ['event', 'since', 'until', 'limit', 'after']);
  if (stray !== null) return stray;
  const event = oneIn(query, 'event');
  if (event === null) return '?event= is an EventId, once.';
  const sinceMs = timeIn(query, 'since', 0);
  const untilMs = timeIn(query, 'until', Number.POSITIVE_INFINITY);
  if (sinceMs === null || untilMs === null)
    return '?since= and ?until= are times as in RFC 3339, such as 2026-01-01T00:00:00.000Z, once.';
  const page = pageIn(query, MOST);
  return typeof page === 'string' ? page : { eventKey: event?.toLowerCase() ?? null, sinceMs, untilMs, ...page };
}

const DELIVERY = api.shape('JournalDelivery', {
  sink: api.id,
  state: api.DELIVERY_STATE,
  attempts: api.count,
  at: { ...api.time, description: 'When it reached this state.' },
  status: api.LAST_STATUS,
  running: {
    ...api.orNull(api.object(RUNNING)),
    description: 'The work in progress on it, if the sink is of type command or kubernetes.',
  },
});

const ITEM = api.shape('JournalItem', {
  position: { type: 'integer', minimum: 1 },
  at: api.time,
  event: { type: 'object', description: 'The structured CloudEvent.' },
  deliveries: api.list(DELIVERY),
});

const LIST_JOURNAL: api.ApiOperation = {
  operationId: 'listJournal',
  tag: 'operation',
  summary: 'Lists what was published, the oldest first, with its delivery to each sink.',
  description: 'A page has at most 256 KiB, but at least one item.',
  parameters: [
    api.inQuery('event', 'An EventId; its letter case does not count.', api.id),
    api.inQuery('since', 'From this time on, by `at`.', api.time),
    api.inQuery('until', 'Before this time, by `at`.', api.time),
    ...pageParameters(MOST),
  ],
  answers: {
    200: api.jsonAnswer(
      'A page of the journal.',
      api.shape('JournalPage', { items: api.list(ITEM), next: NEXT_PAGE }),
      {
        items: [
          {
            position: 7,
            at: '2026-01-01T00:00:00.000Z',
            event: {
              specversion: '1.0',
              id: `${api.EXAMPLE_ID.toLowerCase()}:scheduled`,
              source: '/vm',
              type: 'scheduled.v1',
              data: {},
            },
            deliveries: [
              {
                sink: 'hooks',
                state: 'delivered',
                attempts: 1,
                status: null,
                at: '2026-01-01T00:00:00.010Z',
                running: null,
              },
            ],
          },
        ],
        next: null,
      },
    ),
  },
};
