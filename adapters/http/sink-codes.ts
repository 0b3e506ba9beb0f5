// Failures of a request to a log or search service → their error codes, one list for all kinds.
import type { HttpCodes } from './failures.ts';

/** All kinds share these codes, because the remedies are the same. Only messages and `status` differ. */
export const SINK_CODES: HttpCodes = {
  unreachable: 'BRIDGE_SINK_UNREACHABLE',
  broken: 'BRIDGE_SINK_BROKEN',
  timeout: 'BRIDGE_SINK_TIMEOUT',
  tls: 'BRIDGE_SINK_TLS',
  proxy: 'BRIDGE_SINK_PROXY',
  forbiddenAddress: 'BRIDGE_SINK_FORBIDDEN_ADDRESS',
  tlsFiles: 'BRIDGE_SINK_TLS_FILES',
  misconfigured: 'BRIDGE_SINK_MISCONFIGURED',
  unavailable: 'BRIDGE_SINK_UNAVAILABLE',
  refused: 'BRIDGE_SINK_REFUSED',
  gone: 'BRIDGE_SINK_GONE',
  tokenRefused: 'BRIDGE_SINK_TOKEN_REFUSED',
  tokenUnavailable: 'BRIDGE_SINK_TOKEN_UNAVAILABLE',
};
