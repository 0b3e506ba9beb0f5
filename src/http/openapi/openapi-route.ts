// The routes of the main listener → GET /v1/openapi.json, for readers.
import type { ApiRoute } from '../route.ts';
import type { Operation } from './operation.ts';

const GET_OPENAPI: Operation = {
  operationId: 'getOpenApi',
  tag: 'events',
  summary: 'This document.',
  answers: {
    200: {
      description: 'OpenAPI 3.1.',
      content: { 'application/json': { schema: { type: 'object', required: ['openapi', 'info', 'paths'] } } },
    },
  },
};

/** @param others all other routes of the listener that the document describes */
export function openApiRoute(others: readonly ApiRoute[]): ApiRoute {
  let bytes: Buffer | null = null;
  const route: ApiRoute = {
    method: 'GET',
    path: '/v1/openapi.json',
    callers: 'readers',
    operation: GET_OPENAPI,
    // The document is made at the first request: hardly any bridge is ever asked for it.
    handle: async () => {
      const { openApiDocument } = await import('./document.ts');
      bytes ??= Buffer.from(JSON.stringify(openApiDocument([...others, route])));
      return { status: 200, headers: { 'content-type': 'application/json' }, body: bytes };
    },
  };
  return route;
}
