// POST /v1/holds and DELETE /v1/holds/EVENT_ID → their paths in the OpenAPI document.
import { ADMISSION, APPROVING, BODY } from './approval-paths.ts';
import { BINARY_MODE, requestBody } from './bodies.ts';
import { EVENT_ID_PARAMETER, EXAMPLE_ID, jsonResponse, type Node } from './node.ts';
import { problemResponses } from './problems.ts';

const REASON = 'a backup runs until 14:00';

const hold: Node = {
  operationId: 'hold',
  tags: ['approvals'],
  summary: 'Holds an event: while a hold stands, the bridge submits nothing for it.',
  description:
    'One hold for each approver, kept over restarts; a second one replaces the reason. While a StartRequest is on its way the answer waits for it, at most 2 s. Azure starts the event at its time all the same.',
  security: APPROVING,
  parameters: BINARY_MODE,
  requestBody: requestBody('HoldRequest', { EventId: EXAMPLE_ID, reason: REASON }),
  responses: {
    201: jsonResponse('It stands. All holds of the event.', 'Holds', {
      eventId: EXAMPLE_ID,
      holds: [{ approver: 'orders', reason: REASON, at: '2026-01-01T00:00:00.000Z' }],
    }),
    ...problemResponses(
      ...ADMISSION,
      ...BODY,
      'unknown',
      'ended',
      'started',
      'submitted',
      'submitting',
      'forbidden',
      'scope',
      'unavailable',
      'internal',
    ),
  },
};

const release: Node = {
  operationId: 'release',
  tags: ['approvals'],
  summary: 'Takes a hold back: your own where one stands; else, as an admin, all holds of the event.',
  security: APPROVING,
  parameters: [
    EVENT_ID_PARAMETER,
    {
      name: 'approver',
      in: 'query',
      required: false,
      description: 'Whose hold; another one than your own is the right of an admin.',
      schema: { type: 'string', minLength: 1, maxLength: 256 },
    },
    {
      name: 'before',
      in: 'query',
      required: false,
      description: 'Only holds that were set at this time or before; a client that repeats a release says when it first asked.',
      schema: { type: 'string', format: 'date-time' },
    },
  ],
  responses: {
    204: { description: 'It is gone. What is decided by now is submitted with the last one.' },
    ...problemResponses(
      ...ADMISSION,
      'bad-request',
      'not-found',
      'unknown',
      'not-held',
      'ended',
      'started',
      'changed',
      'forbidden',
      'unavailable',
      'internal',
    ),
  },
};

export const HOLD_PATHS: Node = { '/v1/holds': { post: hold }, '/v1/holds/{eventId}': { delete: release } };
