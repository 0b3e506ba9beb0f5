// A Node error code → whether the network caused it, independent of the request, and its words.

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

/** Errors of the resolver when the name servers answered: they know no address of this name. */
const UNKNOWN_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_NODATA', 'EAI_NONAME']);

/**
 * Returns why a name has no address and what to do: `the name kafka.test could not be resolved (…): …`. Undefined if
 * the code is of another fault.
 * @param name the host; by default the one that Node's resolver names in the error
 */
export function nameAdvice(
  code: string,
  error: unknown,
  name: string | undefined = hostnameOf(error),
): string | undefined {
  if (!isNameFault(code)) return undefined;
  const what = name === undefined ? 'its name' : `the name ${name}`;
  return UNKNOWN_NAME.has(code)
    ? `${what} could not be resolved (${code}: the name servers do not know it): correct the name, or check the DNS of this machine`
    : `${what} could not be resolved (${code}: no name server answers): check the network and the DNS of this machine`;
}

/**
 * Returns why no connection was made, to follow the name of the server.
 * @param advice for all faults but those of the name
 */
export function unreachableWords(code: string, error: unknown, advice: string, name = hostnameOf(error)): string {
  const unresolved = nameAdvice(code, error, name);
  if (unresolved !== undefined) return `cannot be reached: ${unresolved}`;
  return `cannot be reached (${code}): ${code === 'ECONNREFUSED' ? NOT_LISTENING : advice}`;
}

const NOT_LISTENING = 'nothing listens there: check that it is running, its address and port';

/** As `nameAdvice`, for a text that quotes the message of Node's resolver. Undefined if it does not. */
export function nameAdviceIn(text: string): string | undefined {
  const { 1: code, 2: name } = RESOLVER.exec(text) ?? [];
  return code === undefined ? undefined : nameAdvice(code, undefined, name);
}

/** SDKs pass on the message alone. */
const RESOLVER = /getaddrinfo ([A-Z_]{1,20}) ([\w.-]{1,255})/;

function hostnameOf(error: unknown): string | undefined {
  const { hostname } = (error ?? {}) as { readonly hostname?: unknown };
  return typeof hostname === 'string' ? hostname : RESOLVER.exec(error instanceof Error ? error.message : '')?.[2];
}
