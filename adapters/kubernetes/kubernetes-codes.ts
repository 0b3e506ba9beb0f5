// A failed request to an API server → its error code, and the action for each status.
import { type HttpCodes, type HttpPlace, SINK_CODES, type StatusMeaning } from '../http/failures.ts';

/** No endpoint is retired, there is no proxy, and the sink requests no token: it never uses the other codes. */
const CODES: HttpCodes = {
  ...SINK_CODES,
  unreachable: 'BRIDGE_KUBERNETES_UNREACHABLE',
  broken: 'BRIDGE_KUBERNETES_BROKEN',
  timeout: 'BRIDGE_KUBERNETES_TIMEOUT',
  tls: 'BRIDGE_KUBERNETES_TLS',
  forbiddenAddress: 'BRIDGE_KUBERNETES_FORBIDDEN_ADDRESS',
  tlsFiles: 'BRIDGE_KUBERNETES_ACCESS',
  misconfigured: 'BRIDGE_KUBERNETES_MISCONFIGURED',
  unavailable: 'BRIDGE_KUBERNETES_UNAVAILABLE',
  refused: 'BRIDGE_KUBERNETES_REFUSED',
};

const MISCONFIGURED = { failure: 'misconfigured', disposition: 'misconfigured', scope: 'sink' } as const;
const AGAIN: StatusMeaning = { failure: 'unavailable', disposition: 'retry', advice: 'the bridge retries' };

const STATUSES: Readonly<Record<number, StatusMeaning>> = {
  401: {
    ...MISCONFIGURED,
    advice: 'it does not accept the token or certificate: check the service account, or the user of the kubeconfig',
  },
  403: {
    ...MISCONFIGURED,
    advice: 'a right is missing: `check --connect` names it, and deploy/kubernetes/rbac.yaml has all rights',
  },
  404: { ...MISCONFIGURED, advice: 'the node does not exist: set node to the name that `kubectl get nodes` shows' },
  409: { ...AGAIN, advice: 'other writers changed it at the same time, repeatedly; the bridge retries' },
  410: AGAIN,
};

/** Returns the names and codes for error messages. @param origin the scheme and host of the API server */
export function placeOf(sink: string, origin: string): HttpPlace {
  return { codes: CODES, sink, target: origin, key: 'kubeconfig', credentials: 'kubeconfig', statuses: STATUSES };
}
