// The OpenAPI document → GET /v1/openapi.json, for those who may read.
import type { Access } from '../access.ts';
import type { Route } from '../route.ts';

let bytes: Buffer | null = null;

export function openApiRoute(access: Access): Route {
  return {
    method: 'GET',
    path: '/v1/openapi.json',
    // Read at the first request: hardly any bridge is ever asked for it.
    handle: async (request) => {
      const refused = await access.refuseReading(request);
      if (refused !== null) return refused;
      bytes ??= Buffer.from(JSON.stringify((await import('./document.ts')).OPENAPI_DOCUMENT));
      return { status: 200, headers: { 'content-type': 'application/json' }, body: bytes };
    },
  };
}
