// A secret named by the configuration (`{ env: NAME }` or `{ file: PATH }`) → its value, revealed only to who must send or compare it.

export type SecretReference = { readonly env: string } | { readonly file: string };

/** Holds where a secret is and, once the configuration was opened, what it is; prints as `[secret]` wherever it ends up. */
export class Secret {
  readonly reference: SecretReference;
  #value: string | null = null;

  constructor(reference: SecretReference) {
    this.reference = reference;
  }

  /** Gives it its value; done by config/ alone, once, after the schema was satisfied. */
  open(value: string): void {
    this.#value = value;
  }

  /** The value. @throws when the configuration was not opened, which is a mistake of ours. */
  reveal(): string {
    if (this.#value === null) throw new Error('a secret was asked for before the configuration was opened');
    return this.#value;
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
