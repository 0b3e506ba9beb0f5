// POST /v1/drills, GET and DELETE /v1/drills/ID (behaviour 11.32).
import { type DrillRequest, drillRequest } from '../../drills/options.ts';
import type { DrillReport } from '../../drills/report.ts';
import { BridgeError } from '../../errors.ts';
import type { Drill } from '../../model/drills.ts';
import { drillEventId } from '../../model/ids.ts';
import { formatFault } from '../../schema/faults.ts';
import { validate } from '../../schema/validate.ts';
import { jsonBody } from '../openapi/bodies.ts';
import * as api from '../openapi/operation.ts';
import {
  type ApiRoute,
  type ApproverRequest,
  json,
  NO_CONTENT,
  problem,
  type Reply,
  type RouteRequest,
} from '../route.ts';

const REFUSALS = {
  'event-listed': 'A real event is listed. Begin the drill after its end, or with "force": true.',
  unnamed: 'The bridge has not found out which machine it runs on. Name the machines of the drill under "resources".',
} as const;

/** Each throws BridgeError BRIDGE_STORE_* if the store fails; then nothing is done. */
export interface ServedDrills {
  /** @param by the admin's name, for the log and the record, as below */
  begin(by: string, request: DrillRequest): Drill | keyof typeof REFUSALS;
  /** Returns null if there is no such drill. A drill that has ended stays as it was. */
  cancel(by: string, id: string): Drill | null;
  report(id: string): DrillReport | null;
}

export interface DrillPorts {
  /** Returns null until the bridge has found out which VM it runs on. */
  readonly drills: () => ServedDrills | null;
}

export function drillRoutes(ports: DrillPorts): readonly ApiRoute[] {
  const path = '/v1/drills/:id';
  return [
    {
      method: 'POST',
      path: '/v1/drills',
      callers: 'admins',
      operation: BEGIN_DRILL,
      handle: (request) => begin(request, ports),
    },
    {
      method: 'GET',
      path,
      callers: 'readers',
      operation: REPORT_DRILL,
      handle: (request) => request.inTurn(() => report(request, ready(ports))),
    },
    { method: 'DELETE', path, callers: 'admins', operation: CANCEL_DRILL, handle: (request) => cancel(request, ports) },
  ];
}

function begin({ value, origin }: ApproverRequest, ports: DrillPorts): Reply {
  const { output, faults } = validate(drillRequest, value, [], 'body');
  if (faults.length > 0 || output === undefined)
    return problem('bad-request', `${faults.map(formatFault).join('. ')}.`);
  const drill = ready(ports).begin(origin.approver, output);
  if (typeof drill === 'string') return problem(drill, REFUSALS[drill]);
  return json(201, { id: drill.id, eventId: drillEventId(drill.id) });
}

function report({ params }: RouteRequest, drills: ServedDrills): Reply {
  const found = drills.report(idIn(params));
  return found === null ? unknownDrill() : json(200, found);
}

/** Repeating it is harmless: a drill that has ended stays as it was. */
function cancel({ params, origin }: ApproverRequest, ports: DrillPorts): Reply {
  return ready(ports).cancel(origin.approver, idIn(params)) === null ? unknownDrill() : NO_CONTENT;
}

function idIn(params: RouteRequest['params']): string {
  return (params['id'] ?? '').toLowerCase();
}

function ready({ drills }: DrillPorts): ServedDrills {
  const served = drills();
  if (served !== null) return served;
  throw new BridgeError(
    'BRIDGE_APPROVALS_NOT_READY',
    'the name of this VM is not known yet; ask again when /readyz says ready',
  );
}

function unknownDrill(): Reply {
  return problem('unknown-drill', 'The bridge has no drill with this id, or has deleted it since. Check the id.');
}

const EXAMPLE = { id: api.EXAMPLE_ID.toLowerCase(), eventId: `drill-${api.EXAMPLE_ID.toLowerCase()}` };
const AT = '2026-01-01T00:00:00.000Z';
const SINK_EXAMPLE = { name: 'hooks', state: 'delivered', acceptedAt: AT, attempts: 1, status: null };
const PARAMETERS = [api.inPath('id', 'The id that `POST /v1/drills` returned.')];

const BEGIN_DRILL: api.ApiOperation = {
  operationId: 'beginDrill',
  tag: 'operation',
  summary: 'Begins a drill: a made-up event with the life of a real one.',
  description:
    'For approvers with `admin: true`. The event goes through the store, the sinks and approvals, marked `drill`. The metadata service gets no request for it. Several drills may run at once.',
  requestBody: jsonBody(
    api.named('DrillRequest', drillRequest),
    { notice: '2m', duration: '30s' },
    'Every member has a default. At most 64 KiB, not compressed.',
  ),
  answers: {
    201: api.jsonAnswer('The drill has begun.', api.shape('DrillBegun', { id: api.id, eventId: api.id }), EXAMPLE),
  },
  problems: ['event-listed', 'unnamed'],
};

const CHANGE = api.shape('DrillChange', {
  ...{ change: api.id, at: api.time },
  sinks: {
    ...api.list(
      api.object({
        name: api.id,
        state: api.DELIVERY_STATE,
        acceptedAt: api.timeOrNull,
        attempts: api.count,
        status: api.LAST_STATUS,
      }),
    ),
    description: 'The sinks whose filter matches.',
  },
});

const REPORT = api.shape('DrillReport', {
  ...{ id: api.id, eventId: api.id, state: { enum: ['scheduled', 'started', 'ended', 'canceled'] } },
  changes: api.list(CHANGE),
  approvers: { ...api.list(api.object({ name: api.id, at: api.time })), description: 'Who approved.' },
  missing: {
    ...api.names,
    description: 'Whose approval was missing when it started or was cancelled; before, whose is missing.',
  },
});

const REPORT_DRILL: api.ApiOperation = {
  operationId: 'reportDrill',
  tag: 'operation',
  summary: 'Reports what each sink and each approver has done so far.',
  parameters: PARAMETERS,
  answers: {
    200: api.jsonAnswer('The report.', REPORT, {
      ...{ ...EXAMPLE, state: 'ended' },
      changes: [{ change: 'scheduled', at: AT, sinks: [SINK_EXAMPLE] }],
      ...{ approvers: [{ name: 'orders', at: AT }], missing: ['billing'] },
    }),
  },
  problems: ['unknown-drill'],
};

const CANCEL_DRILL: api.ApiOperation = {
  operationId: 'cancelDrill',
  tag: 'operation',
  summary: 'Ends a drill with the outcome canceled.',
  description: 'For approvers with `admin: true`. A drill that has ended stays as it was; the answer is 204, too.',
  parameters: PARAMETERS,
  answers: { 204: { description: 'The drill has ended.' } },
  problems: ['unknown-drill'],
};
