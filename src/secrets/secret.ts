// `{ env: NAME }` or `{ file: PATH }` → a secret, revealed only to be sent or compared.

export interface FileReference {
  readonly file: string;
}

export type SecretReference = { readonly env: string } | FileReference;

/** A reference to a secret and, once the configuration is read, its value. Always prints as `[secret]`. */
export class Secret {
  readonly reference: SecretReference;
  /** The value if nothing is set; null if that is a fault. */
  readonly absent: string | null;
  #value: string | null = null;
  #file: string | null = null;

  constructor(reference: SecretReference, absent: string | null = null) {
    this.reference = reference;
    this.absent = absent;
  }

  /** Sets the value, and the absolute path of its file. Only config/ calls it, once, after validation. */
  open(value: string, file: string | null = null): void {
    this.#value = value;
    this.#file = file;
  }

  /** Returns the value. @throws if no value was set, which is a bug */
  reveal(): string {
    if (this.#value === null) throw new Error('a secret was used before the configuration was read');
    return this.#value;
  }

  /** The absolute path of its file, to watch it for changes; null without a file, and before the value is set. */
  get file(): string | null {
    return this.#file;
  }

  /** The origin for messages: `env NAME` or `file PATH`. */
  get origin(): string {
    return 'env' in this.reference ? `env ${this.reference.env}` : `file ${this.reference.file}`;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }
}

/** Returns the value of a key that takes plain text or a secret. @throws like `Secret.reveal` */
export function reveal(value: string | Secret): string {
  return typeof value === 'string' ? value : value.reveal();
}
