// The bridge → all routes of its interface, the console's pages apart (behaviour 6.1).
import type { Access } from './access.ts';
import { approvalRoutes } from './approval-routes.ts';
import type { ApproverPorts } from './approver.ts';
import { callerRoute } from './caller-route.ts';
import { type EventPorts, eventsRoute } from './events-route.ts';
import { type HealthPorts, healthRoutes } from './health-routes.ts';
import { holdRoutes } from './hold-routes.ts';
import { openApiRoute } from './openapi/openapi-route.ts';
import { deadLetterRoutes } from './operators/dead-letter-routes.ts';
import { type DrillPorts, drillRoutes } from './operators/drill-routes.ts';
import { journalRoute } from './operators/journal-route.ts';
import type { OperatorPorts } from './operators/ports.ts';
import { sinkRoutes } from './operators/sink-routes.ts';
import { type ReloadPorts, reloadRoute } from './reload-route.ts';
import type { ApiRoute } from './route.ts';
import { type StreamPorts, streamRoute } from './stream/stream-route.ts';

export interface BridgePorts extends HealthPorts, EventPorts, ApproverPorts, ReloadPorts, OperatorPorts, DrillPorts, StreamPorts {}

/** All routes that the OpenAPI document describes. */
export function bridgeRoutes(ports: BridgePorts, access: Access): readonly ApiRoute[] {
  const routes = [
    ...healthRoutes(ports, (request) => access.mayRead(request)),
    eventsRoute(ports, access),
    callerRoute(ports, access),
    streamRoute(ports, access),
    ...approvalRoutes(ports, access),
    ...holdRoutes(ports, access),
    journalRoute(ports, access),
    ...sinkRoutes(ports, access),
    ...deadLetterRoutes(ports, access),
    ...drillRoutes(ports, access),
    reloadRoute(ports, access),
  ];
  return [...routes, openApiRoute(routes, access)];
}
