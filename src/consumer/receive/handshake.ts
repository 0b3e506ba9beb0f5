// A bridge's OPTIONS request → consent or none (CloudEvents webhook spec 1.0.2, section 4).

export interface HandshakeOptions {
  /** The origins that may deliver, as DNS names; `*` is any. None where absent: OPTIONS is answered 405 then. */
  readonly allowedOrigins?: readonly string[];
  /** Deliveries a minute; `*`, without a limit, where absent. */
  readonly allowedRate?: number | '*';
}

/** The headers that consent; null for an origin that may not deliver. */
export function consentFor(
  origin: string | null,
  { allowedOrigins = [], allowedRate = '*' }: HandshakeOptions,
): Record<string, string> | null {
  if (origin === null || origin === '') return null;
  const isAllowed = allowedOrigins.some((allowed) => allowed === '*' || allowed.toLowerCase() === origin.toLowerCase());
  return isAllowed ? { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': String(allowedRate), Allow: 'POST' } : null;
}
