// A machine's view and an api-version → its document's bytes, written once a change.
import { toJsonBytes } from '../answer.ts';
import type { View } from '../events/view.ts';
import { toDocument } from './document.ts';

export class DocumentCache {
  readonly #view: View;
  /** By machine and version. */
  readonly #written = new Map<string, Uint8Array>();
  #revision = -1;
  #isAlike = true;

  constructor(view: View) {
    this.#view = view;
  }

  bytes(vm: string, apiVersion: string): Uint8Array {
    if (this.#revision !== this.#view.revision) {
      this.#written.clear();
      this.#revision = this.#view.revision;
      this.#isAlike = this.#view.isAlike();
    }
    const key = `${apiVersion} ${this.#isAlike ? '' : vm}`;
    const known = this.#written.get(key);
    if (known) return known;
    const bytes = toJsonBytes(toDocument({ incarnation: this.#view.incarnation, events: this.#view.listed(vm) }, apiVersion));
    this.#written.set(key, bytes);
    return bytes;
  }
}
