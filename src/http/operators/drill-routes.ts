// POST /v1/drills, GET and DELETE /v1/drills/ID (behaviour 11.32).
import { type DrillRequest, drillRequest } from '../../drills/options.ts';
import type { DrillReport } from '../../drills/report.ts';
import { BridgeError } from '../../errors.ts';
import { type Drill, drillEventId } from '../../model/drills.ts';
import { formatFault } from '../../schema/faults.ts';
import { validate } from '../../schema/validate.ts';
import { jsonBody } from '../openapi/bodies.ts';
import * as api from '../openapi/operation.ts';
import { problem } from '../problem.ts';
import { type ApiRoute, type ApproverRequest, json, NO_CONTENT, type Reply, type RouteRequest } from '../route.ts';

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

export interface DrillPorts {
  /** Null until it is known which VM this is. */
  readonly drills: () => ServedDrills | null;
}

export function drillRoutes(ports: DrillPorts): readonly ApiRoute[] {
  const path = '/v1/drills/:id';
  return [
    { method: 'POST', path: '/v1/drills', callers: 'admins', operation: BEGIN_DRILL, handle: (request) => begin(request, ports) },
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
  if (faults.length > 0 || output === undefined) return problem('bad-request', `${faults.map(formatFault).join('. ')}.`);
  const drill = ready(ports).begin(origin.approver, output);
  if (typeof drill === 'string') return problem(drill, REFUSALS[drill]);
  return json(201, { id: drill.id, eventId: drillEventId(drill.id) });
}

function report({ params }: RouteRequest, drills: ServedDrills): Reply {
  const found = drills.report(idIn(params));
  return found === null ? unknownDrill() : json(200, found);
}

/** Again is harmless: one that has ended stays as it was. */
function cancel({ params, origin }: ApproverRequest, ports: DrillPorts): Reply {
  return ready(ports).cancel(origin.approver, idIn(params)) === null ? unknownDrill() : NO_CONTENT;
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

const EXAMPLE = { id: api.EXAMPLE_ID.toLowerCase(), eventId: `drill-${api.EXAMPLE_ID.toLowerCase()}` };
const AT = '2026-01-01T00:00:00.000Z';
const PARAMETERS = [api.inPath('id', 'As the drill was given it.')];

const BEGIN_DRILL: api.Operation = {
  operationId: 'beginDrill',
  tag: 'operation',
  summary: 'Makes up an event that lives like a real one.',
  description:
    'For approvers with `admin: true`. It goes through the store, the sinks and approvals, marked `drill`; the metadata service is told of nothing. Several may run at once.',
  requestBody: jsonBody(
    api.named('DrillRequest', drillRequest),
    { notice: '2m', duration: '30s' },
    'All of it has defaults; at most 64 KiB, not compressed.',
  ),
  answers: { 201: api.jsonAnswer('It is announced.', api.shape('DrillBegun', { id: api.id, eventId: api.id }), EXAMPLE) },
  problems: ['event-listed', 'unnamed'],
};

const CHANGE = api.shape('DrillChange', {
  ...{ change: api.id, at: api.time },
  sinks: {
    ...api.list(api.object({ name: api.id, acceptedAt: api.timeOrNull, attempts: api.count })),
    description: 'Those whose filter lets it through.',
  },
});

const REPORT = api.shape('DrillReport', {
  ...{ id: api.id, eventId: api.id, state: { enum: ['scheduled', 'started', 'ended', 'canceled'] } },
  changes: api.list(CHANGE),
  approvers: { ...api.list(api.object({ name: api.id, at: api.time })), description: 'Who said yes.' },
  missing: { ...api.names, description: 'Whose yes it lacked when it started or was cancelled; before, whose it lacks.' },
});

const REPORT_DRILL: api.Operation = {
  operationId: 'reportDrill',
  tag: 'operation',
  summary: 'What each sink and each approver has done so far.',
  parameters: PARAMETERS,
  answers: {
    200: api.jsonAnswer('The report.', REPORT, {
      ...{ ...EXAMPLE, state: 'ended' },
      changes: [{ change: 'scheduled', at: AT, sinks: [{ name: 'hooks', acceptedAt: AT, attempts: 1 }] }],
      ...{ approvers: [{ name: 'orders', at: AT }], missing: ['billing'] },
    }),
  },
  problems: ['unknown-drill'],
};

const CANCEL_DRILL: api.Operation = {
  operationId: 'cancelDrill',
  tag: 'operation',
  summary: 'Ends a drill with the outcome canceled.',
  description: 'For approvers with `admin: true`. One that has ended stays as it was, which is no fault.',
  parameters: PARAMETERS,
  answers: { 204: { description: 'It has ended.' } },
  problems: ['unknown-drill'],
};
