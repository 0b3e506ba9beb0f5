// The certificates of a configuration, and the time → when each expires, and log lines.
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { type NamedCertificate, namedCertificates } from '../config/named-certificates.ts';
import { EXPIRED, expiryStage, expiryWarning } from '../diagnosis/certificates.ts';
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { ExpiringCertificate } from '../model/operators.ts';
import { certificateFile } from '../net/certificate-file.ts';
import type { CertificateExpiry } from '../net/certificates.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';

const LOOK_AGAIN_MS = 60_000;

type WatchedCertificate = Omit<NamedCertificate, 'secret'> & { readonly read: () => CertificateExpiry | null };

/** A certificate that a file of the configuration contains. */
export type KnownCertificate = Omit<NamedCertificate, 'secret'> & CertificateExpiry;

interface CertificateWatchParts {
  readonly config: Pick<Config, 'http' | 'approvals' | 'sinks'>;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;
  readonly logger: Logger;
}

export class CertificateWatch {
  readonly #deps: CertificateWatchParts['deps'];
  readonly #logger: Logger;
  #watched: readonly WatchedCertificate[];
  /** By name: the stage that the log has. */
  readonly #logged = new Map<string, number>();
  #cancel: CancelTimer = () => {};

  constructor({ config, deps, logger }: CertificateWatchParts) {
    this.#deps = deps;
    this.#logger = logger.child({ area: 'config' });
    this.#watched = watched(config, deps);
  }

  /** Logs 30 days and 7 days before a certificate expires, and when it has expired. Looks once a minute until `stop`. */
  start(): void {
    this.stop();
    if (this.#watched.length === 0) return;
    for (const certificate of this.all()) this.#log(certificate);
    this.#cancel = this.#deps.after(LOOK_AGAIN_MS, () => this.start());
  }

  stop(): void {
    this.#cancel();
  }

  /** Applies another configuration. A warning that still holds is not repeated. */
  reload(config: CertificateWatchParts['config']): void {
    this.#watched = watched(config, this.#deps);
    this.start();
  }

  /** All certificates of the configuration in force, from their files as they are now. */
  all(): readonly KnownCertificate[] {
    return this.#watched.flatMap(({ read, ...named }) => {
      const expiry = read();
      return expiry === null ? [] : [{ ...named, ...expiry }];
    });
  }

  /** Those that expire within 30 days or have expired. */
  expiring(): readonly ExpiringCertificate[] {
    const wallMs = this.#deps.wallMs();
    return this.all()
      .filter(({ expiresAtMs }) => expiryStage(expiresAtMs, wallMs) > 0)
      .map(({ expiresAtMs, ...certificate }) => ({ ...certificate, expiresAt: toRfc3339Seconds(expiresAtMs) }));
  }

  #log(certificate: KnownCertificate): void {
    const { name, expiresAtMs } = certificate;
    const wallMs = this.#deps.wallMs();
    const stage = expiryStage(expiresAtMs, wallMs);
    const before = this.#logged.get(name) ?? 0;
    this.#logged.set(name, stage);
    if (stage === before) return;
    const expiresAt = toRfc3339Seconds(expiresAtMs);
    const warning = expiryWarning(certificate, wallMs);
    if (warning === null) this.#logger.info({ path: name, expiresAt }, `the certificate in ${name} was renewed`);
    else if (stage > before) this.#logger[stage === EXPIRED ? 'error' : 'warn']({ path: name, expiresAt }, warning);
  }
}

function watched(
  config: CertificateWatchParts['config'],
  deps: Pick<Deps, 'elapsedMs'>,
): readonly WatchedCertificate[] {
  return namedCertificates(config).map(({ secret, ...named }) => ({ ...named, read: certificateFile(secret, deps) }));
}
