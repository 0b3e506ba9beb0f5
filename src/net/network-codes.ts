// A Node error code → whether the network caused it, independent of the request.

/** The name has no address. */
const NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
/** No server at the address, or no route to it. */
const ROUTE: ReadonlySet<string> = new Set([
  ...[
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EHOSTDOWN',
    'ENETDOWN',
    'EADDRNOTAVAIL',
    'EACCES',
    'EPERM',
    'ETIMEDOUT',
  ],
]);

export function isNameFault(code: string): boolean {
  return NAME.has(code);
}

export function isUnreachableFault(code: string): boolean {
  return isNameFault(code) || ROUTE.has(code);
}
