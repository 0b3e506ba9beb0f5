// The section `http` → requests to the bridge of this machine that listens there, and to no other.
import { X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { fileFault, readRegularFile } from '../../secrets/regular-file.ts';
import type { SecretReference } from '../../secrets/secret.ts';
import type { BridgeRequest } from './bridge-client.ts';

type OwnHttp = Pick<Config['http'], 'listen' | 'health' | 'tls'>;

/** `/readyz`, at `http.health` where there is one. `file`: the configuration. */
export function healthRequest({ listen, health, tls }: OwnHttp, file: string | undefined): BridgeRequest {
  return requestTo(health ?? listen, health === null ? tls : null, file, '/readyz');
}

/** A path of `http.listen`. */
export function ownRequest({ listen, tls }: OwnHttp, file: string, path: string): BridgeRequest {
  return requestTo(listen, tls, file, path);
}

function requestTo({ host, port }: OwnHttp['listen'], tls: OwnHttp['tls'], file: string | undefined, path: string): BridgeRequest {
  const url = `${tls === null ? 'http' : 'https'}://${addressed(host)}:${port}${path}`;
  const request = { method: 'GET', url, headers: {} } as const;
  // The certificate names the machine as others see it; here it is the certificate itself that the listener has to show.
  return tls === null ? request : { ...request, certificate: () => certificateIn(tls.cert.reference, file) };
}

/** As the file is now, since the bridge serves a renewed one within a second. It is no secret, and is read where none is. */
function certificateIn(reference: SecretReference, file: string | undefined): X509Certificate {
  const text = certificateText(resolve(dirname(file ?? ''), 'file' in reference ? reference.file : ''));
  try {
    return new X509Certificate(text);
  } catch {
    // What OpenSSL says of it may quote a key.
    throw new Error('http.tls.cert, which it would have to show, is no file with a certificate in PEM');
  }
}

function certificateText(path: string): string {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw new Error(`http.tls.cert, which it would have to show, ${fileFault(error)}`, { cause: error });
  }
}

/** Whoever listens at every address listens at loopback too. */
function addressed(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (!host.includes(':')) return host;
  return `[${host === '::' ? '::1' : host}]`;
}
