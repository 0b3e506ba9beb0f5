// POST /v1/approvals and GET /v1/approvals/EVENT_ID (behaviour 6.1).
import { refusal } from '../approvals/requests/answer.ts';
import { parseStartRequests } from '../approvals/requests/start-requests.ts';
import { APPROVAL_RESULT_STATES, APPROVAL_STATES, APPROVAL_STEPS } from '../model/approvals.ts';
import { HOLD } from './hold-routes.ts';
import { approverBody, BINARY_MODE, keysOf } from './openapi/bodies.ts';
import { BUDGET_USE } from './openapi/budget-use.ts';
import * as api from './openapi/operation.ts';
import { pageIn, pageParameters } from './query.ts';
import { type ApiRoute, type ApproverRequest, json, problem, type Reply, type RouteRequest } from './route.ts';
import { type ApprovalRoutePorts, ready, refusedReply } from './served-approvals.ts';

/** Lines of the record in one answer. */
const MOST = 200;

export function approvalRoutes(ports: ApprovalRoutePorts): readonly ApiRoute[] {
  return [
    { ...APPROVE_ROUTE, handle: (request: ApproverRequest) => approve(request, ports) },
    {
      method: 'GET',
      path: '/v1/approvals/:eventId',
      callers: 'readers',
      operation: GET_APPROVAL,
      handle: (request) => request.inTurn(() => readRecord(request, ports)),
    },
  ];
}

async function approve({ origin, value }: ApproverRequest, ports: ApprovalRoutePorts): Promise<Reply> {
  // If a hold were ignored, the event would be approved. So the whole body is rejected.
  if (typeof value === 'object' && value !== null && ('Holds' in value || 'Releases' in value)) {
    const detail =
      'Only approvals are accepted here. Hold by POST /v1/holds, release by DELETE /v1/holds/EVENT_ID. Holds and Releases are for sources.';
    return problem('bad-request', detail);
  }
  const fault = ports.approvals() === null ? parseStartRequests(value) : null;
  // Before the first document nothing can be approved, but a body that is not valid can be rejected.
  if (typeof fault === 'string') return refusedReply(refusal('bad-request', fault));
  const answer = await ready(ports).request(origin, value);
  return answer.kind === 'refusal' ? refusedReply(answer) : json(answer.status, { results: answer.results });
}

function readRecord({ params, query }: RouteRequest, ports: ApprovalRoutePorts): Reply {
  const range = pageIn(query, MOST);
  if (typeof range === 'string') return problem('bad-request', range);
  const answer = ready(ports).life(params['eventId'] ?? '', range);
  return 'kind' in answer ? refusedReply(answer) : json(200, answer);
}

export const START_REQUEST = api.named('StartRequest', {
  propertyNames: keysOf(['EventId', 'Seen']),
  ...api.object({
    EventId: { ...api.id, maxLength: 256 },
    Seen: api.optional({
      ...api.text,
      description: 'The id of the CloudEvent that it answers: 409 `changed` if the event has become worse since.',
    }),
  }),
});

const APPROVALS: api.SchemaNode = {
  description: "The metadata service's own body.",
  ...api.object({ StartRequests: { ...api.list(START_REQUEST), minItems: 1 } }),
  propertyNames: keysOf(['StartRequests'], ['Holds', 'Releases', 'Seen']),
};

const RESULT = api.shape('Result', {
  eventId: { ...api.id, description: "In the service's letter case." },
  state: { enum: APPROVAL_RESULT_STATES },
  approvedBy: api.names,
  waitingFor: api.optional({ ...api.names, description: 'With `waiting`.' }),
  heldBy: api.optional({ ...api.names, description: 'With `held`.' }),
});
const RESULTS = api.shape('Results', { results: api.list(RESULT) });

