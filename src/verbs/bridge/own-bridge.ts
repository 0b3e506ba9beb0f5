// The section `http` → requests to the bridge of this machine that listens there, and to no other.
import { X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { fileFault, readRegularFile } from '../../secrets/regular-file.ts';
import type { SecretReference } from '../../secrets/secret.ts';
import type { BridgeRequest } from './bridge-client.ts';

type OwnHttp = Pick<Config['http'], 'listen' | 'health' | 'tls'>;

/** Returns a request for `/readyz`, to `http.health` if it is configured. @param file the configuration, for relative paths */
export function healthRequest({ listen, health, tls }: OwnHttp, file: string | undefined): BridgeRequest {
  return requestTo(health ?? listen, health === null ? tls : null, file, '/readyz');
}

/** Returns a GET of a path of `http.listen`. @param file the configuration, for relative paths */
export function ownRequest({ listen, tls }: OwnHttp, file: string, path: string): BridgeRequest {
  return requestTo(listen, tls, file, path);
}

function requestTo({ host, port }: OwnHttp['listen'], tls: OwnHttp['tls'], file: string | undefined, path: string): BridgeRequest {
  const url = `${tls === null ? 'http' : 'https'}://${addressed(host)}:${port}${path}`;
  const request = { method: 'GET', url, headers: {} } as const;
  // The certificate names the machine by its public name, not loopback, so the listener must present exactly this certificate.
  return tls === null ? request : { ...request, certificate: () => certificateIn(tls.cert.reference, file) };
}

/** Reads the file for each request, because the bridge serves a renewed certificate within a second. A certificate is not a secret. */
function certificateIn(reference: SecretReference, file: string | undefined): X509Certificate {
  const text = certificateText(resolve(dirname(file ?? ''), 'file' in reference ? reference.file : ''));
  try {
    return new X509Certificate(text);
  } catch {
    // OpenSSL's message may quote a key.
    throw new Error('the file of http.tls.cert, which the bridge must present, has no certificate in PEM');
  }
}

function certificateText(path: string): string {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw new Error(`the file of http.tls.cert, which the bridge must present, ${fileFault(error)}`, { cause: error });
  }
}

/** A listener on every address also listens on loopback. */
function addressed(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (!host.includes(':')) return host;
  return `[${host === '::' ? '::1' : host}]`;
}
