// Secrets for headers → a value composed of them, composed again when their files change.
import type { Logger } from 'pino';
import type { Secret } from '../../src/secrets/secret.ts';
import { type FileText, WatchedFile } from '../../src/secrets/watched-file.ts';
import type { Deps } from '../../src/time/clock.ts';

export interface RenewedDeps extends Pick<Deps, 'elapsedMs'> {
  readonly logger: Logger;
}

type Named = readonly [key: string, secret: Secret];

/** Opens no file before `current`. If a file is unusable, the previous value stays in use, which is logged once. */
export class RenewedSecrets<T> {
  readonly #secrets: readonly Named[];
  readonly #make: (values: readonly string[]) => T;
  readonly #watched: WatchedFile<{ readonly values: readonly string[]; readonly made: T }>;

  /** @param secrets open, each with its key, without fault @param make composes the values in that order; throws with a reason if they are unusable */
  constructor(secrets: readonly Named[], make: (values: readonly string[]) => T, { logger, elapsedMs }: RenewedDeps) {
    this.#secrets = secrets;
    this.#make = make;
    const files = secrets.flatMap(([, { file }]) => (file === null ? [] : [file]));
    const keys = secrets.flatMap(([key, { file }]) => (file === null ? [] : [key])).join(', ');
    this.#watched = new WatchedFile(
      files,
      {
        initial: () => this.#made(secrets.map(([, secret]) => secret.reveal())),
        parse: (texts, before) => {
          const values = this.#values(texts);
          return before !== null && values.every((value, index) => value === before.values[index]) ? before : this.#made(values);
        },
        onChanged: () => logger.info(`the file of ${keys} changed and was read again`),
        onUnusable: (reason) => logger.warn({ reason }, `the file of ${keys} is unusable: the previous value stays in use`),
      },
      { elapsedMs },
    );
  }

  current(): T {
    return this.#watched.current().made;
  }

  #made(values: readonly string[]): { readonly values: readonly string[]; readonly made: T } {
    return { values, made: this.#make(values) };
  }

  /** Returns the current values of files, and the original values of the others. @throws Error if a file is unusable */
  #values(texts: readonly FileText[]): readonly string[] {
    const left = [...texts];
    return this.#secrets.map(([key, secret]) => (secret.file === null ? secret.reveal() : textOf(key, left.shift())));
  }
}

function textOf(key: string, file: FileText | undefined): string {
  if (file === undefined || 'fault' in file) throw new Error(`${key}: ${file?.fault ?? ''}`);
  if (file.text === '') throw new Error(`${key} is empty`);
  return file.text;
}
