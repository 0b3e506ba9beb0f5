// GET /v1/journal: what was published, by event and time, and what became of it (behaviour 11.5).
import { toRfc3339 } from '../../formats/dates.ts';
import type { JournalItem, JournalRange } from '../../model/operators.ts';
import { nextTurn } from '../../time/turn.ts';
import type { Access } from '../access.ts';
import { problem } from '../problem.ts';
import { numberIn, oneIn, strayIn, timeIn } from '../query.ts';
import type { Reply, Route, RouteRequest } from '../route.ts';
import type { Operations, OperatorPorts } from './ports.ts';

/** Items of one answer: without `?limit=`, and at most. */
const LIMIT = 100;
const MOST = 1000;
/** Read in one turn of the event loop, so that no poll waits for it. */
const IN_A_TURN = 100;
/** A page ends early once its CloudEvents have so many bytes. */
const ENOUGH_BYTES = 4 * 1024 * 1024;

export function journalRoute({ operations }: Pick<OperatorPorts, 'operations'>, access: Access): Route {
  return { method: 'GET', path: '/v1/journal', handle: (request) => tell(request, operations, access) };
}

async function tell(request: RouteRequest, operations: Operations, access: Access): Promise<Reply> {
  const refused = await access.refuseReading(request);
  if (refused !== null) return refused;
  const range = rangeIn(request.query);
  if (typeof range === 'string') return problem('bad-request', range);
  const { items, next } = await collect(range, operations);
  const body = `{"items":[${items.map(itemJson).join(',')}],"next":${next}}`;
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** One more than the limit is looked for, which says whether there is a next page. */
async function collect(range: JournalRange, operations: Operations): Promise<{ items: readonly JournalItem[]; next: number | null }> {
  const items: JournalItem[] = [];
  let bytes = 0;
  for (let after: number | null = range.after; after !== null; ) {
    const page = operations.journal({ ...range, after, limit: Math.min(IN_A_TURN, range.limit + 1 - items.length) });
    for (const item of page.items) {
      const last = items.at(-1);
      if (last !== undefined && (items.length === range.limit || bytes > ENOUGH_BYTES)) return { items, next: last.position };
      items.push(item);
      bytes += item.bytes.byteLength;
    }
    after = page.next;
    if (after !== null) await new Promise<void>(nextTurn);
  }
  return { items, next: null };
}

/** The CloudEvent goes in as the journal has it. */
function itemJson({ position, atMs, bytes, deliveries }: JournalItem): string {
  const told = deliveries.map(({ atMs: sinceMs, ...delivery }) => ({ ...delivery, at: toRfc3339(sinceMs) }));
  const event = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return `{"position":${position},"at":"${toRfc3339(atMs)}","event":${event},"deliveries":${JSON.stringify(told)}}`;
}

function rangeIn(query: URLSearchParams): JournalRange | string {
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
