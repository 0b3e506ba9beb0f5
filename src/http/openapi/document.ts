// All paths and shapes of the main listener → the OpenAPI 3.1 document.
import packageJson from '../../../package.json' with { type: 'json' };
import { APPROVAL_PATHS } from './approval-paths.ts';
import { DRILL_PATHS } from './drill-paths.ts';
import { EVENT_PATHS } from './event-paths.ts';
import { HEALTH_PATHS } from './health-paths.ts';
import { HOLD_PATHS } from './hold-paths.ts';
import type { Node } from './node.ts';
import { OPERATOR_PATHS } from './operator-paths.ts';
import { problemResponses } from './problems.ts';
import { RELOAD_PATHS } from './reload-paths.ts';
import { SCHEMAS } from './schemas.ts';

const SECURITY_SCHEMES: Node = {
  bearer: { type: 'http', scheme: 'bearer', description: "An approver's or a reader's token, or a JWT where `jwt` is configured." },
  certificate: { type: 'mutualTLS', description: "An approver's client certificate, where client certificates are configured." },
};

/** HEAD is as GET; whatever else a path is asked gets 405. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'scheduled-events-bridge',
    version: packageJson.version,
    summary: 'Scheduled events of Azure, and approvals of them.',
    description:
      'A GET is answered to HEAD too. Another method than those of a path: 405 `method-not-allowed` with `Allow`; another path: 404 `not-found`.',
    license: { name: packageJson.license, identifier: packageJson.license },
  },
  servers: [{ url: '/' }],
  tags: [
    { name: 'health', description: 'For probes and Prometheus.' },
    { name: 'events', description: 'What is known.' },
    { name: 'approvals', description: 'Who approves, who holds, and what became of it.' },
    { name: 'operation', description: 'For those who run the bridge.' },
  ],
  paths: { ...HEALTH_PATHS, ...EVENT_PATHS, ...APPROVAL_PATHS, ...HOLD_PATHS, ...OPERATOR_PATHS, ...DRILL_PATHS, ...RELOAD_PATHS },
  components: {
    schemas: SCHEMAS,
    securitySchemes: SECURITY_SCHEMES,
    responses: { MethodNotAllowed: problemResponses('method-not-allowed')['405'], NotFound: problemResponses('not-found')['404'] },
  },
} as const;
