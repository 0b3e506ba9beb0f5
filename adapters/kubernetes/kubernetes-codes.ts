// What can fail of a request to an API server → its error code, and what each status asks for.
import type { HttpCodes, HttpPlace, StatusMeaning } from '../http/failures.ts';

const CODES: HttpCodes = {
  unreachable: 'BRIDGE_KUBERNETES_UNREACHABLE',
  broken: 'BRIDGE_KUBERNETES_BROKEN',
  timeout: 'BRIDGE_KUBERNETES_TIMEOUT',
  tls: 'BRIDGE_KUBERNETES_TLS',
  forbiddenAddress: 'BRIDGE_KUBERNETES_FORBIDDEN_ADDRESS',
  tlsFiles: 'BRIDGE_KUBERNETES_ACCESS',
  misconfigured: 'BRIDGE_KUBERNETES_MISCONFIGURED',
  unavailable: 'BRIDGE_KUBERNETES_UNAVAILABLE',
  refused: 'BRIDGE_KUBERNETES_REFUSED',
  // No endpoint is ever retired, there is no proxy, and nobody is asked for a token.
  gone: 'BRIDGE_KUBERNETES_UNAVAILABLE',
  proxy: 'BRIDGE_KUBERNETES_UNREACHABLE',
  tokenRefused: 'BRIDGE_KUBERNETES_MISCONFIGURED',
  tokenUnavailable: 'BRIDGE_KUBERNETES_UNAVAILABLE',
};

const MISCONFIGURED = { failure: 'misconfigured', disposition: 'misconfigured', scope: 'sink' } as const;
const AGAIN: StatusMeaning = { failure: 'unavailable', disposition: 'retry', advice: 'it is tried again' };

const STATUSES: Readonly<Record<number, StatusMeaning>> = {
  401: {
    ...MISCONFIGURED,
    advice: 'it does not know the token or certificate: look at the service account, or at the user of the kubeconfig',
  },
  403: { ...MISCONFIGURED, advice: 'a right is missing: `check --connect` names it, deploy/kubernetes/rbac.yaml has them all' },
  404: { ...MISCONFIGURED, advice: 'there is no such node: set node to the name that `kubectl get nodes` shows' },
  409: { ...AGAIN, advice: 'somebody else changed it at the same moment again and again; it is tried again' },
  410: AGAIN,
};

/** How messages name the API server; `origin` is its scheme and host. */
export function placeOf(sink: string, origin: string): HttpPlace {
  return { codes: CODES, sink, target: origin, key: 'kubeconfig', credentials: 'kubeconfig', statuses: STATUSES };
}
