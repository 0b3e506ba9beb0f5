// The PEM files of TLS options → the secure context, rebuilt when the files change.
import type { SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { BridgeError, type ErrorCode } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import { type PemTexts, pemFaults, secureContext } from './certificates.ts';
import type { TlsOptions } from './tls-options.ts';

interface TlsFilesDeps extends Pick<Deps, 'elapsedMs'> {
  readonly logger: Logger;
}

/** The owner of the files, for messages. */
interface TlsFilesPlace {
  /** The part of the configuration with the section: `sinks.hooks`. */
  readonly owner: string;
  /** The section with the paths: `tls`. */
  readonly section: string;
  /** The error code for unusable files. */
  readonly code: ErrorCode;
  /** The key of the trusted CAs. Default: `ca`. */
  readonly ca?: string;
  /** For files that become unusable. Default: `warn`. */
  readonly level?: 'warn' | 'error';
}

interface PemFile {
  readonly kind: keyof PemTexts;
  readonly path: string;
  /** Reveals the content of the file at the time when the configuration was read. */
  readonly secret: Secret;
}

interface Loaded {
  readonly context: SecureContext;
  readonly texts: PemTexts;
}

/** Opens no file before the first call of `context`. */
export class TlsFiles {
  readonly #files: readonly PemFile[];
  readonly #place: TlsFilesPlace;
  readonly #watched: WatchedFile<Loaded>;

  /** The secrets must be open. */
  constructor({ ca, cert, key }: TlsOptions, place: TlsFilesPlace, { logger, elapsedMs }: TlsFilesDeps) {
    this.#files = [...pemFileOf('ca', ca), ...pemFileOf('cert', cert), ...pemFileOf('key', key)];
    this.#place = place;
    const paths = this.#files.map(({ path }) => path);
    const parts = {
      initial: () => this.#load(Object.fromEntries(this.#files.map(({ kind, secret }) => [kind, secret.reveal()]))),
      parse: (files: readonly FileText[], before: Loaded | null) => this.#parse(files, before),
      onChanged: () => logger.info(`the tls files changed and were read again: ${paths.join(', ')}`),
      onUnusable: (reason: string) =>
        logger[place.level ?? 'warn']({ reason }, 'the tls files cannot be used: the previous ones stay in use'),
    };
    this.#watched = new WatchedFile(paths, parts, { elapsedMs });
  }

  /**
   * Returns the same object while the files do not change, or null if none is configured. If the files are unusable
   * (for example, a certificate is written before its key), the old ones stay in use, and one log line says so.
   * @throws BridgeError with the code of `TlsFilesPlace` if there are no old ones: misconfigured, for the whole sink
   */
  context(): SecureContext | null {
    return this.#files.length === 0 ? null : this.#watched.current().context;
  }

  /** As `context`, for servers: the same object while the files do not change. */
  texts(): PemTexts {
    return this.#watched.current().texts;
  }

  #parse(files: readonly FileText[], before: Loaded | null): Loaded {
    const texts = Object.fromEntries(this.#files.map(({ kind }, index) => [kind, this.#textOf(kind, files[index])]));
    const isSame = before !== null && this.#files.every(({ kind }) => texts[kind] === before.texts[kind]);
    return isSame ? before : this.#load(texts);
  }

  #textOf(kind: PemFile['kind'], file: FileText | undefined): string {
    if (file === undefined || 'fault' in file)
      throw this.#fault(`${this.#place.section}.${this.#keyOf(kind)}`, file?.fault ?? '');
    return file.text;
  }

  #keyOf(kind: PemFile['kind']): string {
    return kind === 'ca' ? (this.#place.ca ?? 'ca') : kind;
  }

  #load(texts: PemTexts): Loaded {
    const { section } = this.#place;
    const [fault] = pemFaults(texts, section);
    if (fault) throw this.#fault(fault.key.replace(/\.ca$/, `.${this.#keyOf('ca')}`), fault.message);
    const context = secureContext(texts);
    if ('fault' in context) throw this.#fault(section, context.fault);
    return { context, texts };
  }

  #fault(key: string, what: string): BridgeError {
    const paths = this.#files.map(({ path }) => path).join(', ');
    const message = `${this.#place.owner}.${key} ${what}: correct ${paths}; the next attempt reads them again`;
    return new BridgeError(this.#place.code, message, { disposition: 'misconfigured', scope: 'sink' });
  }
}

function pemFileOf(kind: keyof PemTexts, secret: Secret | undefined): PemFile[] {
  if (secret === undefined) return [];
  const path = secret.file ?? ('file' in secret.reference ? secret.reference.file : secret.origin);
  return [{ kind, path, secret }];
}
