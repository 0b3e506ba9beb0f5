// Credentials → the header `authorization` of each request.
import type { Secret } from '../../src/secrets/secret.ts';
import { headerValue } from './header-value.ts';
import { type RenewedDeps, RenewedSecrets } from './renewed-secrets.ts';

export interface Authorization {
  /** Returns null if the configured headers are enough. @throws BridgeError, or the signal's reason, if no credential is available */
  header(signal: AbortSignal): Promise<string | null>;
  /** Reports that the receiver rejected this header (401). The next call of `header` returns a new one if possible. */
  refused(header: string): void;
  /** Ends idle connections. */
  close(): void;
}

/** Adds no header. */
export const noAuthorization: Authorization = { header: () => Promise.resolve(null), refused: () => undefined, close: () => undefined };

/**
 * Returns a header composed of secrets, such as `Splunk TOKEN`. The header is composed again when the file of a secret changes.
 * @param make composes the header from the values, in their order
 */
export function secretAuthorization(
  secrets: readonly (readonly [key: string, secret: Secret])[],
  make: (values: readonly string[]) => string,
  deps: RenewedDeps,
): Authorization {
  const renewed = new RenewedSecrets(secrets, (values) => headerValue(make(values)), deps);
  return { ...noAuthorization, header: () => Promise.resolve(renewed.current()) };
}
