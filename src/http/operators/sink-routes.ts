// GET /v1/sinks, POST /v1/sinks/NAME/pause and /resume (behaviour 11.6).
import type { Access } from '../access.ts';
import { admitAdmin } from '../admin.ts';
import { problem } from '../problem.ts';
import { json, type Reply, type Route, type RouteRequest } from '../route.ts';
import type { OperatorPorts } from './ports.ts';

export function sinkRoutes(ports: OperatorPorts, access: Access): readonly Route[] {
  const act = (what: 'pause' | 'resume'): Route => ({
    method: 'POST',
    path: `/v1/sinks/:name/${what}`,
    handle: (request) => change(what, request, ports, access),
  });
  return [
    {
      method: 'GET',
      path: '/v1/sinks',
      handle: async (request) => (await access.refuseReading(request)) ?? request.inTurn(() => json(200, ports.operations.sinks())),
    },
    act('pause'),
    act('resume'),
  ];
}

async function change(what: 'pause' | 'resume', request: RouteRequest, ports: OperatorPorts, access: Access): Promise<Reply> {
  const admitted = await admitAdmin(request, ports, access);
  if ('reply' in admitted) return admitted.reply;
  const sink = await ports.operations[what](request.params['name'] ?? '', admitted.admin);
  return sink === null ? unknownSink() : json(200, sink);
}

export function unknownSink(): Reply {
  return problem('unknown-sink', 'The bridge has no sink of this name; GET /v1/sinks lists those it has.');
}
