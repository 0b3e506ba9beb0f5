// The bridge's state → GET /healthz, /readyz, /drainz and /metrics (behaviour 6.1, 11.20).
import type { MachineView } from '../model/operators.ts';
import * as api from './openapi/operation.ts';
import { FAULT } from './openapi/problems.ts';
import { json, type OpenRoute, problem, type RouteRequest } from './route.ts';

/** Whether the bridge does its work. The state of a sink does not count. */
export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, as sentences; empty if it is ready. */
  readonly reasons: readonly string[];
  /** More for operators: the sinks and their states. */
  readonly details: object;
}

/** What `GET /drainz` shows. `impact` is in lower case; `notBefore` RFC 3339, null once the event has started. */
export type DrainState =
  | { readonly state: 'serving' }
  | {
      readonly state: 'draining';
      readonly eventId: string;
      readonly impact: string;
      readonly notBefore: string | null;
    };

export interface HealthPorts {
  /** Without `isWhole`, the answer names no host and no path, and quotes no error. */
  readiness(isWhole: boolean): Readiness;
  /** Returns null if `http.drain` is not configured. */
  drain(): DrainState | null;
  metrics(): Promise<{ readonly contentType: string; readonly body: string | Uint8Array }>;
}

/** @param mayRead whether a caller may see all of `/readyz` */
export function healthRoutes(
  ports: HealthPorts,
  mayRead: (request: RouteRequest) => Promise<boolean>,
): readonly OpenRoute[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      callers: 'anyone',
      operation: GET_HEALTH,
      handle: () => json(200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      callers: 'anyone',
      operation: GET_READINESS,
      handle: async (request) => {
        const { ready, reasons, details } = ports.readiness(await mayRead(request));
        return json(ready ? 200 : 503, { ready, reasons, ...details });
      },
    },
    {
      method: 'GET',
      path: '/drainz',
      callers: 'anyone',
      operation: GET_DRAIN,
      handle: () => {
        const drain = ports.drain();
        if (drain === null)
          return problem('not-found', 'http.drain is not configured on this bridge: configure it first.');
        return json(drain.state === 'serving' ? 200 : 503, drain);
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      callers: 'anyone',
      operation: GET_METRICS,
      handle: async () => {
        const { contentType, body } = await ports.metrics();
        return { status: 200, headers: { 'content-type': contentType }, body };
      },
    },
  ];
}

const GET_HEALTH: api.ApiOperation = {
  operationId: 'getHealth',
  tag: 'health',
  summary: 'Checks if the process works.',
  answers: { 200: api.jsonAnswer('It works.', api.shape('Health', { status: { const: 'ok' } }), { status: 'ok' }) },
};

const REFUSED_RELOAD = api.named('RefusedReload', {
  description: 'The last reload, if it was refused. The configuration before it is in force.',
  ...api.object({
    at: api.time,
    by: api.optional(api.id),
    faults: api.optional(api.list(FAULT)),
    restart: api.optional(api.names),
  }),
});

/** The schemas of a MachineView. */
export const MACHINE = {
  vm: {
    ...api.object({ name: api.textOrNull, source: api.textOrNull }),
    description: "The VM's own name, and the `source` of its CloudEvents; null while unknown.",
  },
  version: { ...api.text, description: 'The version of the bridge.' },
  dryRun: { type: 'boolean', description: '`approvals.dryRun`: no StartRequest is sent.' },
  heldAll: {
    ...api.orNull(
      api.named('HeldAll', {
        description: 'A hold of everything: while it stands, the bridge submits nothing.',
        ...api.object({
          by: { ...api.id, description: 'The admin who set it.' },
          at: { ...api.time, description: 'When this reason was given.' },
          reason: api.textOrNull,
        }),
      }),
    ),
    description: 'The hold of everything; null if none stands.',
  },
  clock: api.object({
    offsetSeconds: {
      type: ['number', 'null'],
      description:
        "The clock of the metadata service minus this machine's, the median of ten answers. Positive: this machine is behind.",
    },
  }),
  certificates: {
    ...api.list(
      api.shape('ExpiringCertificate', {
        usedBy: { enum: ['listener', 'sink', 'source'] },
        name: { ...api.id, description: 'The key of the configuration that names its file.' },
        subject: { ...api.text, description: 'Its distinguished name, possibly empty.' },
        expiresAt: api.time,
      }),
    ),
    description: 'The certificates of the configuration that expire within 30 days or have expired.',
  },
} as const;

export const MACHINE_EXAMPLE: MachineView = {
  vm: { name: 'web_0', source: '/subscriptions/6b1c/resourcegroups/web' },
  version: '1.2.3',
  dryRun: false,
  heldAll: null,
  clock: { offsetSeconds: 0.2 },
  certificates: [],
};

const FOR_READERS = Object.fromEntries(Object.entries(MACHINE).map(([name, schema]) => [name, api.optional(schema)]));

const READINESS = api.shape('Readiness', {
  ready: { type: 'boolean' },
  reasons: { type: 'array', items: api.text, description: 'Why it is not ready, as sentences.' },
  ...FOR_READERS,
  configuration: api.object({ since: api.time, refused: api.orNull(REFUSED_RELOAD) }),
  sinks: {
    type: 'object',
    additionalProperties: api.shape('SinkStatus', {
      state: api.id,
      reason: api.optional(api.textOrNull),
      since: api.time,
      until: api.optional(api.time),
    }),
    description: 'By name. Their states do not count for `ready`.',
  },
});
const CONFIGURATION = { since: '2026-01-01T00:00:00Z', refused: null };

const GET_READINESS: api.ApiOperation = {
  operationId: 'getReadiness',
  tag: 'health',
  summary: 'Checks if the bridge sees events and stores them. The state of a sink does not count.',
  description:
    'Callers who may read events get the reasons in detail, and which machine this is. All others get no host, no path and no text of an error.',
  answers: {
    200: api.jsonAnswer('Ready.', READINESS, {
      ...{ ready: true, reasons: [], ...MACHINE_EXAMPLE, configuration: CONFIGURATION },
      sinks: { audit: { state: 'delivering', reason: null, since: '2026-01-01T00:00:00Z' } },
    }),
    503: api.jsonAnswer('Not ready; see `reasons`.', READINESS, {
      ...{
        ready: false,
        reasons: ['no good document of the metadata service yet'],
        configuration: CONFIGURATION,
        sinks: {},
      },
    }),
  },
};

const SERVING = api.shape('Serving', { state: { const: 'serving' } });
const DRAINING = api.shape('Draining', {
  state: { const: 'draining' },
  eventId: api.id,
  impact: { type: 'string', description: 'The EventType in lower case.' },
  notBefore: { ...api.timeOrNull, description: 'Null if the event has started, or has no NotBefore.' },
});

const GET_DRAIN: api.ApiOperation = {
  operationId: 'getDrain',
  tag: 'health',
  summary: "Checks if a load balancer should send requests to this machine, by the bridge's `http.drain`.",
  answers: {
    200: api.jsonAnswer('It should.', SERVING, { state: 'serving' }),
    503: api.jsonAnswer('It should not: an event of this machine is close.', DRAINING, {
      ...{ state: 'draining', eventId: api.EXAMPLE_ID, impact: 'reboot', notBefore: '2026-01-01T00:15:00Z' },
    }),
  },
  problems: ['not-found'],
};

const GET_METRICS: api.ApiOperation = {
  operationId: 'getMetrics',
  tag: 'health',
  summary: 'Metrics for Prometheus.',
  answers: {
    200: { description: 'Metrics in the text format of Prometheus.', content: { 'text/plain': { schema: api.text } } },
  },
};
