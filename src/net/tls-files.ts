// The PEM files of TLS options → what connections use of them, made again when the files change.
import type { SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { BridgeError, type ErrorCode } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import { type PemTexts, pemFaults, secureContext } from './certificates.ts';
import type { TlsOptions } from './tls-options.ts';

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
  readonly texts: PemTexts;
}

/** Opens no file before `context`. */
export class TlsFiles {
  readonly #files: readonly PemFile[];
  readonly #place: TlsFilesPlace;
  readonly #watched: WatchedFile<Loaded>;

  /** The secrets are open. */
  constructor({ ca, cert, key }: TlsOptions, place: TlsFilesPlace, { logger, elapsedMs }: TlsFilesDeps) {
    this.#files = [...pemFileOf('ca', ca), ...pemFileOf('cert', cert), ...pemFileOf('key', key)];
    this.#place = place;
    const paths = this.#files.map(({ path }) => path);
    const parts = {
      initial: () => this.#load(Object.fromEntries(this.#files.map(({ kind, secret }) => [kind, secret.reveal()]))),
      parse: (files: readonly FileText[], before: Loaded | null) => this.#parse(files, before),
      onChanged: () => logger.info(`the tls files changed and were read again: ${paths.join(', ')}`),
      onUnusable: (reason: string) => logger.warn({ reason }, 'the tls files cannot be used: what was read of them before stays in use'),
    };
    this.#watched = new WatchedFile(paths, parts, { elapsedMs });
  }

  /**
   * The same object as long as the files stay what they are; null where none is configured. Files that cannot be used, as a certificate
   * written before its key, leave the old ones in use, which is logged once.
   * @throws BridgeError with the place's code where there are no old ones: misconfigured, of the whole sink.
   */
  context(): SecureContext | null {
    return this.#files.length === 0 ? null : this.#watched.current().context;
  }

  #parse(files: readonly FileText[], before: Loaded | null): Loaded {
    const texts = Object.fromEntries(this.#files.map(({ kind }, index) => [kind, this.#textOf(kind, files[index])]));
    const isSame = before !== null && this.#files.every(({ kind }) => texts[kind] === before.texts[kind]);
    return isSame ? before : this.#load(texts);
  }

  #textOf(kind: PemFile['kind'], file: FileText | undefined): string {
    if (file === undefined || 'fault' in file) throw this.#fault(`${this.#place.section}.${kind}`, file?.fault ?? '');
    return file.text;
  }

  #load(texts: PemTexts): Loaded {
    const { section } = this.#place;
    const [fault] = pemFaults(texts, section);
    if (fault) throw this.#fault(fault.key, fault.message);
    const context = secureContext(texts);
    if ('fault' in context) throw this.#fault(section, context.fault);
    return { context, texts };
  }

  #fault(key: string, what: string): BridgeError {
    const paths = this.#files.map(({ path }) => path).join(', ');
    const message = `${this.#place.owner}.${key} ${what}: mend ${paths}; the next attempt reads them again`;
    return new BridgeError(this.#place.code, message, { disposition: 'misconfigured', scope: 'sink' });
  }
}

function pemFileOf(kind: keyof PemTexts, secret: Secret | undefined): PemFile[] {
  if (secret === undefined) return [];
  const path = secret.file ?? ('file' in secret.reference ? secret.reference.file : secret.origin);
  return [{ kind, path, secret }];
}
