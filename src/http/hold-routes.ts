// POST /v1/holds, DELETE /v1/holds/EVENT_ID and /v1/holds/* (behaviour 8.8, 8.23).
import { parseHold } from '../approvals/requests/hold-requests.ts';
import { parseInstant } from '../formats/dates.ts';
import { ALL_EVENTS } from '../model/approvals.ts';
import { approverBody, BINARY_MODE, keysOf } from './openapi/bodies.ts';
import * as api from './openapi/operation.ts';
import { type ApiRoute, type ApproverRequest, json, NO_CONTENT, problem, type Reply } from './route.ts';
import { type ApprovalRoutePorts, ready, refusedReply } from './served-approvals.ts';

export function holdRoutes(ports: ApprovalRoutePorts): readonly ApiRoute[] {
  return [
    { ...HOLD_ROUTE, handle: (request: ApproverRequest) => hold(request, ports) },
    { ...RELEASE_ROUTE, handle: (request: ApproverRequest) => release(request, ports) },
  ];
}

async function hold({ value, readmit }: ApproverRequest, ports: ApprovalRoutePorts): Promise<Reply> {
  const hold = parseHold(value);
  const isOfAll = typeof hold !== 'string' && hold.eventId === ALL_EVENTS;
  // A hold of everything waits for no answer before it stands.
  if (typeof hold !== 'string' && !isOfAll) await ports.approvals()?.answered(hold.eventId);
  // The wait may take 2 s, in which a right may be revoked.
  const origin = await readmit();
  if ('reply' in origin) return origin.reply;
  const approvals = ready(ports);
  const answer = isOfAll ? await approvals.holdAll(origin, hold.reason) : approvals.hold(origin, value);
  return answer.kind === 'refusal' ? refusedReply(answer) : json(answer.status, answer.hold);
}

async function release({ params, query, readmit }: ApproverRequest, ports: ApprovalRoutePorts): Promise<Reply> {
  const holders = query.getAll('approver');
  if (holders.length > 1 || holders[0] === '')
    return problem('bad-request', 'Name one approver in ?approver=NAME, or leave it out: then it is your own hold.');
  const [before, ...more] = query.getAll('before');
  const beforeMs = before === undefined ? null : parseInstant(before);
  if (more.length > 0 || (before !== undefined && beforeMs === null))
    return problem(
      'bad-request',
      'Give ?before= one time as in RFC 3339, such as 2026-01-01T00:00:00.000Z, or leave it out.',
    );
  const eventId = params['eventId'] ?? '';
  const isOfAll = eventId === ALL_EVENTS;
  if (!isOfAll) await ports.approvals()?.answered(eventId);
  const origin = await readmit();
  if ('reply' in origin) return origin.reply;
  const [holder, approvals] = [holders[0] ?? null, ready(ports)];
  const answer = isOfAll
    ? approvals.releaseAll(origin, holder, beforeMs)
    : approvals.release(origin, eventId, holder, beforeMs);
  return answer.kind === 'refusal' ? refusedReply(answer) : NO_CONTENT;
}

const REASON = 'a backup runs until 14:00';

export const HOLD = api.shape('Hold', {
  approver: api.id,
  reason: api.textOrNull,
  at: { ...api.time, description: 'When this reason was given.' },
  all: api.optional({
    const: true,
    description: 'The hold of everything has set it, and only its release ends it. Absent for any other hold.',
  }),
  replaced: api.optional({
    description: 'Absent if the reason is the first one.',
    ...api.object({ times: { type: 'integer', minimum: 1 }, since: api.time }),
  }),
});

export const HOLD_REQUEST: api.SchemaNode = {
  propertyNames: keysOf(['EventId', 'reason']),
  ...api.object({
    EventId: { ...api.id, maxLength: 256, description: '`*` is a hold of everything, for admins only.' },
    reason: api.optional({ ...api.textOrNull, maxLength: 1000, description: 'For people: it is shown with the hold.' }),
  }),
};

const HOLD_EVENT: api.ApiOperation = {
  operationId: 'hold',
  tag: 'approvals',
  summary: 'Holds an event: the bridge submits nothing for it until the hold is released.',
  description:
    'One hold for each approver, kept over restarts; a second one replaces the reason. If a StartRequest is under way, the answer waits for it, at most 2 s. A hold does not stop Azure: it starts the event at its NotBefore. With the EventId `*`, an admin holds everything: every event, known or to come, also drills. There is one such hold; it stands at once, and a second one replaces it.',
  parameters: BINARY_MODE,
  requestBody: approverBody('HoldRequest', HOLD_REQUEST, { EventId: api.EXAMPLE_ID, reason: REASON }),
  answers: {
    201: api.jsonAnswer(
      'The event is held. All its holds.',
      api.shape('Holds', {
        eventId: api.id,
        holds: api.list(HOLD),
        submitting: api.optional({
          ...api.names,
          description:
            'Only for a hold of everything: the events with a StartRequest that was sent before, and whose answer is missing. Azure may have accepted it.',
        }),
      }),
      {
        eventId: api.EXAMPLE_ID,
        holds: [{ approver: 'orders', reason: REASON, at: '2026-01-01T00:00:00.000Z' }],
      },
    ),
  },
  problems: ['unknown', 'ended', 'started', 'submitted', 'submitting', 'forbidden', 'not-admin', 'scope'],
};

const RELEASE: api.ApiOperation = {
  operationId: 'release',
  tag: 'approvals',
  summary: 'Releases a hold: your own if you have one; otherwise, for an admin, all holds of the event.',
  description: 'With the EventId `*`, an admin releases the hold of everything, also of another admin.',
  parameters: [
    api.EVENT_ID_IN_PATH,
    api.inQuery('approver', 'Whose hold. Only an admin may release the hold of another approver.', {
      ...api.id,
      maxLength: 256,
    }),
    api.inQuery(
      'before',
      'Only holds set at this time or before; a client that repeats a release sends the time of its first try.',
      api.time,
    ),
  ],
  answers: {
    204: {
      description: 'The hold is released. After the last hold, the bridge submits what has been decided by that time.',
    },
  },
  problems: ['unknown', 'not-held', 'ended', 'started', 'changed', 'forbidden', 'not-admin'],
};

export const HOLD_ROUTE = { method: 'POST', path: '/v1/holds', callers: 'approvers', operation: HOLD_EVENT } as const;
export const RELEASE_ROUTE = {
  method: 'DELETE',
  path: '/v1/holds/:eventId',
  callers: 'approvers',
  operation: RELEASE,
} as const;
