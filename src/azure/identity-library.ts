// @azure/identity → its credentials. Import it lazily: it takes 18 MB and 130 ms.
import { ManagedIdentityCredential } from '@azure/identity';

export {
  AzureCliCredential,
  ClientCertificateCredential,
  ClientSecretCredential,
  DefaultAzureCredential,
  EnvironmentCredential,
  ManagedIdentityCredential,
  WorkloadIdentityCredential,
} from '@azure/identity';

/**
 * Every other credential keeps its tokens itself. Those of managed identities are kept for the whole process, and the library has no call
 * that forgets them: hence the look into its inside, which a test keeps true.
 */
export function forgetIdentityTokens(): void {
  const application: unknown = Reflect.get(new ManagedIdentityCredential(), 'managedIdentityApp');
  const kept: unknown = application instanceof Object && Reflect.get(application.constructor, 'nodeStorage');
  if (kept instanceof Object && 'clear' in kept && typeof kept.clear === 'function') kept.clear();
}
