// Credentials → the headers of each request, composed again when the files of secrets change.
import type { Logger } from 'pino';
import type { Secret } from '../../src/secrets/secret.ts';
import { type FileText, WatchedFile } from '../../src/secrets/watched-file.ts';
import type { Deps } from '../../src/time/clock.ts';

export const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
export const HEADER_VALUE_FAULT = 'must contain only printable ASCII, without line breaks or other control characters';

/** Returns the fault, without any of the text, or null if the text is valid. */
export function headerFault(text: string): string | null {
  return HEADER_VALUE.test(text) ? null : HEADER_VALUE_FAULT;
}

/** Returns the text itself. @throws RangeError with the fault, without any of the text */
export function headerValue(text: string): string {
  const fault = headerFault(text);
  if (fault !== null) throw new RangeError(fault);
  return text;
}

export interface RequestAuthorization {
  /**
   * Returns null if the configured headers are enough.
   * @throws BridgeError, or the signal's reason, if no credential is available
   */
  header(signal: AbortSignal): Promise<string | null>;
  /** Reports that the receiver rejected this header (401). The next call of `header` returns a new one if possible. */
  refused(header: string): void;
  /** Ends idle connections. */
  close(): void;
}

/** Adds no header. */
export const noAuthorization: RequestAuthorization = {
  header: () => Promise.resolve(null),
  refused: () => undefined,
  close: () => undefined,
};

/**
 * Returns a header composed of secrets, such as `Splunk TOKEN`. The header is composed again when the file of a secret
 * changes.
 * @param make composes the header from the values, in their order
 */
export function secretAuthorization(
  secrets: readonly (readonly [key: string, secret: Secret])[],
  make: (values: readonly string[]) => string,
  deps: RenewedDeps,
): RequestAuthorization {
  const renewed = new RenewedSecrets(secrets, (values) => headerValue(make(values)), deps);
  return { ...noAuthorization, header: () => Promise.resolve(renewed.current()) };
}

export interface RenewedDeps extends Pick<Deps, 'elapsedMs'> {
  readonly logger: Logger;
}

type Named = readonly [key: string, secret: Secret];

/** Opens no file before `current`. If a file is unusable, the previous value stays in use, which is logged once. */
export class RenewedSecrets<T> {
  readonly #secrets: readonly Named[];
  readonly #make: (values: readonly string[]) => T;
  readonly #watched: WatchedFile<{ readonly values: readonly string[]; readonly made: T }>;

  /**
   * @param secrets open, each with its key, without fault
   * @param make composes the values in that order; throws with a reason if they are unusable
   */
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
          return before !== null && values.every((value, index) => value === before.values[index])
            ? before
            : this.#made(values);
        },
        onChanged: () => logger.info(`the file of ${keys} changed and was read again`),
        onUnusable: (reason) =>
          logger.warn({ reason }, `the file of ${keys} is unusable: the previous value stays in use`),
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
