// A Node error code → whether the network is at fault, whatever was sent.

/** The name leads to no address. */
const NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
/** Nobody there, or no way there. */
const ROUTE: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'ETIMEDOUT'],
]);

/** The other side cannot be found by its name. */
export function isNameFault(code: string): boolean {
  return NAME.has(code);
}

/** The other side cannot be found or reached. */
export function isUnreachableFault(code: string): boolean {
  return isNameFault(code) || ROUTE.has(code);
}
