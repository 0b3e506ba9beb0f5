// @azure/identity → its credentials and their HTTP client. Import it lazily: 18 MB and 130 ms.
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
export { boundedHttpClient } from './bounded-http-client.ts';

/**
 * Clears the cached tokens of managed identities. The library keeps them for the whole process and has no function to
 * clear them, so this uses its internals; a test checks that they exist. Other credentials have their own cache.
 */
export function forgetIdentityTokens(): void {
  const application: unknown = Reflect.get(new ManagedIdentityCredential(), 'managedIdentityApp');
  const kept: unknown = application instanceof Object && Reflect.get(application.constructor, 'nodeStorage');
  if (kept instanceof Object && 'clear' in kept && typeof kept.clear === 'function') kept.clear();
}
