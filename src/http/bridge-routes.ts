// The bridge → all routes of its interface, the console's pages apart (behaviour 6.1).
import { admitting } from './admit.ts';
import { approvalRoutes } from './approval-routes.ts';
import { type AsyncApiPorts, asyncApiRoute } from './asyncapi-route.ts';
import { callerRoute } from './caller-route.ts';
import type { Callers } from './callers.ts';
import { type EventsView, eventsRoute } from './events-route.ts';
import { type HealthPorts, healthRoutes } from './health-routes.ts';
import { holdRoutes } from './hold-routes.ts';
import { openApiRoute } from './openapi/openapi-route.ts';
import { deadLetterRoutes } from './operators/dead-letter-routes.ts';
import { type DrillPorts, drillRoutes } from './operators/drill-routes.ts';
import { journalRoute } from './operators/journal-route.ts';
import type { OperatorPorts } from './operators/ports.ts';
import { sinkRoutes } from './operators/sink-routes.ts';
import { type ReloadPorts, reloadRoute } from './reload-route.ts';
import type { ApiRoute, Route } from './route.ts';
import type { ApprovalPorts } from './served-approvals.ts';
import { type StreamPorts, streamRoute } from './stream/stream-route.ts';

export interface BridgePorts extends HealthPorts, ApprovalPorts, ReloadPorts, OperatorPorts, DrillPorts, StreamPorts, AsyncApiPorts {
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
