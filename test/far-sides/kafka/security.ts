// A folder → certificates, users and tokens of tests, and what the broker is told of them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority, type Issued } from '../certificate-authority.ts';

/**
 * Names and passwords, the same for PLAIN and SCRAM. What they may do is all that no rule forbids (requests.ts,
 * `deny`).
 */
export const USERS: Readonly<Record<'writer' | 'reader', string>> = {
  writer: 'writer-secret-4711',
  reader: 'reader-secret-4712',
};

const MECHANISMS = 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER';

/** Files in PEM. */
export interface Certificates {
  /** The authority's. */
  readonly ca: string;
  /** Of a client; its Kafka user is `CN=issued`. */
  readonly client: Issued;
  /** The broker's certificate behind its key. */
  readonly broker: string;
}

/** For 127.0.0.1 and localhost, by an authority of its own. */
export async function issueCertificates(folder: string): Promise<Certificates> {
  const authority = await CertificateAuthority.createIn(folder);
  const broker = await authority.issue('IP:127.0.0.1,DNS:localhost');
  const client = await authority.issue('DNS:client');
  const file = join(folder, 'broker.pem');
  await writeFile(file, broker.key + broker.cert);
  return { ca: authority.file, client, broker: file };
}

/** A token of the kind that Kafka takes without a key, for mechanism OAUTHBEARER. @param nowMs since 1970 */
export function unsecuredToken(user: string, { nowMs = Date.now(), lifetimeMs = 3_600_000 } = {}): string {
  const claims = { sub: user, iat: nowMs / 1_000, exp: (nowMs + lifetimeMs) / 1_000 };
  const [head, body] = [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${head}.${body}.`;
}

/** For the first format of a broker's storage. */
export function scramArguments(): string[] {
  return Object.entries(USERS).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
}

/** Lines of a broker's configuration for its listeners TLS, MTLS, SASL and SASL_TLS. */
export function securityProperties({ ca, broker }: Certificates): Readonly<Record<string, string>> {
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // Whoever comes in without a name, by PLAINTEXT or TLS.
    'super.users': 'User:ANONYMOUS',
    'allow.everyone.if.no.acl.found': 'true',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': broker,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca,
    'listener.name.mtls.ssl.client.auth': 'required',
    ...saslProperties('sasl'),
    ...saslProperties('sasl_tls'),
  };
}

function saslProperties(listener: string): Record<string, string> {
  const at = `listener.name.${listener}`;
  const users = Object.entries(USERS).map(([name, password]) => `user_${name}="${password}"`);
  const module = (name: string, ...options: string[]) =>
    `org.apache.kafka.common.security.${name} required ${options.join(' ')};`;
  const scram = module('scram.ScramLoginModule');
  return {
    [`${at}.sasl.enabled.mechanisms`]: MECHANISMS,
    [`${at}.plain.sasl.jaas.config`]: module('plain.PlainLoginModule', ...users),
    [`${at}.scram-sha-256.sasl.jaas.config`]: scram,
    [`${at}.scram-sha-512.sasl.jaas.config`]: scram,
    [`${at}.oauthbearer.sasl.jaas.config`]: module(
      'oauthbearer.OAuthBearerLoginModule',
      'unsecuredLoginStringClaim_sub="broker"',
    ),
  };
}
