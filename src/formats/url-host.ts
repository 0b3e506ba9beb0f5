// A host name or an address → the host of a URL: an IPv6 address in brackets (RFC 3986, 3.2.2).

/** @param host without brackets */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The same for a listener as this machine reaches it: one on every address also listens on loopback. */
export function ownUrlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return urlHost(host === '::' ? '::1' : host);
}
