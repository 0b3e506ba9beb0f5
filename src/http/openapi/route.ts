// The OpenAPI document → GET /v1/openapi.json, for those who may read.
import type { Access } from '../access.ts';
import { json, type Route } from '../route.ts';

export function openApiRoute(access: Access): Route {
  return {
    method: 'GET',
    path: '/v1/openapi.json',
    // Read at the first request: hardly any bridge is ever asked for it.
    handle: async (request) => (await access.refuseReading(request)) ?? json(200, (await import('./document.ts')).OPENAPI_DOCUMENT),
  };
}
