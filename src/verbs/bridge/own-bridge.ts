// The section `http` → requests to the bridge of this machine that listens there.
import type { Config } from '../../config/config.ts';
import type { HttpRequest } from '../../net/http-exchange.ts';

type OwnHttp = Pick<Config['http'], 'listen' | 'health' | 'tls'>;

/** `/readyz`, at `http.health` where there is one. */
export function healthRequest({ listen, health, tls }: OwnHttp): HttpRequest {
  return requestTo(health ?? listen, health === null && tls !== null, '/readyz');
}

/** A path of `http.listen`. */
export function ownRequest({ listen, tls }: OwnHttp, path: string): HttpRequest {
  return requestTo(listen, tls !== null, path);
}

function requestTo({ host, port }: OwnHttp['listen'], isTls: boolean, path: string): HttpRequest {
  const url = `${isTls ? 'https' : 'http'}://${addressed(host)}:${port}${path}`;
  // The certificate names the machine as others see it; this is the machine itself, and what it is told stays on it.
  return { method: 'GET', url, headers: {}, ...(isTls && { tls: { rejectUnauthorized: false } }) };
}

/** Whoever listens at every address listens at loopback too. */
function addressed(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (!host.includes(':')) return host;
  return `[${host === '::' ? '::1' : host}]`;
}
