// GET /v1/stream: CloudEvents as they are committed, as Server-Sent Events (behaviour 11.4).
import { type Callers, foreignPage, isFromElsewhere } from '../callers.ts';
import * as api from '../openapi/operation.ts';
import type { ApiRoute, Reply, RouteRequest } from '../route.ts';
import { problem } from '../route.ts';
import { STREAM_PARAMETERS, streamQuery } from './stream-query.ts';
import { MOST_OF_ONE, MOST_READERS, type Streams } from './streams.ts';

/** Seconds after which a rejected reader should connect again. */
const RETRY_AFTER = { 'retry-after': '5' };

export interface StreamPorts {
  readonly streams: Pick<Streams, 'newest' | 'pruned' | 'listed' | 'open' | 'roomFor' | 'isClosed'>;
}

export function streamRoute({ streams }: StreamPorts, callers: Callers): ApiRoute {
  return {
    ...STREAM_ROUTE,
    handle: (request: RouteRequest) => stream(request, streams, callers),
  };
}

async function stream(request: RouteRequest, streams: StreamPorts['streams'], callers: Callers): Promise<Reply> {
  // At a loopback address no token is needed, and a page of another origin could use up all places.
  if (isFromElsewhere(request)) return foreignPage();
  const asked = streamQuery(request);
  if ('reply' in asked) return asked.reply;
  const newest = streams.newest();
  const after = asked.after ?? newest;
  if (after > newest)
    return problem('position', `The newest position is ${newest}: connect without a position, or with ?after=0.`);
  if (after > 0 && after < streams.pruned())
    return problem(
      'pruned',
      'CloudEvents after this position were pruned. Connect with ?after=0 for all that is kept, or without a position.',
    );
  const listed = asked.isFromListed ? streams.listed() : null;
  if (asked.isFromListed && listed === null)
    return problem(
      'unavailable',
      'It is not known yet if the stored events are of this VM; connect again.',
      RETRY_AFTER,
    );
  const isStillAllowed = provedBy(request) ? () => isAllowed(request, callers) : null;
  const caller = isStillAllowed === null ? null : await callers.readerOf(request);
  const share = caller === null ? '' : `${caller.kind} ${caller.name}`;
  return {
    status: 200,
    // A proxy that buffers answers would delay events.
    headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', 'journal-position': String(after) },
    body: null,
    stream: {
      refusal: () => refusal(streams, share),
      begin: (answer) =>
        streams.open(answer, { ...asked, position: after, ...(listed && { listed }), isStillAllowed, share }),
    },
  };
}

function refusal(streams: StreamPorts['streams'], share: string): Reply | null {
  if (streams.isClosed) return problem('unavailable', 'The bridge is stopping; connect again.', RETRY_AFTER);
  const room = streams.roomFor(share);
  if (room === 'free') return null;
  const who = share === '' ? 'The group of all callers without a token' : 'This caller';
  const why =
    room === 'full'
      ? `There are ${MOST_READERS} readers, which is the limit. Retry later.`
      : `${who} has ${MOST_OF_ONE} streams open, which is the limit. Close some of them.`;
  return problem('too-many-readers', why, RETRY_AFTER);
}

function provedBy({ headers, certificate }: RouteRequest): boolean {
  return headers.authorization !== undefined || certificate() !== null;
}

/** A proof that cannot be judged now does not end the stream. */
async function isAllowed({ headers, address, certificate }: RouteRequest, callers: Callers): Promise<boolean> {
  const refused = await callers.refuseReading({ headers, address, certificate });
  return refused === null || refused.status === 503;
}

const STREAM: api.ApiOperation = {
  operationId: 'stream',
  tag: 'events',
  summary: 'Sends CloudEvents as they are committed, as Server-Sent Events.',
  description:
    '`id:` is the position in the journal, `event:` the change, `data:` the structured CloudEvent. A comment comes every 15 s. The bridge closes the connection if its socket takes nothing while 1 MiB is due. The reader then connects again with `Last-Event-ID`.',
  parameters: STREAM_PARAMETERS,
  answers: {
    200: {
      description: 'A stream that does not end by itself.',
      headers: {
        'Journal-Position': {
          description: 'It begins after this one, except for what `begin=listed` gives first.',
          required: true,
          schema: api.count,
        },
      },
      content: { 'text/event-stream': { schema: api.text } },
    },
  },
  problems: ['foreign-page', 'position', 'pruned', 'too-many-readers'],
};

export const STREAM_ROUTE = { method: 'GET', path: '/v1/stream', callers: 'readers', operation: STREAM } as const;
