// GET /healthz, /readyz, /drainz and /metrics → their paths in the OpenAPI document.
import { EXAMPLE_ID, jsonResponse, type Node } from './node.ts';
import { problemResponses } from './problems.ts';

const CONFIGURATION = { since: '2026-01-01T00:00:00Z', refused: null };
const READY = {
  ready: true,
  reasons: [],
  configuration: CONFIGURATION,
  sinks: { audit: { state: 'delivering', reason: null, since: '2026-01-01T00:00:00Z' } },
};
const DRAINING = { state: 'draining', eventId: EXAMPLE_ID, impact: 'reboot', notBefore: '2026-01-01T00:15:00Z' };
const UNREADY = { ready: false, reasons: ['no good document of the metadata service yet'], configuration: CONFIGURATION, sinks: {} };

export const HEALTH_PATHS: Node = {
  '/healthz': {
    get: {
      operationId: 'getHealth',
      tags: ['health'],
      summary: 'Whether the process works.',
      security: [],
      responses: { 200: jsonResponse('It does.', 'Health', { status: 'ok' }), ...problemResponses('internal') },
    },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      tags: ['health'],
      summary: 'Whether it sees events and stores them; the state of a sink does not enter.',
      description: 'Who may read events is told why in detail; all others nothing that names a host or a path or quotes an error.',
      security: [],
      responses: {
        200: jsonResponse('Ready.', 'Readiness', READY),
        503: jsonResponse('Not ready; `reasons` tells why.', 'Readiness', UNREADY),
        ...problemResponses('internal'),
      },
    },
  },
  '/drainz': {
    get: {
      operationId: 'getDrain',
      tags: ['health'],
      summary: "Whether a load balancer shall send this machine requests, as the bridge's `http.drain` says.",
      security: [],
      responses: {
        200: jsonResponse('It shall.', 'Serving', { state: 'serving' }),
        503: jsonResponse('It shall not: an event of this machine is near enough.', 'Draining', DRAINING),
        ...problemResponses('not-found', 'internal'),
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      tags: ['health'],
      summary: 'Metrics for Prometheus.',
      security: [],
      responses: {
        200: { description: 'The text format of Prometheus.', content: { 'text/plain': { schema: { type: 'string' } } } },
        ...problemResponses('internal'),
      },
    },
  },
};
