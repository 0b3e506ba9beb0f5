// What can fail of a request to a log or search service → its error code, one list for all kinds.
import type { HttpCodes } from './failures.ts';

/** Their failures differ in the words of the message and in what the service said (`status`), not in what there is to do: so no kind has codes of its own. */
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
