// An Entra ID identity → its tokens, cached until shortly before they end.
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

/** Less than the five minutes for which the library itself no longer hands out what it keeps. */
const MARGIN_MS = 240_000;
/** A token that comes with less life than that is not asked for again at each use. */
const LEAST_KEPT_MS = 30_000;
const TIMEOUT_MS = 30_000;
/** The metadata service, which gives managed identities their tokens, takes five requests a second, and we poll it besides. */
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

/** What is known for one scope. */
interface Account {
  held: Held | null;
  asking: Promise<Held> | null;
  failure: Failure | null;
}

/** Loads the library and asks at first use. One request at a time for each scope, however many wait for it. */
export class AzureCredential {
  readonly #options: AzureCredentialOptions;
  readonly #deps: AzureCredentialDeps;
  readonly #place: string;
  readonly #accounts = new Map<string, Account>();
  #credential: { readonly of: string; readonly credential: Promise<TokenCredential> } | null = null;
  /** The library keeps a token that was refused. */
  #isStale = false;

  /**
   * @param options whose secrets are open, without faults
   * @param place what has them, to say in faults: `sinks.stream.sasl`
   */
  constructor(options: AzureCredentialOptions, deps: AzureCredentialDeps, place: string) {
    this.#options = options;
    this.#deps = deps;
    this.#place = place;
  }

  /**
   * For a resource, such as `https://NAMESPACE.servicebus.windows.net/.default`. A token that could not be renewed serves while it lives.
   * @throws BridgeError BRIDGE_AZURE_REFUSED or BRIDGE_AZURE_UNAVAILABLE, the same one during the pause that follows; or the signal's reason.
   */
  async token(scope: string, signal: AbortSignal): Promise<AzureToken> {
    signal.throwIfAborted();
    const account = this.#account(scope);
    const { held, failure } = account;
    const ageMs = held === null ? 0 : this.#ageMs(held.since);
    if (held !== null && ageMs < held.renewAfterMs) return held.token;
    const usable = held !== null && ageMs < held.lifetimeMs - Math.min(LEAST_KEPT_MS, held.lifetimeMs / 20) ? held.token : null;
    if (failure !== null && this.#deps.elapsedMs() < failure.untilMs) {
      if (usable !== null) return usable;
      throw failure.error;
    }
    account.asking ??= this.#ask(scope, account);
    try {
      return (await orAbort(account.asking, signal)).token;
    } catch (error) {
      if (usable !== null && error instanceof BridgeError && !signal.aborted) return usable;
      throw error;
    }
  }

  /** The resource takes this token no more: the next one comes of Entra ID, past what we and the library keep. */
  refused(scope: string, token: string): void {
    const account = this.#account(scope);
    if (account.held?.token.token !== token) return;
    account.held = null;
    this.#isStale = true;
  }

  #account(scope: string): Account {
    const known = this.#accounts.get(scope);
    const account = known ?? { held: null, asking: null, failure: null };
    if (known === undefined) this.#accounts.set(scope, account);
    return account;
  }

  #ask(scope: string, account: Account): Promise<Held> {
    const asking = this.#request(scope)
      .then((held) => {
        account.held = held;
        account.failure = null;
        return held;
      })
      .catch((error: BridgeError) => {
        const times = (account.failure?.times ?? 0) + 1;
        const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1)) * (0.5 + this.#deps.random() / 2);
        account.failure = { error, times, untilMs: this.#deps.elapsedMs() + pauseMs };
        this.#deps.logger.debug({ reason: error.message, pauseMs: Math.round(pauseMs) }, 'no token of Microsoft Entra ID');
        throw error;
      })
      .finally(() => {
        account.asking = null;
      });
    // The waiting callers get the failure; with none left it must not be an unhandled rejection.
    asking.catch(() => {});
    return asking;
  }

  async #request(scope: string): Promise<Held> {
    const kind = this.#options.credential ?? 'default';
    const since = now(this.#deps);
    const limit = deadline(this.#deps, TIMEOUT_MS, () => azureTimeout(this.#place, kind, formatDuration(TIMEOUT_MS)));
    try {
      // Not every credential heeds the signal.
      const answer = this.#open().then((credential) => credential.getToken(scope, { abortSignal: limit.signal }));
      const given = await orAbort(answer, limit.signal);
      if (given === null) throw new Error('no credential is set up');
      const lifetimeMs = given.expiresOnTimestamp - since.wallMs;
      const renewAfterMs = Math.max(lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 10), Math.min(LEAST_KEPT_MS, lifetimeMs / 2));
      return { token: { token: given.token, expiresAtMs: given.expiresOnTimestamp }, since, lifetimeMs, renewAfterMs };
    } catch (error) {
      if (error instanceof BridgeError) throw error;
      const { clientSecret, certificate } = this.#options;
      throw azureFault(error, this.#place, kind, [clientSecret?.reveal() ?? '', certificate?.reveal() ?? '']);
    } finally {
      limit.cancel();
    }
  }

  /** Anew where the certificate's file has changed, or a token was refused. */
  #open(): Promise<TokenCredential> {
    if (this.#isStale) this.#credential = null;
    const pem = this.#options.certificate === undefined ? '' : pemOf(this.#options.certificate, this.#place);
    if (this.#credential?.of !== pem) this.#credential = { of: pem, credential: createCredential(this.#options, pem, this.#isStale) };
    this.#isStale = false;
    // A library that could not be loaded, or options that it refuses, are reported each time.
    this.#credential.credential.catch(() => {
      this.#credential = null;
    });
    return this.#credential.credential;
  }

  /** By the clock that went further: a machine that was frozen has only one of them that tells. */
  #ageMs({ wallMs, elapsedMs }: Instant): number {
    return Math.max(this.#deps.wallMs() - wallMs, this.#deps.elapsedMs() - (elapsedMs ?? 0));
  }
}

/** No retries inside, and no asking around whether Microsoft knows the authority that the environment names. */
async function createCredential(options: AzureCredentialOptions, pem: string, isStale: boolean): Promise<TokenCredential> {
  const azure = await import('./identity-library.ts');
  if (isStale) azure.forgetIdentityTokens();
  const { credential = 'default', clientId, tenantId, clientSecret, authorityHost } = options;
  const authority = authorityHost !== undefined && { authorityHost };
  const common = { retryOptions: { maxRetries: 0 }, disableInstanceDiscovery: true, ...authority };
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
      return new azure.AzureCliCredential({ processTimeoutInMs: TIMEOUT_MS, ...(tenantId !== undefined && { tenantId }) });
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

/** What the file holds now or, unreadable, what it held when the configuration was read. */
function pemOf(certificate: Secret, place: string): string {
  if (certificate.file === null) return certificate.reveal();
  try {
    return readRegularFile(certificate.file);
  } catch (error) {
    const held = certificate.reveal();
    if (held !== '') return held;
    const message = `${place}.certificate ${fileReadFault(error)}: mend ${certificate.file}`;
    throw new BridgeError('BRIDGE_AZURE_REFUSED', message, { disposition: 'misconfigured', scope: 'sink' });
  }
}
