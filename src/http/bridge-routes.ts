// What the bridge can tell and take → the routes of `/v1`, behind their tokens (behaviour 6.1).
import type { Access } from './access.ts';
import { approvalRoutes } from './approval-routes.ts';
import type { BridgePorts } from './bridge-ports.ts';
import { holdRoutes } from './hold-routes.ts';
import { openApiRoute } from './openapi/route.ts';
import { json, type Route } from './route.ts';

export function bridgeRoutes({ events, approvals }: BridgePorts, access: Access): readonly Route[] {
  return [
    { method: 'GET', path: '/v1/events', handle: async (request) => (await access.refuseReading(request)) ?? json(200, events()) },
    ...approvalRoutes(approvals, access),
    ...holdRoutes(approvals, access),
    openApiRoute(access),
  ];
}
