// Configured tokens, read again when their files change → whose a token is, in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { tokenFault } from '../secrets/bearer-token.ts';
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import type { ReaderOptions } from './options.ts';

/** Whose a token is. */
export interface Owner {
  readonly kind: 'approver' | 'reader';
  readonly name: string;
}

export type TokenOwners = Readonly<Record<string, Pick<ReaderOptions, 'tokens'>>>;

interface Entry {
  readonly owner: Owner;
  readonly secret: Secret;
  hash: Buffer;
  /** What was last logged of its file. */
  complaint: string | null;
}

/** Reveals the tokens once and keeps their hashes alone. Files are looked at when a token comes, once a second at most, whatever token it is. */
export class TokenStore {
  readonly #entries: readonly Entry[];
  readonly #inFiles: readonly Entry[];
  /** Of each entry: a file with a fault must not keep those of others from being taken. */
  readonly #files: WatchedFile<null>;
  readonly #logger: Logger;

  constructor(callers: { readonly approvers: TokenOwners; readonly readers: TokenOwners }, deps: Pick<Deps, 'elapsedMs'>, logger: Logger) {
    this.#entries = [...entriesOf('approver', callers.approvers), ...entriesOf('reader', callers.readers)];
    this.#inFiles = this.#entries.filter(({ secret }) => secret.file !== null);
    const paths = this.#inFiles.map(({ secret }) => secret.file ?? '');
    const parse = (files: readonly FileText[]) => this.#readAgain(files);
    this.#files = new WatchedFile(paths, { initial: () => null, parse, onChanged: () => {}, onUnusable: () => {} }, deps);
    this.#logger = logger;
  }

  /** Null for an unknown token. One that was replaced in its file is unknown within a second. */
  ownerOf(token: string, isEqual: (one: Buffer, other: Buffer) => boolean = timingSafeEqual): Owner | null {
    this.#files.current();
    const given = digest(token);
    let found: Owner | null = null;
    // Every token is compared, also after a match: how long it takes depends on their number alone.
    for (const { hash, owner } of this.#entries) if (isEqual(hash, given)) found = owner;
    return found;
  }

  /** A file that holds no good token leaves the last good one in use. */
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

  /** Until no two callers share a token. The tokens before were distinct, so this ends. */
  #dropShared(fresh: Map<Entry, Buffer>): void {
    const hashOf = (entry: Entry) => fresh.get(entry) ?? entry.hash;
    const isShared = ([entry, hash]: [Entry, Buffer]) =>
      !entry.hash.equals(hash) && this.#entries.some((other) => !isSameOwner(other.owner, entry.owner) && hashOf(other).equals(hash));
    for (let shared = [...fresh].filter(isShared); shared.length > 0; shared = [...fresh].filter(isShared)) {
      for (const [entry] of shared) {
        fresh.delete(entry);
        this.#keep(entry, 'holds a token that another caller has');
      }
    }
  }

  #take(entry: Entry, hash: Buffer): void {
    entry.complaint = null;
    if (entry.hash.equals(hash)) return;
    entry.hash = hash;
    this.#logger.info({ ...said(entry) }, 'the file of a token changed: the token in it counts from now on');
  }

  #keep(entry: Entry, reason: string): void {
    if (entry.complaint !== reason)
      this.#logger.error({ ...said(entry), reason }, 'the file of a token cannot be used: the last good token stays');
    entry.complaint = reason;
  }
}

function entriesOf(kind: Owner['kind'], owners: TokenOwners): Entry[] {
  return Object.entries(owners).flatMap(([name, { tokens }]) =>
    tokens.map((secret) => ({ owner: { kind, name }, secret, hash: digest(secret.reveal()), complaint: null })),
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

function said({ owner: { kind, name }, secret }: Entry) {
  return { [kind]: name, file: secret.file };
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
