// The bridge → the routes of `/v1`, behind their tokens (behaviour 6.1).
import type { Access } from './access.ts';
import { approvalRoutes } from './approval-routes.ts';
import type { ApproverPorts } from './approver.ts';
import { callerRoute } from './caller-route.ts';
import { holdRoutes } from './hold-routes.ts';
import { openApiRoute } from './openapi/route.ts';
import { deadLetterRoutes } from './operators/dead-letter-routes.ts';
import { type DrillPorts, drillRoutes } from './operators/drill-routes.ts';
import { journalRoute } from './operators/journal-route.ts';
import type { OperatorPorts } from './operators/ports.ts';
import { sinkRoutes } from './operators/sink-routes.ts';
import { type ReloadPorts, reloadRoute } from './reload-route.ts';
import { json, type Route } from './route.ts';
import { type StreamPorts, streamRoute } from './stream/stream-route.ts';

/** What `GET /v1/events` shows. */
export interface EventsView {
  readonly state: 'watching' | 'enabling' | 'blind';
  readonly documentIncarnation: number | null;
  /** RFC 3339; null before the first good document. */
  readonly observedAt: string | null;
  /** The `data` of a CloudEvent of each event, and `approval`. */
  readonly events: readonly object[];
}

export interface BridgePorts extends ApproverPorts, ReloadPorts, OperatorPorts, DrillPorts, StreamPorts {
  events(): EventsView;
}

export function bridgeRoutes(ports: BridgePorts, access: Access): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/events',
      handle: async (request) => (await access.refuseReading(request)) ?? request.inTurn(() => json(200, ports.events())),
    },
    ...approvalRoutes(ports, access),
    ...holdRoutes(ports, access),
    streamRoute(ports, access),
    journalRoute(ports, access),
    ...sinkRoutes(ports, access),
    ...deadLetterRoutes(ports, access),
    ...drillRoutes(ports, access),
    reloadRoute(ports, access),
    callerRoute(ports, access),
    openApiRoute(access),
  ];
}
