// `sasl` with mechanism oauthbearer → a token from Entra ID, a file or a variable.
import { AzureCredential, type AzureCredentialDeps } from '../../../src/azure/credential.ts';
import { azureAuthorityOf } from '../../../src/azure/options.ts';
import { BridgeError } from '../../../src/errors.ts';
import { fileReadFault, readRegularFile } from '../../../src/secrets/regular-file.ts';
import type { Secret } from '../../../src/secrets/secret.ts';
import { isToken, type SaslOptions } from '../options/sasl-options.ts';

type OauthBearerOptions = Extract<SaslOptions, { mechanism: 'oauthbearer' }>;

const never = new AbortController().signal;

/** Returns a function that gets a token for each connection. @param host a broker's host: the Event Hubs namespace of the token */
export function tokenSource(sasl: OauthBearerOptions, host: string, deps: AzureCredentialDeps, place: string): () => Promise<string> {
  const { token } = sasl;
  if (token !== undefined) return async () => readToken(token, place);
  const credential = new AzureCredential({ ...sasl, ...azureAuthorityOf(host) }, deps, `${place}.sasl`);
  // An abandoned connection stops waiting; the next one uses the token.
  return async () => (await credential.token(`https://${host.replace(/\.$/, '')}/.default`, never)).token;
}

/** @throws BridgeError BRIDGE_KAFKA_TOKEN */
function readToken(secret: Secret, place: string): string {
  const text = secret.file === null ? secret.reveal() : fileText(secret.file, place).trim();
  if (!isToken(text)) throw tokenFault(`${place}.sasl.token: ${secret.file ?? secret.origin} contains no valid bearer token`);
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
