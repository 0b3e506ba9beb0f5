// An Entra ID identity → its tokens, cached until shortly before they expire.
import type { TokenCredential } from '@azure/identity';
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import { formatDuration } from '../formats/durations.ts';
import type { Instant } from '../model/events.ts';
import { fileReadFault, readRegularFile } from '../secrets/regular-file.ts';
import type { Secret } from '../secrets/secret.ts';
import { type Deps, deadline, now, orAbort } from '../time/clock.ts';
import { azureFault, azureTimeout } from './fault.ts';
import type { AzureCredentialOptions } from './options.ts';

/** Less than the five minutes before expiry in which the library does not return its cached token. */
const MARGIN_MS = 240_000;
/** A token is kept for at least this time, so that a short-lived one is not requested again at each use. */
const LEAST_KEPT_MS = 30_000;
const TIMEOUT_MS = 30_000;
/**
 * The metadata service, which issues the tokens of managed identities, accepts five requests a second, and the bridge
 * polls it too.
 */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export interface AzureToken {
  readonly token: string;
  /** Wall time. */
  readonly expiresAtMs: number;
}

export interface AzureCredentialDeps extends Pick<Deps, 'wallMs' | 'elapsedMs' | 'after' | 'random'> {
  readonly logger: Logger;
}

interface Held {
  readonly token: AzureToken;
  readonly since: Instant;
  readonly lifetimeMs: number;
  readonly renewAfterMs: number;
}

interface Failure {
  readonly error: BridgeError;
  readonly times: number;
  readonly untilMs: number;
}

/** The state for one scope. */
interface Account {
  held: Held | null;
  request: Promise<Held> | null;
  failure: Failure | null;
}

/**
 * Loads the library and requests a token at first use. Sends one request at a time for each scope, which all callers
 * share.
 */
export class AzureCredential {
  readonly #options: AzureCredentialOptions;
  readonly #deps: AzureCredentialDeps;
  readonly #place: string;
  readonly #accounts = new Map<string, Account>();
  #credential: { readonly pem: string; readonly credential: Promise<TokenCredential> } | null = null;
  /** Whether the library has cached a rejected token. */
  #isStale = false;

  /**
   * @param options valid, with resolved secrets
   * @param place the path of the options for error messages, such as `sinks.stream.sasl`
   */
  constructor(options: AzureCredentialOptions, deps: AzureCredentialDeps, place: string) {
    this.#options = options;
    this.#deps = deps;
    this.#place = place;
  }

  /**
   * Returns a token for a scope, such as `https://NAMESPACE.servicebus.windows.net/.default`. If it cannot be renewed,
   * returns the old one until it expires.
   * @throws BridgeError BRIDGE_AZURE_REFUSED or BRIDGE_AZURE_UNAVAILABLE, repeated during the pause after a failure; or
   * the signal's reason
   */
  async token(scope: string, signal: AbortSignal): Promise<AzureToken> {
    signal.throwIfAborted();
    const account = this.#account(scope);
    const { held, failure } = account;
    const ageMs = held === null ? 0 : this.#ageMs(held.since);
    if (held !== null && ageMs < held.renewAfterMs) return held.token;
    const usable =
      held !== null && ageMs < held.lifetimeMs - Math.min(LEAST_KEPT_MS, held.lifetimeMs / 20) ? held.token : null;
    if (failure !== null && this.#deps.elapsedMs() < failure.untilMs) {
      if (usable !== null) return usable;
      throw failure.error;
    }
    account.request ??= this.#ask(scope, account);
    try {
      return (await orAbort(account.request, signal)).token;
    } catch (error) {
      if (usable !== null && error instanceof BridgeError && !signal.aborted) return usable;
      throw error;
    }
  }

  /** The resource rejected this token: the next one comes from Entra ID, not from a cache. */
  refused(scope: string, token: string): void {
    const account = this.#account(scope);
    if (account.held?.token.token !== token) return;
    account.held = null;
    this.#isStale = true;
  }

