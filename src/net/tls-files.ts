// The PEM files of TLS options → what connections use of them, anew when the files change.
import { statSync } from 'node:fs';
import type { SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { BridgeError, codeOf, type ErrorCode, messageOf } from '../errors.ts';
import { fileFault, readRegularFile } from '../secrets/regular-file.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Deps } from '../time/clock.ts';
import { type PemTexts, pemFaults } from './certificates.ts';
import type { TlsOptions } from './tls-options.ts';

/** The files are looked at so often at most, and only when something is to be sent. */
const LOOK_AGAIN_MS = 1000;

export interface TlsFilesDeps extends Pick<Deps, 'elapsedMs'> {
  readonly logger: Logger;
}

/** Whose files they are. */
export interface TlsFilesPlace {
  /** What has the section: `sinks.hooks`. */
  readonly owner: string;
  /** The section that names the files: `tls`. */
  readonly section: string;
  /** Of files that cannot be used. */
  readonly code: ErrorCode;
}

interface PemFile {
  readonly kind: keyof PemTexts;
  readonly path: string;
  /** Reveals what the file held when the configuration was read. */
  readonly secret: Secret;
}

interface Loaded {
  readonly context: SecureContext;
  /** What the files looked like before they were read, so that one written meanwhile shows the next time. */
  readonly stamp: string;
}

/** Opens no file before `context`. */
export class TlsFiles {
  readonly #files: readonly PemFile[];
  readonly #place: TlsFilesPlace;
  readonly #deps: TlsFilesDeps;
  #loaded: Loaded | null = null;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** What was last logged of files that cannot be used. */
  #complaint: string | null = null;

  /** The secrets are open. */
  constructor({ ca, cert, key }: TlsOptions, place: TlsFilesPlace, deps: TlsFilesDeps) {
    this.#files = [...pemFileOf('ca', ca), ...pemFileOf('cert', cert), ...pemFileOf('key', key)];
    this.#place = place;
    this.#deps = deps;
  }

  /**
   * The same object as long as the files stay what they are; null where none is configured. Files that cannot be used, as a certificate
   * written before its key, leave the old ones in use, which is logged once.
   * @throws BridgeError with the place's code where there are no old ones: misconfigured, of the whole sink.
   */
  context(): SecureContext | null {
    if (this.#files.length === 0) return null;
    const nowMs = this.#deps.elapsedMs();
    if (this.#loaded === null || nowMs - this.#lookedAtMs >= LOOK_AGAIN_MS) {
      this.#lookedAtMs = nowMs;
      this.#loaded = this.#look(this.#loaded);
    }
    return this.#loaded.context;
  }

  #look(before: Loaded | null): Loaded {
    try {
      const stamp = this.#each(({ path }) => stampOf(path)).join();
      const loaded = stamp === before?.stamp ? before : { stamp, context: this.#contextOf(({ path }) => readRegularFile(path)) };
      if (before !== null && loaded !== before) this.#deps.logger.info(`the tls files changed and were read again: ${this.#paths()}`);
      this.#complaint = null;
      return loaded;
    } catch (error) {
      const kept = before ?? this.#asConfigured(error);
      this.#complain(messageOf(error));
      return kept;
    }
  }

  /** What the files held when the configuration was read. */
  #asConfigured(cause: unknown): Loaded {
    try {
      return { stamp: '', context: this.#contextOf(({ secret }) => secret.reveal()) };
    } catch {
      throw cause;
    }
  }

  #contextOf(textOf: (file: PemFile) => string): SecureContext {
    const texts: PemTexts = Object.fromEntries(this.#each((file) => [file.kind, textOf(file)]));
    const { section } = this.#place;
    const [fault] = pemFaults(texts, section);
    if (fault) throw this.#fault(fault.key, fault.message);
    try {
      return process.getBuiltinModule('node:tls').createSecureContext(texts);
    } catch (error) {
      // Only the code: what OpenSSL says of it may quote the key.
      throw this.#fault(section, `cannot be used (${codeOf(error) ?? 'unreadable'})`);
    }
  }

  #each<T>(of: (file: PemFile) => T): T[] {
    return this.#files.map((file) => {
      try {
        return of(file);
      } catch (error) {
        throw this.#fault(`${this.#place.section}.${file.kind}`, fileFault(error));
      }
    });
  }

  #fault(key: string, what: string): BridgeError {
    const message = `${this.#place.owner}.${key} ${what}: mend ${this.#paths()}; the next attempt reads them again`;
    return new BridgeError(this.#place.code, message, { disposition: 'misconfigured', scope: 'sink' });
  }

  #paths(): string {
    return this.#files.map(({ path }) => path).join(', ');
  }

  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#deps.logger.warn({ reason }, 'the tls files cannot be used: what was read of them before stays in use');
  }
}

function pemFileOf(kind: keyof PemTexts, secret: Secret | undefined): PemFile[] {
  if (secret === undefined) return [];
  const path = secret.file ?? ('file' in secret.reference ? secret.reference.file : secret.origin);
  return [{ kind, path, secret }];
}

/** Changes when the file is written or another one takes its place. */
function stampOf(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
