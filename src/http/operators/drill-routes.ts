// POST /v1/drills, GET and DELETE /v1/drills/ID (behaviour 11.32).
import { type DrillRequest, drillRequest } from '../../drills/options.ts';
import type { DrillReport } from '../../drills/report.ts';
import { BridgeError } from '../../errors.ts';
import { type Drill, drillEventId } from '../../model/drills.ts';
import { formatFault } from '../../schema/faults.ts';
import { validate } from '../../schema/validate.ts';
import type { Access } from '../access.ts';
import { type AdminPorts, admitAdmin } from '../admin.ts';
import { admitWithBody } from '../admit-with-body.ts';
import { problem } from '../problem.ts';
import { json, NO_CONTENT, type Reply, type Route, type RouteRequest } from '../route.ts';

const REFUSALS = {
  'event-listed': 'A real event is listed, which a drill would only confuse: ask again when it has ended, or with "force": true.',
  unnamed: 'It is not known which machine this bridge runs on: name those of the drill under "resources".',
} as const;

/** @throws BridgeError BRIDGE_STORE_*, each of them; then nothing is done. */
export interface ServedDrills {
  /** @param by the admin's name, for the log and the record, as below */
  begin(by: string, request: DrillRequest): Drill | keyof typeof REFUSALS;
  /** Null: there is none; one that has ended stays as it was. */
  cancel(by: string, id: string): Drill | null;
  report(id: string): DrillReport | null;
}

export interface DrillPorts extends AdminPorts {
  /** Null until it is known which VM this is. */
  readonly drills: () => ServedDrills | null;
}

export function drillRoutes(ports: DrillPorts, access: Access): readonly Route[] {
  const path = '/v1/drills/:id';
  return [
    { method: 'POST', path: '/v1/drills', handle: (request) => begin(request, ports, access) },
    {
      method: 'GET',
      path,
      handle: async (request) => (await access.refuseReading(request)) ?? request.inTurn(() => report(request, ready(ports))),
    },
    { method: 'DELETE', path, handle: (request) => cancel(request, ports, access) },
  ];
}

async function begin(request: RouteRequest, ports: DrillPorts, access: Access): Promise<Reply> {
  const admitted = await admitWithBody(request, () => admitAdmin(request, ports, access));
  if ('reply' in admitted) return admitted.reply;
  const { output, faults } = validate(drillRequest, admitted.value, [], 'body');
  if (faults.length > 0 || output === undefined) return problem('bad-request', `${faults.map(formatFault).join('. ')}.`);
  const drill = ready(ports).begin(admitted.admin, output);
  if (typeof drill === 'string') return problem(drill, REFUSALS[drill]);
  return json(201, { id: drill.id, eventId: drillEventId(drill.id) });
}

function report({ params }: RouteRequest, drills: ServedDrills): Reply {
  const found = drills.report(idIn(params));
  return found === null ? unknownDrill() : json(200, found);
}

/** Again is harmless: one that has ended stays as it was. */
async function cancel(request: RouteRequest, ports: DrillPorts, access: Access): Promise<Reply> {
  const admitted = await admitAdmin(request, ports, access);
  if ('reply' in admitted) return admitted.reply;
  return ready(ports).cancel(admitted.admin, idIn(request.params)) === null ? unknownDrill() : NO_CONTENT;
}

function idIn(params: RouteRequest['params']): string {
  return (params['id'] ?? '').toLowerCase();
}

function ready({ drills }: DrillPorts): ServedDrills {
  const served = drills();
  if (served !== null) return served;
  throw new BridgeError('BRIDGE_APPROVALS_NOT_READY', 'it is not known yet which VM this is; ask again when /readyz says ready');
}

function unknownDrill(): Reply {
  return problem('unknown-drill', 'The bridge has no drill of this id, or has forgotten it.');
}
