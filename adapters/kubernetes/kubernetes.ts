// The kind `kubernetes`: options → an adapter that prepares and recovers the node of this VM.
import type { AdapterDefinition } from '../adapter.ts';
import { KubernetesAdapter } from './kubernetes-adapter.ts';
import {
  accessFiles,
  approverOf,
  type KubernetesOptions,
  kubeconfigFaults,
  kubernetesOptions,
  kubernetesSecretFaults,
} from './kubernetes-options.ts';

/** Applies event, condition, taint, cordon and drain before a maintenance, and undoes them after it. */
export const kubernetes: AdapterDefinition<KubernetesOptions> = {
  type: 'kubernetes',
  options: kubernetesOptions,
  secretFaults: kubernetesSecretFaults,
  contentFaults: kubeconfigFaults,
  decisiveFiles: accessFiles,
  approverOf,
  cancels: ({ cancel }) => cancel,
  create: (options, deps) => new KubernetesAdapter(options, deps),
};
