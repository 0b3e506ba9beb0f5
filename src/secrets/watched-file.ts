// Paths → a value parsed from their texts, parsed again after a change; checked only on use.
import { statSync } from 'node:fs';
import { codeOf, messageOf } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { fileReadFault, readRegularFile } from './regular-file.ts';

/** The shortest time between two checks of the files. */
const CHECK_AGAIN_MS = 1000;

/**
 * The text of a file without its last line end, as in the configuration; or why it cannot be read, without quoting it.
 */
export type FileText = { readonly text: string } | { readonly fault: string };

interface WatchedFileParts<T> {
  /** Returns the value from when the configuration was read; called once. */
  readonly initial: () => T;
  /**
   * Returns the value of the files, given in the order of the paths, or `before` if it did not change.
   * @throws with the reason if they are unusable
   */
  readonly parse: (files: readonly FileText[], before: T | null) => T;
  readonly onChanged: () => void;
  /** Called once for each reason why the files are unusable; the old value stays. */
  readonly onUnusable: (reason: string) => void;
}

/** Opens no file before the first `current`. */
export class WatchedFile<T> {
  readonly #paths: readonly string[];
  readonly #parts: WatchedFileParts<T>;
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  #held: { readonly value: T } | null = null;
  /**
   * The state of the files before they were read for `#held`, so that a change during the read is noticed at the next
   * check.
   */
  #stamp: string | null = null;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #reportedReason: string | null = null;

  constructor(paths: readonly string[], parts: WatchedFileParts<T>, deps: Pick<Deps, 'elapsedMs'>) {
    this.#paths = paths;
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Returns the value of the files, or their last usable value. @throws like `parse` if they were never usable */
  current(): T {
    this.#held ??= this.#asConfigured();
    const nowMs = this.#deps.elapsedMs();
    const isDue = this.#held === null || nowMs - this.#checkedAtMs >= CHECK_AGAIN_MS;
    if (this.#held !== null && (!isDue || this.#paths.length === 0)) return this.#held.value;
    this.#checkedAtMs = nowMs;
    this.#held = this.#check(this.#held);
    return this.#held.value;
  }

  #asConfigured(): { readonly value: T } | null {
    try {
      return { value: this.#parts.initial() };
    } catch (error) {
      if (this.#paths.length === 0) throw error;
      return null;
    }
  }

  #check(before: { readonly value: T } | null): { readonly value: T } {
    const stamp = this.#paths.map(stampOf).join();
    if (before !== null && stamp === this.#stamp) return before;
    const files = this.#paths.map(read);
    try {
      const value = this.#parts.parse(files, before?.value ?? null);
      // A file that could not be read is read again at the next check.
      this.#stamp = files.some((file) => 'fault' in file) ? null : stamp;
      this.#reportedReason = null;
      if (before === null || value === before.value) return before ?? { value };
      this.#parts.onChanged();
      return { value };
    } catch (error) {
      if (before === null) throw error;
      this.#reportUnusable(messageOf(error));
      return before;
    }
  }

  #reportUnusable(reason: string): void {
    if (reason === this.#reportedReason) return;
    this.#reportedReason = reason;
    this.#parts.onUnusable(reason);
  }
}

/** Returns a text that changes when the file is written, replaced, or becomes inaccessible. */
function stampOf(path: string): string {
  try {
    const { dev, ino, mode, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, mode, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return codeOf(error) ?? 'unreadable';
  }
}

function read(path: string): FileText {
  try {
    return { text: readRegularFile(path).replace(/\r?\n$/, '') };
  } catch (error) {
    return { fault: fileReadFault(error) };
  }
}
