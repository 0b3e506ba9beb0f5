// The bridge's state → GET /healthz, /readyz, /drainz and /metrics (behaviour 6.1, 11.20).
import * as api from './openapi/operation.ts';
import { FAULT } from './openapi/problems.ts';
import { problem } from './problem.ts';
import { json, type OpenRoute, type RouteRequest } from './route.ts';

/** Whether the bridge does its work; the state of a sink does not enter. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, in plain words; empty when ready. */
  readonly reasons: readonly string[];
  /** More to look at: the sinks and their states. */
  readonly details: object;
}

/** What `GET /drainz` shows. `impact` is in lower case; `notBefore` RFC 3339, null once the event has started. */
export type DrainState =
  | { readonly state: 'serving' }
  | { readonly state: 'draining'; readonly eventId: string; readonly impact: string; readonly notBefore: string | null };

export interface HealthPorts {
  /** Unless `isWhole`, without what names a host or a path or quotes an error. */
  readiness(isWhole: boolean): Readiness;
  /** Null where `http.drain` is not configured. */
  drain(): DrainState | null;
  metrics(): Promise<{ readonly contentType: string; readonly body: string | Uint8Array }>;
}

/** @param mayRead who may see the whole of `/readyz` */
export function healthRoutes(ports: HealthPorts, mayRead: (request: RouteRequest) => Promise<boolean>): readonly OpenRoute[] {
  return [
    { method: 'GET', path: '/healthz', callers: 'anyone', operation: GET_HEALTH, handle: () => json(200, { status: 'ok' }) },
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
        if (drain === null) return problem('not-found', 'http.drain is not configured: this server takes no machine out of a pool.');
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

const GET_HEALTH: api.Operation = {
  operationId: 'getHealth',
  tag: 'health',
  summary: 'Whether the process works.',
  answers: { 200: api.jsonAnswer('It does.', api.shape('Health', { status: { const: 'ok' } }), { status: 'ok' }) },
};

const REFUSED_RELOAD = api.named('RefusedReload', {
  description: 'Of the last reload, where it was refused; the configuration before is in force.',
  ...api.object({ at: api.time, by: api.optional(api.id), faults: api.optional(api.list(FAULT)), restart: api.optional(api.names) }),
});

const READINESS = api.shape('Readiness', {
  ready: { type: 'boolean' },
  reasons: { type: 'array', items: api.text, description: 'Why not, in plain words.' },
  configuration: api.object({ since: api.time, refused: api.orNull(REFUSED_RELOAD) }),
  sinks: {
    type: 'object',
    additionalProperties: api.shape('SinkStatus', {
      state: api.id,
      reason: api.optional(api.textOrNull),
      since: api.time,
      until: api.optional(api.time),
    }),
    description: 'By name; they do not enter.',
  },
});
const CONFIGURATION = { since: '2026-01-01T00:00:00Z', refused: null };

const GET_READINESS: api.Operation = {
  operationId: 'getReadiness',
  tag: 'health',
  summary: 'Whether it sees events and stores them; the state of a sink does not enter.',
  description: 'Who may read events is told why in detail; all others nothing that names a host or a path or quotes an error.',
  answers: {
    200: api.jsonAnswer('Ready.', READINESS, {
      ...{ ready: true, reasons: [], configuration: CONFIGURATION },
      sinks: { audit: { state: 'delivering', reason: null, since: '2026-01-01T00:00:00Z' } },
    }),
    503: api.jsonAnswer('Not ready; `reasons` tells why.', READINESS, {
      ...{ ready: false, reasons: ['no good document of the metadata service yet'], configuration: CONFIGURATION, sinks: {} },
    }),
  },
};

const SERVING = api.shape('Serving', { state: { const: 'serving' } });
const DRAINING = api.shape('Draining', {
  state: { const: 'draining' },
  eventId: api.id,
  impact: { type: 'string', description: 'The EventType in lower case.' },
  notBefore: { ...api.timeOrNull, description: 'Null once the event has started, or where it has none.' },
});

const GET_DRAIN: api.Operation = {
  operationId: 'getDrain',
  tag: 'health',
  summary: "Whether a load balancer shall send this machine requests, as the bridge's `http.drain` says.",
  answers: {
    200: api.jsonAnswer('It shall.', SERVING, { state: 'serving' }),
    503: api.jsonAnswer('It shall not: an event of this machine is near enough.', DRAINING, {
      ...{ state: 'draining', eventId: api.EXAMPLE_ID, impact: 'reboot', notBefore: '2026-01-01T00:15:00Z' },
    }),
  },
  problems: ['not-found'],
};

const GET_METRICS: api.Operation = {
  operationId: 'getMetrics',
  tag: 'health',
  summary: 'Metrics for Prometheus.',
  answers: { 200: { description: 'The text format of Prometheus.', content: { 'text/plain': { schema: api.text } } } },
};
