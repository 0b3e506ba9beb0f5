// `sasl` options → kafkajs's authentication. Loads kafkajs: import it lazily.
import type { Mechanism, SASLOptions } from 'kafkajs';
import type { AzureCredentialDeps } from '../../../src/azure/credential.ts';
import { reveal } from '../../../src/secrets/secret.ts';
import type { ConnectionSettings, KafkaConnectionOptions } from '../options/connection-options.ts';
import { CONNECTION_STRING_USER } from '../options/connection-string.ts';
import { oauthbearer } from './oauthbearer.ts';
import { tokenSource } from './token-source.ts';

/** Returns the authentication, or undefined if none is configured. @param options with open secrets, without faults */
export function authentication(
  { sasl, connectionString }: KafkaConnectionOptions,
  { brokers: [first], tls }: ConnectionSettings,
  deps: AzureCredentialDeps,
  place: string,
): SASLOptions | Mechanism | undefined {
  if (connectionString !== undefined) return { mechanism: 'plain', username: CONNECTION_STRING_USER, password: connectionString.reveal() };
  if (sasl === undefined) return undefined;
  if (sasl.mechanism === 'oauthbearer') {
    // With a private name, `serverName` is the host that the token must be for.
    const host = tls?.serverName ?? first?.host ?? '';
    return oauthbearer(tokenSource(sasl, host, deps, place), sasl.extensions ?? {});
  }
  return { mechanism: sasl.mechanism, username: reveal(sasl.username), password: sasl.password.reveal() } as SASLOptions;
}
