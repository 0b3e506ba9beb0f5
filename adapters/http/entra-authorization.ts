// A credential of Microsoft Entra ID and a scope → the header `authorization` of each request.
import { AzureCredential, type AzureCredentialDeps } from '../../src/azure/credential.ts';
import { azureTimeout } from '../../src/azure/fault.ts';
import { type AzureCredentialOptions, azureAuthorityOf } from '../../src/azure/options.ts';
import { BridgeError } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import type { RequestAuthorization } from './authorization.ts';

const SCHEME = 'Bearer ';

interface EntraParts {
  /** The scope of the tokens. */
  readonly scope: string;
  /** The target's host, which selects the cloud. */
  readonly host: string;
  /** The path of the credential in the configuration, for messages. */
  readonly place: string;
  /** The time limit of one request, in milliseconds, for messages. */
  readonly timeout: number;
  /** Returns whether a rejected token may be dropped now. Default: always. */
  readonly mayDrop?: () => boolean;
}

/** Requests a token at first use, and keeps it until shortly before it expires. */
export function entraAuthorization(
  options: AzureCredentialOptions,
  deps: AzureCredentialDeps,
  parts: EntraParts,
): RequestAuthorization {
  const { scope, host, place, timeout, mayDrop = () => true } = parts;
  const credential = new AzureCredential({ ...options, ...azureAuthorityOf(host) }, deps, place);
  let last: string | null = null;
  return {
    async header(signal) {
      try {
        last = `${SCHEME}${(await credential.token(scope, signal)).token}`;
        return last;
      } catch (error) {
        // Otherwise the attempt's time-out would blame the target, which got no request yet.
        if (!signal.aborted || !(signal.reason instanceof BridgeError)) throw error;
        throw azureTimeout(place, options.credential ?? 'default', formatDuration(timeout));
      }
    },
    refused: (header) => {
      if (header === last && mayDrop()) credential.refused(scope, header.slice(SCHEME.length));
    },
    close: () => undefined,
  };
}
