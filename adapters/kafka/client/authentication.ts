// `sasl` options → kafkajs's authentication, and its tokens. Loads kafkajs: import it lazily.
import type { Mechanism, SASLOptions } from 'kafkajs';
import { AzureCredential, type AzureCredentialDeps } from '../../../src/azure/credential.ts';
import { azureAuthorityOf } from '../../../src/azure/options.ts';
import { BridgeError } from '../../../src/errors.ts';
import { fileReadFault, readRegularFile } from '../../../src/secrets/regular-file.ts';
import { reveal, type Secret } from '../../../src/secrets/secret.ts';
import type { ConnectionSettings, KafkaConnectionOptions } from '../options/connection-options.ts';
import { CONNECTION_STRING_USER } from '../options/connection-string.ts';
import { isToken, type SaslOptions } from '../options/sasl-options.ts';
import { oauthbearer } from './oauthbearer.ts';

/** Returns the authentication, or undefined if none is configured. @param options with open secrets, without faults */
export function authentication(
  { sasl, connectionString }: KafkaConnectionOptions,
  { brokers: [first], tls }: ConnectionSettings,
  deps: AzureCredentialDeps,
  place: string,
): SASLOptions | Mechanism | undefined {
  if (connectionString !== undefined)
    return { mechanism: 'plain', username: CONNECTION_STRING_USER, password: connectionString.reveal() };
  if (sasl === undefined) return undefined;
  if (sasl.mechanism === 'oauthbearer') {
    // With a private name, `serverName` is the host that the token must be for.
    const host = tls?.serverName ?? first?.host ?? '';
    return oauthbearer(tokenSource(sasl, host, deps, place), sasl.extensions ?? {});
  }
  return {
    mechanism: sasl.mechanism,
    username: reveal(sasl.username),
    password: sasl.password.reveal(),
  } as SASLOptions;
}

type OauthBearerOptions = Extract<SaslOptions, { mechanism: 'oauthbearer' }>;

const never = new AbortController().signal;

/**
 * Returns a function that gets a token for each connection.
 * @param host a broker's host: the Event Hubs namespace of the token
 */
function tokenSource(
  sasl: OauthBearerOptions,
  host: string,
  deps: AzureCredentialDeps,
  place: string,
): () => Promise<string> {
  const { token } = sasl;
  if (token !== undefined) return async () => readToken(token, place);
  const credential = new AzureCredential({ ...sasl, ...azureAuthorityOf(host) }, deps, `${place}.sasl`);
  // An abandoned connection stops waiting; the next one uses the token.
  return async () => (await credential.token(`https://${host.replace(/\.$/, '')}/.default`, never)).token;
}

/** @throws BridgeError BRIDGE_KAFKA_TOKEN */
function readToken(secret: Secret, place: string): string {
  const text = secret.file === null ? secret.reveal() : fileText(secret.file, place).trim();
  if (!isToken(text))
    throw tokenFault(`${place}.sasl.token: ${secret.file ?? secret.origin} contains no valid bearer token`);
  return text;
}

function fileText(file: string, place: string): string {
  try {
    return readRegularFile(file);
  } catch (error) {
    throw tokenFault(`${place}.sasl.token: ${file} ${fileReadFault(error)}`);
  }
}

function tokenFault(what: string): BridgeError {
  const message = `${what}: correct the program that writes it; the bridge reads it again for each connection`;
  return new BridgeError('BRIDGE_KAFKA_TOKEN', message, { disposition: 'misconfigured', scope: 'sink' });
}