  #account(scope: string): Account {
    const known = this.#accounts.get(scope);
    const account = known ?? { held: null, request: null, failure: null };
    if (known === undefined) this.#accounts.set(scope, account);
    return account;
  }

  #ask(scope: string, account: Account): Promise<Held> {
    const request = this.#request(scope)
      .then((held) => {
        account.held = held;
        account.failure = null;
        return held;
      })
      .catch((error: BridgeError) => {
        const times = (account.failure?.times ?? 0) + 1;
        const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1)) * (0.5 + this.#deps.random() / 2);
        account.failure = { error, times, untilMs: this.#deps.elapsedMs() + pauseMs };
        this.#deps.logger.debug(
          { reason: error.message, pauseMs: Math.round(pauseMs) },
          'no token from Microsoft Entra ID',
        );
        throw error;
      })
      .finally(() => {
        account.request = null;
      });
    // Waiting callers get the failure; without callers it must not become an unhandled rejection.
    request.catch(() => {});
    return request;
  }

  async #request(scope: string): Promise<Held> {
    const kind = this.#options.credential ?? 'default';
    const since = now(this.#deps);
    using limit = deadline(this.#deps, TIMEOUT_MS, () => azureTimeout(this.#place, kind, formatDuration(TIMEOUT_MS)));
    try {
      // Some credentials ignore the signal.
      const answer = this.#open().then((credential) => credential.getToken(scope, { abortSignal: limit.signal }));
      const given = await orAbort(answer, limit.signal);
      if (given === null) throw new Error('no credential is set up');
      const lifetimeMs = given.expiresOnTimestamp - since.wallMs;
      const renewAfterMs = Math.max(
        lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 10),
        Math.min(LEAST_KEPT_MS, lifetimeMs / 2),
      );
      return { token: { token: given.token, expiresAtMs: given.expiresOnTimestamp }, since, lifetimeMs, renewAfterMs };
    } catch (error) {
      if (error instanceof BridgeError) throw error;
      const { clientSecret, certificate } = this.#options;
      throw azureFault(error, this.#place, kind, [clientSecret?.reveal() ?? '', certificate?.reveal() ?? '']);
    }
  }

  /** Creates a new credential if the certificate's file has changed, or a token was rejected. */
  #open(): Promise<TokenCredential> {
    if (this.#isStale) this.#credential = null;
    const pem = this.#options.certificate === undefined ? '' : pemOf(this.#options.certificate, this.#place);
    if (this.#credential?.pem !== pem)
      this.#credential = { pem, credential: createCredential(this.#options, pem, this.#isStale, this.#deps) };
    this.#isStale = false;
    // A failure to load the library, or options that it rejects, is reported at each use.
    this.#credential.credential.catch(() => {
      this.#credential = null;
    });
    return this.#credential.credential;
  }

  /** Uses the clock that advanced more: while a machine is frozen, one of the clocks may stop. */
  #ageMs({ wallMs, elapsedMs }: Instant): number {
    return Math.max(this.#deps.wallMs() - wallMs, this.#deps.elapsedMs() - (elapsedMs ?? 0));
  }
}

/** Disables the library's retries, and its request to Microsoft that validates the authority. */
async function createCredential(
  options: AzureCredentialOptions,
  pem: string,
  isStale: boolean,
  deps: Pick<Deps, 'after'>,
): Promise<TokenCredential> {
  const azure = await import('./identity-library.ts');
  if (isStale) azure.forgetIdentityTokens();
  const { credential = 'default', clientId, tenantId, clientSecret, authorityHost } = options;
  const authority = authorityHost !== undefined && { authorityHost };
  const httpClient = azure.boundedHttpClient(deps);
  const common = { httpClient, retryOptions: { maxRetries: 0 }, disableInstanceDiscovery: true, ...authority };
  const identity = { ...(clientId !== undefined && { clientId }), ...(tenantId !== undefined && { tenantId }) };
  switch (credential) {
    case 'managed-identity':
      return new azure.ManagedIdentityCredential({ ...common, ...(clientId !== undefined && { clientId }) });
    case 'workload-identity':
      return new azure.WorkloadIdentityCredential({ ...common, ...identity });
    case 'client-secret':
      return new azure.ClientSecretCredential(tenantId ?? '', clientId ?? '', clientSecret?.reveal() ?? '', common);
    case 'client-certificate':
      return new azure.ClientCertificateCredential(tenantId ?? '', clientId ?? '', { certificate: pem }, common);
    case 'azure-cli':
      return new azure.AzureCliCredential({
        processTimeoutInMs: TIMEOUT_MS,
        ...(tenantId !== undefined && { tenantId }),
      });
    case 'environment':
      return new azure.EnvironmentCredential(common);
    case 'default':
      return new azure.DefaultAzureCredential({
        ...common,
        ...(tenantId !== undefined && { tenantId }),
        ...(clientId !== undefined && { managedIdentityClientId: clientId, workloadIdentityClientId: clientId }),
      });
  }
}

/** Returns the current text of the file or, if it cannot be read, the text from when the configuration was read. */
function pemOf(certificate: Secret, place: string): string {
  if (certificate.file === null) return certificate.reveal();
  try {
    return readRegularFile(certificate.file);
  } catch (error) {
    const held = certificate.reveal();
    if (held !== '') return held;
    const message = `${place}.certificate ${fileReadFault(error)}: correct ${certificate.file}`;
    throw new BridgeError('BRIDGE_AZURE_REFUSED', message, { disposition: 'misconfigured', scope: 'sink' });
  }
}
