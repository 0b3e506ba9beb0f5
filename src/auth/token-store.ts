// Configured tokens, read again when their files change → the owner of a token, in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { tokenFault } from '../secrets/bearer-token.ts';
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import type { ReaderOptions } from './options.ts';

interface Owner {
  readonly kind: 'approver' | 'reader';
  readonly name: string;
}

export type TokenOwners = Readonly<Record<string, Pick<ReaderOptions, 'tokens'>>>;

interface Entry {
  readonly owner: Owner;
  readonly secret: Secret;
  hash: Buffer;
  loggedFault: string | null;
}

/** Stores only the hashes of the tokens. Checks the files when any token arrives, at most once a second. */
export class TokenStore {
  readonly #entries: readonly Entry[];
  readonly #inFiles: readonly Entry[];
  /** One for all files: a faulty file must not block the others. */
  readonly #files: WatchedFile<null>;
  readonly #logger: Logger;

  constructor(
    callers: { readonly approvers: TokenOwners; readonly readers: TokenOwners },
    deps: Pick<Deps, 'elapsedMs'>,
    logger: Logger,
  ) {
    this.#entries = [...entriesOf('approver', callers.approvers), ...entriesOf('reader', callers.readers)];
    this.#inFiles = this.#entries.filter(({ secret }) => secret.file !== null);
    const paths = this.#inFiles.map(({ secret }) => secret.file ?? '');
    const parse = (files: readonly FileText[]) => this.#readAgain(files);
    this.#files = new WatchedFile(
      paths,
      { initial: () => null, parse, onChanged: () => {}, onUnusable: () => {} },
      deps,
    );
    this.#logger = logger;
  }

  /**
   * Returns the owner, or null for an unknown token. A token that was replaced in its file becomes unknown within a
   * second.
   */
  ownerOf(token: string, isEqual: (one: Buffer, other: Buffer) => boolean = timingSafeEqual): Owner | null {
    this.#files.current();
    const given = digest(token);
    let found: Owner | null = null;
    // Every token is compared, also after a match, so that the time depends only on their number.
    for (const { hash, owner } of this.#entries) if (isEqual(hash, given)) found = owner;
    return found;
  }

  /** If a file has no valid token, its last good token stays in use. */
  #readAgain(texts: readonly FileText[]): null {
    const fresh = new Map<Entry, Buffer>();
    for (const [index, entry] of this.#inFiles.entries()) {
      const text = texts[index];
      if (text === undefined) continue;
      const read = tokenIn(text);
      if ('fault' in read) this.#keep(entry, read.fault);
      else fresh.set(entry, digest(read.token));
    }
    this.#dropShared(fresh);
    for (const [entry, hash] of fresh) this.#take(entry, hash);
    return null;
  }

  /** Removes new tokens until no two callers share one. The previous tokens were distinct, so the loop ends. */
  #dropShared(fresh: Map<Entry, Buffer>): void {
    const hashOf = (entry: Entry) => fresh.get(entry) ?? entry.hash;
    const isShared = ([entry, hash]: [Entry, Buffer]) =>
      !entry.hash.equals(hash) &&
      this.#entries.some((other) => !isSameOwner(other.owner, entry.owner) && hashOf(other).equals(hash));
    for (let shared = [...fresh].filter(isShared); shared.length > 0; shared = [...fresh].filter(isShared)) {
      for (const [entry] of shared) {
        fresh.delete(entry);
        this.#keep(entry, 'contains a token that another caller has');
      }
    }
  }

  #take(entry: Entry, hash: Buffer): void {
    entry.loggedFault = null;
    if (entry.hash.equals(hash)) return;
    entry.hash = hash;
    this.#logger.info({ ...logFields(entry) }, 'the file of a token changed: the new token is valid now');
  }

  #keep(entry: Entry, reason: string): void {
    if (entry.loggedFault !== reason)
      this.#logger.error(
        { ...logFields(entry), reason },
        'the file of a token cannot be used: the last good token stays valid',
      );
    entry.loggedFault = reason;
  }
}

function entriesOf(kind: Owner['kind'], owners: TokenOwners): Entry[] {
  return Object.entries(owners).flatMap(([name, { tokens }]) =>
    tokens.map((secret) => ({ owner: { kind, name }, secret, hash: digest(secret.reveal()), loggedFault: null })),
  );
}

function isSameOwner(one: Owner, other: Owner): boolean {
  return one.kind === other.kind && one.name === other.name;
}

function tokenIn(file: FileText): { readonly token: string } | { readonly fault: string } {
  if ('fault' in file) return file;
  const fault = tokenFault(file.text);
  return fault === null ? { token: file.text } : { fault };
}

function logFields({ owner: { kind, name }, secret }: Entry) {
  return { [kind]: name, file: secret.file };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
