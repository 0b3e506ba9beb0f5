// The bridge → all routes of its interface, the console's pages apart (behaviour 6.1).
import { admitting } from './admit.ts';
import { approvalRoutes } from './approval-routes.ts';
import { type AsyncApiPorts, asyncApiRoute } from './asyncapi-route.ts';
import { callerRoute } from './caller-route.ts';
import type { Callers } from './callers.ts';
import { type EventsView, eventsRoute } from './events-route.ts';
import { type HealthPorts, healthRoutes } from './health-routes.ts';
import { holdRoutes } from './hold-routes.ts';
import type { ApiOperation } from './openapi/operation.ts';
import { deadLetterRoutes } from './operators/dead-letter-routes.ts';
import { type DrillPorts, drillRoutes } from './operators/drill-routes.ts';
import { journalRoute } from './operators/journal-route.ts';
import type { OperatorPorts } from './operators/sink-routes.ts';
import { sinkRoutes } from './operators/sink-routes.ts';
import { type ReloadPorts, reloadRoute } from './reload-route.ts';
import type { ApiRoute, Route } from './route.ts';
import type { ApprovalRoutePorts } from './served-approvals.ts';
import { type StreamPorts, streamRoute } from './stream/stream-route.ts';

export interface BridgePorts
  extends HealthPorts,
    ApprovalRoutePorts,
    ReloadPorts,
    OperatorPorts,
    DrillPorts,
    StreamPorts,
    AsyncApiPorts {
  events(): EventsView;
}

/** Each admits its own callers only. */
export function bridgeRoutes(ports: BridgePorts, callers: Callers): readonly Route[] {
  return describedRoutes(ports, callers).map((route) => admitting(route, callers));
}

/** The routes as the OpenAPI document describes them. */
export function describedRoutes(ports: BridgePorts, callers: Callers): readonly ApiRoute[] {
  const routes = [
    ...healthRoutes(ports, (request) => callers.mayRead(request)),
    eventsRoute(ports),
    callerRoute(callers),
    streamRoute(ports, callers),
    ...approvalRoutes(ports),
    ...holdRoutes(ports),
    journalRoute(ports),
    ...sinkRoutes(ports),
    ...deadLetterRoutes(ports),
    ...drillRoutes(ports),
    reloadRoute(ports),
    asyncApiRoute(ports),
  ];
  return [...routes, openApiRoute(routes)];
}

const GET_OPENAPI: ApiOperation = {
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
function openApiRoute(others: readonly ApiRoute[]): ApiRoute {
  let bytes: Buffer | null = null;
  const route: ApiRoute = {
    method: 'GET',
    path: '/v1/openapi.json',
    callers: 'readers',
    operation: GET_OPENAPI,
    // The document is made at the first request: hardly any bridge is ever asked for it.
    handle: async () => {
      const { openApiDocument } = await import('./openapi/document.ts');
      bytes ??= Buffer.from(JSON.stringify(openApiDocument([...others, route])));
      return { status: 200, headers: { 'content-type': 'application/json' }, body: bytes };
    },
  };
  return route;
}
