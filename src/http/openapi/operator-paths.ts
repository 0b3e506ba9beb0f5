// The operators' routes and the stream → their paths in the OpenAPI document.
import { CHANGE_NAMES } from '../../model/change-names.ts';
import { IMPACTS } from '../../model/events.ts';
import { ADMISSION, APPROVING, BODY } from './approval-paths.ts';
import { READING, READING_PROBLEMS } from './event-paths.ts';
import { EXAMPLE_ID, jsonResponse, type Node } from './node.ts';
import { problemResponses } from './problems.ts';

const LARGEST = 999_999_999_999_999;
const ADMINS: Node = { tags: ['operation'], security: APPROVING };
const READERS: Node = { tags: ['operation'], security: READING };
const SINK = {
  name: 'hooks',
  type: 'webhook',
  state: 'misconfigured',
  queued: 3,
  oldestAt: '2026-01-01T00:00:00.000Z',
  lastAcceptedAt: null,
  lastError: { code: 'BRIDGE_WEBHOOK_STATUS', message: 'hooks.example.com answered 404', at: '2026-01-01T00:00:01.000Z' },
  deadLetters: 0,
};

function inQuery(name: string, description: string, schema: Node): Node {
  return { name, in: 'query', required: false, description, schema };
}

const LIMIT = inQuery('limit', 'Items of one answer at most.', { type: 'integer', minimum: 1, maximum: 1000, default: 100 });
const AFTER = inQuery('after', 'What `next` gave in the answer before.', { type: 'integer', minimum: 0, maximum: LARGEST, default: 0 });
const NAME: Node = { name: 'name', in: 'path', required: true, description: 'A sink.', schema: { type: 'string', minLength: 1 } };

function values(name: string, description: string, items: Node): Node {
  return { ...inQuery(name, description, { type: 'array', minItems: 1, items }), style: 'form', explode: false };
}

const stream: Node = {
  operationId: 'stream',
  ...READERS,
  tags: ['events'],
  summary: 'CloudEvents as they are committed, as Server-Sent Events.',
  description:
    '`id:` is the position in the journal, `event:` the change, `data:` the structured CloudEvent. A comment comes every 15 s. A reader whose socket takes nothing while 1 MiB is due is cut off; it connects again with `Last-Event-ID`.',
  parameters: [
    values('changes', 'Which changes.', { enum: CHANGE_NAMES }),
    values('impacts', 'Which EventTypes, without case.', { enum: IMPACTS }),
    values('resources', 'Globs (`*` and `?` alone), without case; one name in Resources that matches is enough.', {
      ...{ type: 'string', minLength: 1, maxLength: 256, pattern: '^[^!\\[\\]{}()\\\\][^\\[\\]{}()\\\\]*$' },
    }),
    inQuery('after', 'The position to go on behind; 0: all that is kept. Without it: from now on.', {
      ...{ type: 'integer', minimum: 0, maximum: LARGEST },
    }),
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description: 'As `after`; it wins.',
      schema: { type: 'string', pattern: '^\\d{1,15}$' },
    },
  ],
  responses: {
    200: {
      description: 'An answer without an end.',
      headers: {
        'Journal-Position': { description: 'Where it begins.', required: true, schema: { type: 'integer', minimum: 0 } },
      },
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...problemResponses(...READING_PROBLEMS, 'foreign-page', 'position', 'pruned', 'too-many-readers', 'internal'),
  },
};

const journal: Node = {
  operationId: 'listJournal',
  ...READERS,
  summary: 'What was published, the oldest first, and what became of it at each sink.',
  description: 'A page ends early at 256 KiB, but has one item at least.',
  parameters: [
    inQuery('event', 'An EventId; its letter case does not count.', { type: 'string', minLength: 1 }),
    inQuery('since', 'From this time on, by `at`.', { type: 'string', format: 'date-time' }),
    inQuery('until', 'Before this time, by `at`.', { type: 'string', format: 'date-time' }),
    LIMIT,
    AFTER,
  ],
  responses: {
    200: jsonResponse('A page of it.', 'JournalPage', {
      items: [
        {
          position: 7,
          at: '2026-01-01T00:00:00.000Z',
          event: { specversion: '1.0', id: `${EXAMPLE_ID.toLowerCase()}:scheduled`, source: '/vm', type: 'scheduled.v1', data: {} },
          deliveries: [{ sink: 'hooks', state: 'delivered', attempts: 1, status: null, at: '2026-01-01T00:00:00.010Z' }],
        },
      ],
      next: null,
    }),
    ...problemResponses(...READING_PROBLEMS, 'internal'),
  },
};

const sinks: Node = {
  operationId: 'listSinks',
  ...READERS,
  summary: 'Each sink: how it is, what waits for it, what went wrong last.',
  responses: { 200: jsonResponse('All of them.', 'Sinks', [SINK]), ...problemResponses(...READING_PROBLEMS, 'internal') },
};

function steer(operationId: string, summary: string, state: string): Node {
  return {
    ...{ operationId, ...ADMINS, summary, parameters: [NAME] },
    description: 'For approvers with `admin: true`. No body. Again is harmless.',
    responses: {
      200: jsonResponse('The sink as it is now.', 'Sink', { ...SINK, state }),
      ...problemResponses(...ADMISSION, 'not-admin', 'foreign-page', 'not-found', 'unknown-sink', 'unavailable', 'internal'),
    },
  };
}

const deadLetters: Node = {
  operationId: 'listDeadLetters',
  ...READERS,
  summary: 'Deliveries that were given up, in the order in which they were queued.',
  parameters: [inQuery('sink', 'Of this one alone.', { type: 'string', minLength: 1 }), LIMIT, AFTER],
  responses: {
    200: jsonResponse('A page of them.', 'DeadLetters', {
      items: [
        {
          ...{ id: `${EXAMPLE_ID.toLowerCase()}:scheduled`, eventId: EXAMPLE_ID, sink: 'hooks', type: 'scheduled.v1' },
          ...{ reason: 'refused', status: 400, attempts: 1, at: '2026-01-01T00:00:00Z' },
        },
      ],
      next: null,
    }),
    ...problemResponses(...READING_PROBLEMS, 'internal'),
  },
};

function decide(operationId: string, summary: string): Node {
  return {
    ...{ operationId, ...ADMINS, summary },
    description: 'For approvers with `admin: true`. All of them, or none.',
    requestBody: {
      description: 'At most 64 KiB, not compressed.',
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/DeadLetterChoice' },
          example: { sink: 'hooks', ids: [`${EXAMPLE_ID.toLowerCase()}:scheduled`] },
        },
      },
    },
    responses: {
      200: jsonResponse('How many.', 'Count', { count: 1 }),
      ...problemResponses(...ADMISSION, 'not-admin', 'foreign-page', ...BODY, 'unknown-sink', 'no-dead-letter', 'unavailable', 'internal'),
    },
  };
}

export const OPERATOR_PATHS: Node = {
  '/v1/stream': { get: stream },
  '/v1/journal': { get: journal },
  '/v1/sinks': { get: sinks },
  '/v1/sinks/{name}/pause': {
    post: steer('pauseSink', 'Sends a sink nothing more until it is resumed; its queue goes on growing.', 'paused'),
  },
  '/v1/sinks/{name}/resume': { post: steer('resumeSink', 'Ends a pause and a retirement.', 'delivering') },
  '/v1/dead-letters': { get: deadLetters },
  '/v1/dead-letters/retry': { post: decide('retryDeadLetters', 'Queues dead letters again, behind what is queued.') },
  '/v1/dead-letters/discard': { post: decide('discardDeadLetters', 'Removes dead letters for good.') },
};
