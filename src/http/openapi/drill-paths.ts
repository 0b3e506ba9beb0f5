// The routes of drills → their paths in the OpenAPI document.
import { ADMISSION, APPROVING, BODY } from './approval-paths.ts';
import { READING, READING_PROBLEMS } from './event-paths.ts';
import { EXAMPLE_ID, jsonResponse, type Node } from './node.ts';
import { problemResponses } from './problems.ts';

const ID = EXAMPLE_ID.toLowerCase();
const BEGUN = { id: ID, eventId: `drill-${ID}` };
const AT = '2026-01-01T00:00:00.000Z';
const PARAMETERS: readonly Node[] = [
  { name: 'id', in: 'path', required: true, description: 'As the drill was given it.', schema: { type: 'string', minLength: 1 } },
];

const begin: Node = {
  ...{ operationId: 'beginDrill', tags: ['operation'], security: APPROVING, summary: 'Makes up an event that lives like a real one.' },
  description:
    'For approvers with `admin: true`. It goes through the store, the sinks and approvals, marked `drill`; the metadata service is told of nothing. Several may run at once.',
  requestBody: {
    description: 'All of it has defaults; at most 64 KiB, not compressed.',
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/DrillRequest' }, example: { notice: '2m', duration: '30s' } } },
  },
  responses: {
    201: jsonResponse('It is announced.', 'DrillBegun', BEGUN),
    ...problemResponses(...ADMISSION, 'not-admin', 'foreign-page', ...BODY, 'event-listed', 'unnamed', 'unavailable', 'internal'),
  },
};

const report: Node = {
  ...{ operationId: 'reportDrill', tags: ['operation'], security: READING, parameters: PARAMETERS },
  summary: 'What each sink and each approver has done so far.',
  responses: {
    200: jsonResponse('The report.', 'DrillReport', {
      ...{ ...BEGUN, state: 'ended' },
      changes: [{ change: 'scheduled', at: AT, sinks: [{ name: 'hooks', acceptedAt: AT, attempts: 1 }] }],
      ...{ approvers: [{ name: 'orders', at: AT }], missing: ['billing'] },
    }),
    ...problemResponses(...READING_PROBLEMS, 'not-found', 'unknown-drill', 'unavailable', 'internal'),
  },
};

const cancel: Node = {
  ...{ operationId: 'cancelDrill', tags: ['operation'], security: APPROVING, parameters: PARAMETERS },
  summary: 'Ends a drill with the outcome canceled.',
  description: 'For approvers with `admin: true`. One that has ended stays as it was, which is no fault.',
  responses: {
    204: { description: 'It has ended.' },
    ...problemResponses(...ADMISSION, 'not-admin', 'foreign-page', 'not-found', 'unknown-drill', 'unavailable', 'internal'),
  },
};

export const DRILL_PATHS: Node = {
  '/v1/drills': { post: begin },
  '/v1/drills/{id}': { get: report, delete: cancel },
};
