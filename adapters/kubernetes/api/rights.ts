// A right of RBAC → whether the API server gives it to the bridge.
import { isObject } from '../../../src/formats/json-object.ts';
import type { ApiClient } from './api-client.ts';

/** In the form of a ClusterRole: `nodes/status`. */
export interface Right {
  readonly resource: string;
  readonly verb: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
}

/** Every account may make this request for itself. */
export async function isAllowed(api: ApiClient, { resource, verb, namespace }: Right, signal: AbortSignal): Promise<boolean> {
  const [name = '', subresource] = resource.split('/');
  const resourceAttributes = { group: '', resource: name, verb, ...(subresource && { subresource }), ...(namespace && { namespace }) };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  const { status } = await api.get({ method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body }, signal);
  return isObject(status) && status['allowed'] === true;
}
