// The origin of an OPTIONS request → consent, or null (CloudEvents webhook spec 1.0.2, section 4).

export interface HandshakeOptions {
  /** The origins that may deliver, as DNS names; `*` is any. If absent, OPTIONS is answered 405. */
  readonly allowedOrigins?: readonly string[];
  /** Deliveries a minute; `*`, which is no limit, if absent. */
  readonly allowedRate?: number | '*';
}

/** Returns the headers of the consent, or null for an origin that may not deliver. */
export function consentFor(
  origin: string | null,
  { allowedOrigins = [], allowedRate = '*' }: HandshakeOptions,
): Record<string, string> | null {
  if (origin === null || origin === '') return null;
  const isAllowed = allowedOrigins.some((allowed) => allowed === '*' || allowed.toLowerCase() === origin.toLowerCase());
  return isAllowed ? { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': String(allowedRate), Allow: 'POST' } : null;
}
