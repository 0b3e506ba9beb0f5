// GET /healthz, /readyz and /metrics → their paths in the OpenAPI document.
import { jsonResponse, type Node } from './node.ts';
import { problemResponses } from './problems.ts';

const CONFIGURATION = { since: '2026-01-01T00:00:00Z', refused: null };
const READY = {
  ready: true,
  reasons: [],
  configuration: CONFIGURATION,
  sinks: { audit: { state: 'delivering', reason: null, since: '2026-01-01T00:00:00Z' } },
};
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
