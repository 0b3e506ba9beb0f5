// A pod's environment and service account → the address and credentials of the API server.

import { join } from 'node:path';
import { urlHost } from '../../../src/formats/url-host.ts';
import type { Secret } from '../../../src/secrets/secret.ts';

/** The current texts of the files. */
export interface Access {
  readonly server: URL;
  /** PEM. Default: the certificate authorities of the machine. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name in the server's certificate, if it is not the host. */
  readonly serverName?: string | undefined;
  /** Absent if the client certificate is sufficient. */
  readonly token?: string | undefined;
}

/** The files of the credentials, and how to parse them. */
export interface AccessSource {
  readonly paths: readonly string[];
  /** Parses the texts, in the order of the paths. @throws with a reason that quotes none of them */
  readonly read: (texts: readonly string[]) => Access;
}

/** A name or an address. */
const HOST = /^[\da-z.:-]+$/i;

/** The variables that kubelet sets in every container. */
interface ServiceAddress {
  readonly host: Secret;
  readonly port: Secret;
}

/** @returns a fault, or null; both secrets are resolved */
export function clusterAddressFault({ host, port }: ServiceAddress): string | null {
  if (host.reveal() === '' || port.reveal() === '')
    return 'is missing: without it, the bridge must run in a pod, which sets KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT';
  const isAddress = HOST.test(host.reveal()) && /^\d+$/.test(port.reveal()) && URL.canParse(addressOf({ host, port }));
  return isAddress ? null : 'is missing: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not a valid address';
}

/** Kubelet renews the token. */
export function inClusterSource(address: ServiceAddress, folder: string): AccessSource {
  return {
    paths: [join(folder, 'token'), join(folder, 'ca.crt')],
    read: ([token = '', ca = '']) => {
      if (token.trim() === '') throw new Error(`${join(folder, 'token')} is empty`);
      return { server: new URL(addressOf(address)), token: token.trim(), ca };
    },
  };
}

function addressOf({ host, port }: ServiceAddress): string {
  return `https://${urlHost(host.reveal())}:${port.reveal()}`;
}