const APPROVE: api.ApiOperation = {
  operationId: 'approve',
  tag: 'approvals',
  summary: 'Approves events, so that they may start now.',
  description:
    'An approval cannot be taken back, and it starts the event for every machine in its `resources`. All of the events are recorded, or none. The answer comes when the metadata service has answered, at the first failed attempt, or after 2 s. Approving twice is harmless.',
  parameters: BINARY_MODE,
  requestBody: approverBody('Approvals', APPROVALS, { StartRequests: [{ EventId: api.EXAMPLE_ID }] }),
  answers: {
    200: api.jsonAnswer('Nothing more has to happen for these approvals.', RESULTS, {
      results: [{ eventId: api.EXAMPLE_ID, state: 'submitted', approvedBy: ['orders'] }],
    }),
    202: api.jsonAnswer('Recorded; at least one result is `waiting`, `held` or `submitting`.', RESULTS, {
      results: [{ eventId: api.EXAMPLE_ID, state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'] }],
    }),
  },
  problems: ['unknown', 'ended', 'started', 'forbidden', 'scope', 'seen-unknown', 'changed', 'refused'],
};

export const APPROVE_ROUTE = {
  method: 'POST',
  path: '/v1/approvals',
  callers: 'approvers',
  operation: APPROVE,
} as const;

const rule: api.SchemaNode = {
  type: ['string', 'null'],
  description: '`documentation` or `policy[N]`, counted from 0; null if no rule matches.',
};

const SUMMARY = {
  state: { enum: APPROVAL_STATES },
  approvedBy: api.names,
  policy: rule,
  at: api.time,
  waitingFor: api.names,
  holds: api.list(HOLD),
};

/** How the approval of a listed event stands. */
export const APPROVAL = api.shape('Approval', SUMMARY);

const NEXT_STEP = api.shape('NextStep', {
  action: {
    enum: ['approve', 'start', null],
    description:
      '`approve`: this bridge submits an approval. `start`: Azure starts the event. Null: it is Started or has ended, or it has no NotBefore and this bridge will not approve it.',
  },
  at: {
    ...api.timeOrNull,
    description:
      'When. With `start`, the NotBefore; null if there is none. With `approve`, null while a budget holds it back.',
  },
  by: {
    ...api.textOrNull,
    description: 'With `approve`: `documentation` or `policy[N]`; null if approvers have decided.',
  },
});

const GOVERNING_WINDOW = api.shape('GoverningWindow', {
  name: { ...api.text, description: 'Its name in `approvals.windows`.' },
  opensAt: api.time,
  closesAt: api.time,
  timeZone: { ...api.text, description: 'The IANA name of its zone.' },
});

const GOVERNING_RULE = api.shape('GoverningRule', {
  policy: rule,
  then: { enum: ['approve', 'wait', 'never'], description: '`never`: approvers get 403, too.' },
  waitingFor: { ...api.names, description: 'The approvers whose yes is missing, also if nobody has approved yet.' },
  window: {
    ...api.orNull(GOVERNING_WINDOW),
    description:
      'The window in which the rule approves, open or next. Null if it approves at any time, or if none opens before NotBefore.',
  },
  during: { ...api.names, description: 'The windows that the rule names.' },
  budgets: { ...api.names, description: 'The budgets that the rule names.' },
});

/** What happens to an event if nobody acts, and the rule that governs it. */
export const NEXT = {
  nextStep: { ...NEXT_STEP, description: 'What happens if nobody acts.' },
  heldBackBy: { ...api.names, description: 'The budgets that hold an approval back now; empty: none.' },
  rule: {
    ...api.orNull(GOVERNING_RULE),
    description: 'The rule that governs the event; null unless the event is Scheduled.',
  },
};
export const DRILL: api.SchemaNode = { const: true, description: 'Only for a drill.' };

const STEP = api.shape('Step', {
  at: api.time,
  step: { enum: APPROVAL_STEPS },
  approver: api.textOrNull,
  via: { ...api.textOrNull, description: '`token`, `certificate`, `jwt`, `source:NAME` or `sink:NAME`.' },
  policy: rule,
  status: { type: ['integer', 'string', 'null'], description: 'What the metadata service answered.' },
  reason: api.textOrNull,
  times: api.optional({
    type: 'integer',
    minimum: 2,
    description: 'How many steps this line stands for; absent: one.',
  }),
});
const UNWRITTEN = api.shape('UnwrittenSteps', {
  approver: api.textOrNull,
  steps: { type: 'integer', minimum: 1 },
  since: api.time,
  until: api.time,
});

const LIFE = api.shape('Life', {
  eventId: api.id,
  ...SUMMARY,
  state: {
    enum: ['none', ...APPROVAL_STATES],
    description: '`none`: there is no approval and no hold, and no rule names approvers.',
  },
  at: api.timeOrNull,
  decidedBy: { enum: ['quorum', 'policy', 'deadline', null] },
  deadline: api.orNull(api.object({ at: api.time, then: { enum: ['approve', 'leave'] } })),
  rank: {
    type: ['integer', 'null'],
    minimum: 0,
    description: "The place of this machine in its group; null without a group's leader.",
  },
  submitsAt: api.timeOrNull,
  submittedAt: api.timeOrNull,
  ...NEXT,
  notStartedForSeconds: {
    type: ['number', 'null'],
    minimum: 0,
    description: 'Seconds since it was submitted, while the event is not Started.',
  },
  steps: api.list(STEP),
  next: {
    type: ['integer', 'null'],
    minimum: 1,
    description: 'The `after` of the next part of the record; null at its end.',
  },
  unwritten: { ...api.list(UNWRITTEN), description: 'Steps that are only counted: their approver has too many lines.' },
  drill: api.optional(DRILL),
  budgetUse: api.optional(BUDGET_USE),
});
const NO_STEP = { approver: null, via: null, policy: null, status: null, reason: null };

const GET_APPROVAL: api.ApiOperation = {
  operationId: 'getApproval',
  tag: 'approvals',
  summary: 'Returns the record of the approval of an event, step by step, also after the event has ended.',
  description:
    'The record comes in parts, the oldest lines first. If `next` is a number, the next part is at `?after=` with that number. A part with long lines may end before `limit`.',
  parameters: [api.EVENT_ID_IN_PATH, ...pageParameters(MOST, 'Lines of the record at most.')],
  answers: {
    200: api.jsonAnswer('The record.', LIFE, {
      ...{
        eventId: api.EXAMPLE_ID,
        state: 'submitted',
        approvedBy: ['orders'],
        policy: null,
        at: '2026-01-01T00:00:00.200Z',
        waitingFor: [],
      },
      ...{
        holds: [],
        decidedBy: 'quorum',
        deadline: null,
        rank: null,
        submitsAt: null,
        submittedAt: '2026-01-01T00:00:00.200Z',
      },
      nextStep: { action: 'start', at: '2026-01-01T00:15:00Z', by: null },
      heldBackBy: [],
      rule: { policy: null, then: 'wait', waitingFor: [], window: null, during: [], budgets: [] },
      notStartedForSeconds: 3,
      steps: [
        { ...NO_STEP, at: '2026-01-01T00:00:00.100Z', step: 'recorded', approver: 'orders', via: 'token' },
        { ...NO_STEP, at: '2026-01-01T00:00:00.100Z', step: 'decided', reason: 'quorum' },
        { ...NO_STEP, at: '2026-01-01T00:00:00.200Z', step: 'submitted', status: 200 },
      ],
      ...{ next: null, unwritten: [] },
    }),
  },
  problems: ['unknown'],
};
