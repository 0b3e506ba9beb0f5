// Who the bridge is to the other side → the header `authorization` of each request.
import type { Secret } from '../../src/secrets/secret.ts';
import { headerValue } from './header-value.ts';
import { type RenewedDeps, RenewedSecrets } from './renewed-secrets.ts';

export interface Authorization {
  /** Null where the configured headers say it all. @throws BridgeError, or the signal's reason, where none can be had */
  header(signal: AbortSignal): Promise<string | null>;
  /** The receiver took this one for no good (401): the next one is a new one, where it can be had. */
  refused(header: string): void;
  /** Ends idle connections. */
  close(): void;
}

/** Headers alone. */
export const noAuthorization: Authorization = { header: () => Promise.resolve(null), refused: () => undefined, close: () => undefined };

/**
 * A header that is made of secrets, such as `Splunk TOKEN`; made again when a file that holds one of them changes.
 * @param make what they become, in their order
 */
export function secretAuthorization(
  secrets: readonly (readonly [key: string, secret: Secret])[],
  make: (values: readonly string[]) => string,
  deps: RenewedDeps,
): Authorization {
  const renewed = new RenewedSecrets(secrets, (values) => headerValue(make(values)), deps);
  return { ...noAuthorization, header: () => Promise.resolve(renewed.current()) };
}
