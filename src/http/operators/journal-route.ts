// GET /v1/journal: what was published, by event and time, and what became of it (behaviour 11.5).
import { toRfc3339 } from '../../formats/dates.ts';
import type { JournalItem, JournalPage, JournalRange } from '../../model/operators.ts';
import { nextTurn } from '../../time/turn.ts';
import type { Access } from '../access.ts';
import { problem } from '../problem.ts';
import { numberIn, oneIn, strayIn, timeIn } from '../query.ts';
import type { Reply, Route, RouteRequest } from '../route.ts';
import type { Operations, OperatorPorts } from './ports.ts';

/** Items of one answer: without `?limit=`, and at most. */
const LIMIT = 100;
const MOST = 1000;
/** A page ends before it has more bytes, but has one item at least. */
const MOST_BYTES = 256 * 1024;
/** Items that are read in one turn of the event loop, so that no poll waits for it. */
const IN_A_TURN = 100;
const COMMA = Buffer.from(',');

export function journalRoute({ operations }: Pick<OperatorPorts, 'operations'>, access: Access): Route {
  return { method: 'GET', path: '/v1/journal', handle: (request) => tell(request, operations, access) };
}

async function tell(request: RouteRequest, operations: Operations, access: Access): Promise<Reply> {
  const refused = await access.refuseReading(request);
  if (refused !== null) return refused;
  const range = rangeIn(request.query);
  if (typeof range === 'string') return problem('bad-request', range);
  return await request.inTurn(async (signal) => {
    const { items, next } = await collect(range, operations, signal);
    const body = Buffer.concat([Buffer.from('{"items":['), ...items, Buffer.from(`],"next":${next}}`)]);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
}

/** The items of a page with the commas between them. */
async function collect(range: AskedRange, operations: Operations, signal: AbortSignal): Promise<{ items: Buffer[]; next: number | null }> {
  const page = new Page(range.limit);
  for (let after: number | null = range.after; after !== null; ) {
    signal.throwIfAborted();
    // One more than the limit is looked for, which says whether there is a next page.
    const limit = Math.min(IN_A_TURN, range.limit + 1 - page.count);
    const step: JournalPage = operations.journal({ ...range, after, limit, maxBytes: MOST_BYTES });
    for (const item of step.items) if (!page.add(item)) return { items: page.items, next: page.last };
    after = step.next;
    await new Promise<void>(nextTurn);
  }
  return { items: page.items, next: null };
}

class Page {
  readonly items: Buffer[] = [];
  count = 0;
  /** The position of the last item. */
  last = 0;
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False: the page is full without it. */
  add(item: JournalItem): boolean {
    const bytes = itemJson(item);
    this.#bytes += bytes.byteLength + COMMA.byteLength;
    if (this.count > 0 && (this.count === this.#limit || this.#bytes > MOST_BYTES)) return false;
    if (this.count > 0) this.items.push(COMMA);
    this.items.push(bytes);
    this.count += 1;
    this.last = item.position;
    return true;
  }
}

/** The CloudEvent goes in as the journal has it. */
function itemJson({ position, atMs, bytes, deliveries }: JournalItem): Buffer {
  const told = deliveries.map(({ atMs: sinceMs, ...delivery }) => ({ ...delivery, at: toRfc3339(sinceMs) }));
  return Buffer.concat([
    Buffer.from(`{"position":${position},"at":"${toRfc3339(atMs)}","event":`),
    bytes,
    Buffer.from(`,"deliveries":${JSON.stringify(told)}}`),
  ]);
}

type AskedRange = Omit<JournalRange, 'maxBytes'>;

function rangeIn(query: URLSearchParams): AskedRange | string {
  const stray = strayIn(query, ['event', 'since', 'until', 'limit', 'after']);
  if (stray !== null) return stray;
  const event = oneIn(query, 'event');
  if (event === null) return '?event= is an EventId, once.';
  const sinceMs = timeIn(query, 'since', 0);
  const untilMs = timeIn(query, 'until', Number.POSITIVE_INFINITY);
  if (sinceMs === null || untilMs === null) return '?since= and ?until= are times as in RFC 3339, such as 2026-01-01T00:00:00.000Z, once.';
  const limit = numberIn(query, 'limit', LIMIT);
  if (limit === null || limit < 1 || limit > MOST) return `?limit= is a number from 1 to ${MOST}, once.`;
  const after = numberIn(query, 'after', 0);
  if (after === null) return '?after= is the number that next gave in the answer before, once.';
  return { eventKey: event?.toLowerCase() ?? null, sinceMs, untilMs, limit, after };
}
