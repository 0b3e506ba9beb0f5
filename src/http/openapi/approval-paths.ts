// POST and GET of /v1/approvals → their paths in the OpenAPI document, and who may ask.
import { BINARY_MODE, requestBody } from './bodies.ts';
import { READING, READING_PROBLEMS } from './event-paths.ts';
import { EVENT_ID_PARAMETER, EXAMPLE_ID, jsonResponse, type Node } from './node.ts';
import { type DocumentedProblem, problemResponses } from './problems.ts';

/** Either of them. */
export const APPROVING: readonly Node[] = [{ bearer: [] }, { certificate: [] }];
/** What keeps a caller out, whatever it asks. */
export const ADMISSION: readonly DocumentedProblem[] = ['bad-request', 'no-approvers', 'unauthorized', 'too-many-requests', 'reader'];
/** What is wrong with a body, whatever it says. */
export const BODY: readonly DocumentedProblem[] = ['not-json', 'too-large', 'bad-request'];

function inQuery(name: string, description: string, schema: Node): Node {
  return { name, in: 'query', required: false, description, schema: { type: 'integer', ...schema } };
}

const approve: Node = {
  operationId: 'approve',
  tags: ['approvals'],
  summary: 'Approves events, so that they may start now.',
  description:
    'An approval cannot be taken back, and it starts the event for every machine in its `resources`. All of the events are recorded, or none. The answer comes when the metadata service has answered, at the first failed attempt, or after 2 s. Approving twice is harmless.',
  security: APPROVING,
  parameters: BINARY_MODE,
  requestBody: requestBody('Approvals', { StartRequests: [{ EventId: EXAMPLE_ID }] }),
  responses: {
    200: jsonResponse('Nothing is open any more.', 'Results', {
      results: [{ eventId: EXAMPLE_ID, state: 'submitted', approvedBy: ['orders'] }],
    }),
    202: jsonResponse('Recorded; at least one result is `waiting`, `held` or `submitting`.', 'Results', {
      results: [{ eventId: EXAMPLE_ID, state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'] }],
    }),
    ...problemResponses(
      ...ADMISSION,
      ...BODY,
      'unknown',
      'ended',
      'started',
      'forbidden',
      'scope',
      'seen-unknown',
      'changed',
      'refused',
      'unavailable',
      'internal',
    ),
  },
};

const tell: Node = {
  operationId: 'getApproval',
  tags: ['approvals'],
  summary: 'What became of the approval of an event, step by step, also after the event has ended.',
  description:
    'The record comes in parts, the oldest lines first: where `next` is a number there is more, at `?after=` with that number. A part may end before `limit` where its lines are long.',
  security: READING,
  parameters: [
    EVENT_ID_PARAMETER,
    inQuery('limit', 'Lines of the record at most.', { minimum: 1, maximum: 200, default: 100 }),
    inQuery('after', 'What `next` gave in the answer before.', { minimum: 0, maximum: 999_999_999_999_999, default: 0 }),
  ],
  responses: {
    200: jsonResponse('Its record.', 'Life', {
      eventId: EXAMPLE_ID,
      state: 'submitted',
      approvedBy: ['orders'],
      policy: null,
      at: '2026-01-01T00:00:00.200Z',
      waitingFor: [],
      holds: [],
      decidedBy: 'quorum',
      deadline: null,
      rank: null,
      submitsAt: null,
      submittedAt: '2026-01-01T00:00:00.200Z',
      notStartedForSeconds: 3,
      steps: [
        { at: '2026-01-01T00:00:00.100Z', step: 'recorded', approver: 'orders', via: 'token', policy: null, status: null, reason: null },
        { at: '2026-01-01T00:00:00.100Z', step: 'decided', approver: null, via: null, policy: null, status: null, reason: 'quorum' },
        { at: '2026-01-01T00:00:00.200Z', step: 'submitted', approver: null, via: null, policy: null, status: 200, reason: null },
      ],
      next: null,
      unwritten: [],
    }),
    ...problemResponses(...READING_PROBLEMS, 'bad-request', 'not-found', 'unknown', 'internal'),
  },
};

export const APPROVAL_PATHS: Node = { '/v1/approvals': { post: approve }, '/v1/approvals/{eventId}': { get: tell } };
