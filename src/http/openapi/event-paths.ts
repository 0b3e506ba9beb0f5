// GET /v1/events, /v1/caller, /v1/openapi.json → their OpenAPI paths, and who may read.
import { EXAMPLE_ID, jsonResponse, type Node } from './node.ts';
import { type DocumentedProblem, problemResponses } from './problems.ts';

/** At a loopback address nothing need be shown; elsewhere an approver's or a reader's token, or an approver's certificate. */
export const READING: readonly Node[] = [{}, { bearer: [] }, { certificate: [] }];
/** What keeps a reader out. */
export const READING_PROBLEMS: readonly DocumentedProblem[] = ['bad-request', 'unauthorized', 'host', 'too-many-requests', 'unavailable'];

const EVENTS = {
  state: 'watching',
  documentIncarnation: 2,
  observedAt: '2026-01-01T00:00:00Z',
  events: [
    {
      eventId: EXAMPLE_ID,
      eventType: 'Freeze',
      eventStatus: 'Scheduled',
      previousStatus: null,
      resourceType: 'VirtualMachine',
      resources: ['web_0', 'web_1'],
      notBefore: '2026-01-01T00:15:00Z',
      description: 'Host server is undergoing maintenance.',
      eventSource: 'Platform',
      durationInSeconds: 5,
      observer: { name: 'web_0', documentIncarnation: 2, affected: true },
      approval: {
        state: 'waiting',
        approvedBy: ['orders'],
        policy: null,
        at: '2026-01-01T00:00:00.000Z',
        waitingFor: ['billing'],
        holds: [],
      },
    },
  ],
};

function ofFirst(operationId: string): Node {
  return { operationId, parameters: { eventId: '$response.body#/events/0/eventId' } };
}

export const EVENT_PATHS: Node = {
  '/v1/events': {
    get: {
      operationId: 'listEvents',
      tags: ['events'],
      summary: 'The events that the metadata service lists, and how their approvals stand.',
      security: READING,
      responses: {
        200: {
          ...jsonResponse('What is known now.', 'Events', EVENTS),
          links: { approval: ofFirst('getApproval'), release: ofFirst('release') },
        },
        ...problemResponses(...READING_PROBLEMS, 'internal'),
      },
    },
  },
  '/v1/caller': {
    get: {
      operationId: 'getCaller',
      tags: ['events'],
      summary: 'Who calls, and what they may: a token or certificate is judged even where reading needs none.',
      security: READING,
      responses: {
        200: jsonResponse('The caller.', 'Caller', { name: 'orders', role: 'approver', admin: true }),
        ...problemResponses(...READING_PROBLEMS, 'internal'),
      },
    },
  },
  '/v1/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      tags: ['events'],
      summary: 'This document.',
      security: READING,
      responses: {
        200: {
          description: 'OpenAPI 3.1.',
          content: { 'application/json': { schema: { type: 'object', required: ['openapi', 'info', 'paths'] } } },
        },
        ...problemResponses(...READING_PROBLEMS, 'internal'),
      },
    },
  },
};
