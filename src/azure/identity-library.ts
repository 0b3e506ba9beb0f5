// @azure/identity → its credentials, for who imports this file lazily: 18 MB and 130 ms that nobody pays for without an identity of Azure.
export {
  AzureCliCredential,
  ClientCertificateCredential,
  ClientSecretCredential,
  DefaultAzureCredential,
  EnvironmentCredential,
  ManagedIdentityCredential,
  WorkloadIdentityCredential,
} from '@azure/identity';
