// The files of `http.tls` → what a TLS server uses of them, made again when they change.
import type { Logger } from 'pino';
import { type PemTexts, pemFaults, secureContext } from '../../net/certificates.ts';
import { type FileText, WatchedFile } from '../../secrets/watched-file.ts';
import type { Deps } from '../../time/clock.ts';
import type { ServerTls } from '../options.ts';

/** What `setSecureContext` takes. */
interface ServerContext {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

const KEYS = { cert: 'cert', key: 'key', ca: 'clientCa' } as const;

/** Reveals what was read with the configuration, and opens no file before `changed`. */
export class ServerFiles {
  readonly #watched: WatchedFile<ServerContext>;
  readonly #setting: string;
  #inUse: ServerContext;

  /** @param setting what has the files: `http.tls` */
  constructor({ cert, key, clientCa }: ServerTls, setting: string, deps: Pick<Deps, 'elapsedMs'>, logger: Logger) {
    const initial = { cert: cert.reveal(), key: key.reveal(), ...(clientCa !== null && { ca: clientCa.reveal() }) };
    const kinds = { cert, key, ca: clientCa };
    const watched = (['cert', 'key', 'ca'] as const).flatMap((kind) => {
      const path = kinds[kind]?.file;
      return path == null ? [] : [{ kind, path }];
    });
    const parts = {
      initial: () => initial,
      parse: (files: readonly FileText[], before: ServerContext | null) => {
        const fresh = watched.map(({ kind }, index) => [kind, this.#textOf(kind, files[index])]);
        return this.#checked({ ...initial, ...Object.fromEntries(fresh) }, before);
      },
      onChanged: () => logger.info({ setting }, 'the tls files changed and were read again'),
      onUnusable: (reason: string) => logger.error({ reason }, 'the tls files cannot be used: what was read of them before stays in use'),
    };
    this.#setting = setting;
    this.#inUse = initial;
    this.#watched = new WatchedFile(
      watched.map(({ path }) => path),
      parts,
      deps,
    );
  }

  /** What is in use. */
  get context(): ServerContext {
    return this.#inUse;
  }

  /**
   * What to use from now on, and whether other authorities sign clients' certificates; null if nothing changed. Files that cannot be used,
   * as a certificate written before its key, leave what was in use, which is logged once.
   */
  changed(): { readonly context: ServerContext; readonly otherClientCa: boolean } | null {
    const [before, context] = [this.#inUse, this.#watched.current()];
    if (context === before) return null;
    this.#inUse = context;
    return { context, otherClientCa: before.ca !== context.ca };
  }

  #textOf(kind: keyof PemTexts, file: FileText | undefined): string {
    if (file === undefined || 'fault' in file) throw new Error(`${this.#setting}.${KEYS[kind]} ${file?.fault ?? ''}`);
    return file.text;
  }

  /** @throws if a server cannot use them; the error never quotes their content. */
  #checked(texts: ServerContext, before: ServerContext | null): ServerContext {
    const [fault] = pemFaults(texts, this.#setting);
    if (fault) throw new Error(`${fault.key.replace(/\.ca$/, '.clientCa')} ${fault.message}`);
    const context = secureContext(texts);
    if ('fault' in context) throw new Error(`${this.#setting} ${context.fault}`);
    const isSame = before !== null && before.cert === texts.cert && before.key === texts.key && before.ca === texts.ca;
    return isSame ? before : texts;
  }
}
