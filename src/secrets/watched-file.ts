// Paths → values parsed from their texts, again after a change; looked at only when asked for.
import { statSync } from 'node:fs';
import { codeOf, messageOf } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { fileReadFault, readRegularFile } from './regular-file.ts';

/** However often is asked, the files are looked at so often at most. */
const LOOK_AGAIN_MS = 1000;

/** What a file holds without one line end, as when the configuration is read; or why that cannot be said, without a word of it. */
export type FileText = { readonly text: string } | { readonly fault: string };

interface WatchedFileParts<T> {
  /** What was made of the files when the configuration was read; asked for once. */
  readonly initial: () => T;
  /** In the order of the paths. `before` itself where nothing is new. @throws where the files cannot be used, with the reason as its message. */
  readonly parse: (files: readonly FileText[], before: T | null) => T;
  readonly onChanged: () => void;
  /** The files cannot be used: what was made of them before stays. Once for each reason. */
  readonly onUnusable: (reason: string) => void;
}

/** Opens no file before `current`. */
export class WatchedFile<T> {
  readonly #paths: readonly string[];
  readonly #parts: WatchedFileParts<T>;
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  #held: { readonly value: T } | null = null;
  /** What the files looked like before they were read for `#held`, so that one written meanwhile shows the next time. */
  #stamp: string | null = null;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #complaint: string | null = null;

  constructor(paths: readonly string[], parts: WatchedFileParts<T>, deps: Pick<Deps, 'elapsedMs'>) {
    this.#paths = paths;
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Of the files as they are, or were when they could be used last. @throws as `parse`, where they never could be. */
  current(): T {
    this.#held ??= this.#asConfigured();
    const nowMs = this.#deps.elapsedMs();
    const isDue = this.#held === null || nowMs - this.#lookedAtMs >= LOOK_AGAIN_MS;
    if (this.#held !== null && (!isDue || this.#paths.length === 0)) return this.#held.value;
    this.#lookedAtMs = nowMs;
    this.#held = this.#look(this.#held);
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

  #look(before: { readonly value: T } | null): { readonly value: T } {
    const stamp = this.#paths.map(stampOf).join();
    if (before !== null && stamp === this.#stamp) return before;
    const files = this.#paths.map(read);
    try {
      const value = this.#parts.parse(files, before?.value ?? null);
      // One that could not be read is read again at the next look.
      this.#stamp = files.some((file) => 'fault' in file) ? null : stamp;
      this.#complaint = null;
      if (before === null || value === before.value) return before ?? { value };
      this.#parts.onChanged();
      return { value };
    } catch (error) {
      if (before === null) throw error;
      this.#complain(messageOf(error));
      return before;
    }
  }

  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#parts.onUnusable(reason);
  }
}

/** Changes when the file is written, another one takes its place, or it can no longer be looked at. */
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
