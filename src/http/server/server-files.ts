// The files of `http.tls` → what a TLS server uses of them, anew when they change.
import type { Logger } from 'pino';
import { codeOf } from '../../errors.ts';
import { type PemTexts, pemFaults } from '../../net/certificates.ts';
import type { Secret } from '../../secrets/secret.ts';
import { WatchedFiles } from '../../secrets/watched-files.ts';
import type { Deps } from '../../time/clock.ts';

/** The text of PEM files, and where they are. */
export interface ServerTls {
  readonly cert: Secret;
  readonly key: Secret;
  /** Who may have signed a client's certificate; null: none is asked for. */
  readonly clientCa: Secret | null;
}

/** What `setSecureContext` takes. */
export interface ServerContext {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

type Kind = 'cert' | 'key' | 'clientCa';

/** Reveals what was read with the configuration, and opens no file before `changed`. */
export class ServerFiles {
  readonly #files: readonly { readonly kind: Kind; readonly secret: Secret }[];
  readonly #watched: WatchedFiles;
  readonly #setting: string;
  readonly #logger: Logger;
  #texts: Readonly<Partial<Record<Kind, string>>>;
  #complaint: string | null = null;

  /** @param setting what has the files: `http.tls` */
  constructor({ cert, key, clientCa }: ServerTls, setting: string, deps: Pick<Deps, 'elapsedMs'>, logger: Logger) {
    const all = [
      { kind: 'cert' as const, secret: cert },
      { kind: 'key' as const, secret: key },
      ...(clientCa === null ? [] : [{ kind: 'clientCa' as const, secret: clientCa }]),
    ];
    this.#texts = Object.fromEntries(all.map(({ kind, secret }) => [kind, secret.reveal()]));
    this.#files = all.filter(({ secret }) => secret.file !== null);
    this.#watched = new WatchedFiles(
      this.#files.map(({ secret }) => secret.file ?? ''),
      deps,
    );
    this.#setting = setting;
    this.#logger = logger;
  }

  /** What is in use. */
  get context(): ServerContext {
    return contextOf(this.#texts);
  }

  /**
   * What to use from now on, and whether other authorities sign clients' certificates; null where nothing changed. Files that cannot be used,
   * as a certificate written before its key, leave what was in use, which is logged once.
   */
  changed(): { readonly context: ServerContext; readonly otherClientCa: boolean } | null {
    const found = this.#watched.changed();
    if (found === null) return null;
    const texts = { ...this.#texts };
    for (const [index, file] of found.entries()) {
      const kind = this.#files[index]?.kind;
      if (kind === undefined) continue;
      if ('fault' in file) return this.#keep(`${this.#setting}.${kind} ${file.fault}`);
      // As when the configuration is read.
      texts[kind] = file.text.replace(/\r?\n$/, '');
    }
    const fault = serverFault(texts, this.#setting);
    if (fault !== null) return this.#keep(fault);
    return this.#take(texts);
  }

  #take(texts: Readonly<Partial<Record<Kind, string>>>) {
    const before = this.#texts;
    this.#complaint = null;
    const isSame = before.cert === texts.cert && before.key === texts.key && before.clientCa === texts.clientCa;
    if (isSame) return null;
    this.#texts = texts;
    this.#logger.info({ setting: this.#setting }, 'the tls files changed and were read again');
    return { context: contextOf(texts), otherClientCa: before.clientCa !== texts.clientCa };
  }

  #keep(reason: string): null {
    if (reason !== this.#complaint)
      this.#logger.error({ reason }, 'the tls files cannot be used: what was read of them before stays in use');
    this.#complaint = reason;
    return null;
  }
}

function contextOf({ cert = '', key = '', clientCa }: Readonly<Partial<Record<Kind, string>>>): ServerContext {
  return { cert, key, ...(clientCa !== undefined && { ca: clientCa }) };
}

/** Null where a server can use them; never a word of what they hold. */
function serverFault(texts: Readonly<Partial<Record<Kind, string>>>, setting: string): string | null {
  const { cert, key, clientCa: ca } = texts;
  const pem: PemTexts = { cert, key, ca };
  const [fault] = pemFaults(pem, setting);
  if (fault) return `${fault.key.replace(/\.ca$/, '.clientCa')} ${fault.message}`;
  try {
    process.getBuiltinModule('node:tls').createSecureContext(contextOf(texts));
    return null;
  } catch (error) {
    // Only the code: what OpenSSL says of it may quote the key.
    return `${setting} cannot be used (${codeOf(error) ?? 'unreadable'})`;
  }
}
