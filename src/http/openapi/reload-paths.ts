// POST /v1/reload → its path in the OpenAPI document.
import { ADMISSION, APPROVING } from './approval-paths.ts';
import { jsonResponse, type Node } from './node.ts';
import { problemResponses } from './problems.ts';

const reload: Node = {
  operationId: 'reload',
  tags: ['operation'],
  summary: 'Reads the configuration file again; what differs holds from then on.',
  description:
    'For approvers with `admin: true`. The whole file is checked first, and with a fault in it, or with a change that needs a restart, nothing of it holds. Reloads run one after another.',
  security: APPROVING,
  responses: {
    200: jsonResponse('It is in force. The paths that differ; none where the file says what it said.', 'Reloaded', {
      changed: ['sinks.hooks.url', 'approvals.policy'],
    }),
    ...problemResponses(
      ...ADMISSION,
      'not-admin',
      'foreign-page',
      'faulty-configuration',
      'needs-restart',
      'no-file',
      'unavailable',
      'internal',
    ),
  },
};

export const RELOAD_PATHS: Node = { '/v1/reload': { post: reload } };
