// Failures of a webhook's requests → their error codes.
import type { HttpCodes } from '../http/failures.ts';

export const WEBHOOK_CODES: HttpCodes = {
  unreachable: 'BRIDGE_WEBHOOK_UNREACHABLE',
  broken: 'BRIDGE_WEBHOOK_BROKEN',
  timeout: 'BRIDGE_WEBHOOK_TIMEOUT',
  tls: 'BRIDGE_WEBHOOK_TLS',
  proxy: 'BRIDGE_WEBHOOK_PROXY',
  forbiddenAddress: 'BRIDGE_WEBHOOK_FORBIDDEN_ADDRESS',
  tlsFiles: 'BRIDGE_WEBHOOK_TLS_FILES',
  misconfigured: 'BRIDGE_WEBHOOK_MISCONFIGURED',
  unavailable: 'BRIDGE_WEBHOOK_UNAVAILABLE',
  refused: 'BRIDGE_WEBHOOK_REFUSED',
  gone: 'BRIDGE_WEBHOOK_GONE',
  tokenRefused: 'BRIDGE_WEBHOOK_TOKEN_REFUSED',
  tokenUnavailable: 'BRIDGE_WEBHOOK_TOKEN_UNAVAILABLE',
};
