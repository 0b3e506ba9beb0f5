// A right of RBAC → whether the bridge has it, by the API server's own word.
import { isObject } from '../../../src/formats/json-object.ts';
import type { ApiClient } from './api-client.ts';

/** As a rule of a ClusterRole writes it: `nodes/status`. */
export interface Right {
  readonly resource: string;
  readonly verb: string;
  /** Absent: in all. */
  readonly namespace?: string;
}

/** Every account may ask this of itself. */
export async function isAllowed(api: ApiClient, { resource, verb, namespace }: Right, signal: AbortSignal): Promise<boolean> {
  const [name = '', subresource] = resource.split('/');
  const resourceAttributes = { group: '', resource: name, verb, ...(subresource && { subresource }), ...(namespace && { namespace }) };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  const { status } = await api.get({ method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body }, signal);
  return isObject(status) && status['allowed'] === true;
}
