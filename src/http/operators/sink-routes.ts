// GET /v1/sinks, POST /v1/sinks/NAME/pause and /resume (behaviour 11.6).
import type { ErrorCode } from '../../errors.ts';
import { LANE_STATES } from '../../model/deliveries.ts';
import type {
  DeadLetterPage,
  DeadLetterRange,
  JournalPage,
  JournalRange,
  RunningView,
  SinkView,
} from '../../model/operators.ts';
import * as api from '../openapi/operation.ts';
import { type ApiRoute, type ApproverRequest, json, problem, type Reply } from '../route.ts';

export function sinkRoutes(ports: OperatorPorts): readonly ApiRoute[] {
  const act = (what: 'pause' | 'resume'): ApiRoute => ({
    method: 'POST',
    path: `/v1/sinks/:name/${what}`,
    callers: 'admins',
    operation: CHANGE[what],
    handle: (request) => change(what, request, ports),
  });
  return [
    {
      method: 'GET',
      path: '/v1/sinks',
      callers: 'readers',
      operation: LIST_SINKS,
      handle: (request) => request.inTurn(() => json(200, ports.operations.sinks())),
    },
    act('pause'),
    act('resume'),
  ];
}

async function change(
  what: 'pause' | 'resume',
  { params, origin }: ApproverRequest,
  ports: OperatorPorts,
): Promise<Reply> {
  const sink = await ports.operations[what](params['name'] ?? '', origin.approver);
  return sink === null ? noSuchSink() : json(200, sink);
}

export function noSuchSink(): Reply {
  return problem('unknown-sink', 'The bridge has no sink with this name; GET /v1/sinks lists its sinks.');
}

/** The members of `RunningView`. */
export const RUNNING = {
  since: api.time,
  attempt: { type: 'integer', minimum: 1 },
  last: {
    ...api.textOrNull,
    maxLength: 1000,
    description: 'The last line of the program, or the pod and disruption budget that a drain waits for.',
  },
} as const;

const SINK = api.shape('Sink', {
  name: api.id,
  type: api.id,
  state: { enum: LANE_STATES },
  queued: api.count,
  oldestAt: api.timeOrNull,
  lastAcceptedAt: api.timeOrNull,
  lastError: api.orNull(api.object({ code: api.id, message: api.text, at: api.time })),
  deadLetters: api.count,
  running: {
    ...api.list(api.object({ eventId: api.orNull(api.id), ...RUNNING })),
    description: 'Deliveries that a sink of type command or kubernetes works on now.',
  },
});

const CODE: ErrorCode = 'BRIDGE_SINK_MISCONFIGURED';
const EXAMPLE = {
  ...{
    name: 'hooks',
    type: 'webhook',
    state: 'misconfigured',
    queued: 3,
    oldestAt: '2026-01-01T00:00:00.000Z',
    lastAcceptedAt: null,
  },
  lastError: { code: CODE, message: 'hooks.example.com answered 404', at: '2026-01-01T00:00:01.000Z' },
  deadLetters: 0,
  running: [],
};

const LIST_SINKS: api.ApiOperation = {
  operationId: 'listSinks',
  tag: 'operation',
  summary: 'Lists each sink with its state, its queue and its last error.',
  answers: { 200: api.jsonAnswer('All of them.', api.named('Sinks', api.list(SINK)), [EXAMPLE]) },
};

function changing(operationId: string, summary: string, state: string): api.ApiOperation {
  return {
    ...{ operationId, tag: 'operation', summary, parameters: [api.inPath('name', 'A sink.')] },
    description: 'For approvers with `admin: true`. No body. Repeating it is harmless.',
    answers: { 200: api.jsonAnswer('The sink, with its new state.', SINK, { ...EXAMPLE, state }) },
    problems: ['unknown-sink'],
  };
}

const CHANGE = {
  pause: changing('pauseSink', 'Stops deliveries to a sink until it is resumed. Its queue keeps growing.', 'paused'),
  resume: changing('resumeSink', 'Ends a pause and a retirement.', 'delivering'),
};

/** Each throws BridgeError BRIDGE_STORE_* if the store fails; then nothing is done. */
export interface OperatorActions {
  sinks(): readonly SinkView[];
  /** Resolves with null if there is no such sink. @param by the admin's name, for the log and the record, as below */
  pause(sink: string, by: string): Promise<SinkView | null>;
  resume(sink: string, by: string): Promise<SinkView | null>;
  deadLetters(range: DeadLetterRange): DeadLetterPage;
  /**
   * Does all or nothing. Returns how many, the ids that are not dead letters of the sink, or null if there is no such
   * sink.
   */
  decide(act: 'retry' | 'discard', sink: string, ids: readonly string[], by: string): number | readonly string[] | null;
  journal(range: JournalRange): JournalPage;
  /** Returns the work in progress, by the `seq` of its delivery. */
  running(): ReadonlyMap<number, RunningView>;
}

export interface OperatorPorts {
  readonly operations: OperatorActions;
}
