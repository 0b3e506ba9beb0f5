// The environment and the service account of a pod → the API server and how it is asked.
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Secret } from '../../../src/secrets/secret.ts';
import type { AccessSource } from './access.ts';

/** A name or an address. */
const HOST = /^[\da-z.:-]+$/i;

/** What kubelet tells every container. */
export interface ServiceAddress {
  readonly host: Secret;
  readonly port: Secret;
}

/** Both are open. */
export function serverFault({ host, port }: ServiceAddress): string | null {
  if (host.reveal() === '' || port.reveal() === '')
    return 'is missing: without it the bridge runs in a pod, where KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are set';
  const isAddress = HOST.test(host.reveal()) && /^\d+$/.test(port.reveal()) && URL.canParse(addressOf({ host, port }));
  return isAddress ? null : 'is missing: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are no address';
}

/** The token is one of those that kubelet renews. */
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
  const name = host.reveal();
  return `https://${isIPv6(name) ? `[${name}]` : name}:${port.reveal()}`;
}
