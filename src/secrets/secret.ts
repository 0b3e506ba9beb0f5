// `{ env: NAME }` or `{ file: PATH }` → the secret, revealed only where it is sent or compared.

export interface FileReference {
  readonly file: string;
}

export type SecretReference = { readonly env: string } | FileReference;

/** Holds where a secret is and, once the configuration was opened, what it is; prints as `[secret]` wherever it ends up. */
export class Secret {
  readonly reference: SecretReference;
  /** What it is where nothing is set; null: that is a fault. */
  readonly absent: string | null;
  #value: string | null = null;
  #file: string | null = null;

  constructor(reference: SecretReference, absent: string | null = null) {
    this.reference = reference;
    this.absent = absent;
  }

  /** Gives it its value, and the absolute path of the file that holds it; done by config/ alone, once, after the schema was satisfied. */
  open(value: string, file: string | null = null): void {
    this.#value = value;
    this.#file = file;
  }

  /** The value. @throws when the configuration was not opened, which is a bug. */
  reveal(): string {
    if (this.#value === null) throw new Error('a secret was asked for before the configuration was opened');
    return this.#value;
  }

  /** Absolute path of its file, for who looks whether it changed; null where there is none, and before it is open. */
  get file(): string | null {
    return this.#file;
  }

  /** Where it comes from, to show: `env NAME` or `file PATH`. */
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

/** What a key holds that takes plain text or a secret. @throws as `Secret.reveal` */
export function reveal(value: string | Secret): string {
  return typeof value === 'string' ? value : value.reveal();
}
