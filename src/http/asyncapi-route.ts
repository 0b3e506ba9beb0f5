// The AsyncAPI document of the running bridge → GET /v1/asyncapi.json, for readers.
import type { ApiOperation } from './openapi/operation.ts';
import type { ApiRoute } from './route.ts';

export interface AsyncApiPorts {
  /** Resolves with the document of the current configuration, as JSON. */
  readonly asyncApi: () => Promise<Uint8Array>;
}

const GET_ASYNCAPI: ApiOperation = {
  operationId: 'getAsyncApi',
  tag: 'events',
  summary: 'Returns the AsyncAPI 3.1 document: the channels, messages and schemas of the CloudEvents and approvals.',
  description: 'As `check --asyncapi` prints it for the current configuration. It contains no secret.',
  answers: {
    200: {
      description: 'AsyncAPI 3.1.',
      content: {
        'application/json': {
          schema: { type: 'object', required: ['asyncapi', 'info', 'servers', 'channels', 'operations', 'components'] },
        },
      },
    },
  },
};

export function asyncApiRoute({ asyncApi }: AsyncApiPorts): ApiRoute {
  return {
    method: 'GET',
    path: '/v1/asyncapi.json',
    callers: 'readers',
    operation: GET_ASYNCAPI,
    handle: async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: await asyncApi() }),
  };
}
