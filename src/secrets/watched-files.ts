// Paths of files → what they hold, again whenever they changed; they are looked at only when somebody asks.
import { statSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { fileFault, readRegularFile } from './regular-file.ts';

/** However often is asked, the files are looked at so often at most. */
export const LOOK_AGAIN_MS = 1000;

/** What a file holds, or why that cannot be told, without a word of it. */
export type FileText = { readonly text: string } | { readonly fault: string };

/** Opens no file before `changed`. */
export class WatchedFiles {
  readonly #paths: readonly string[];
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** What the files looked like before they were read, so that one written meanwhile shows the next time. */
  #stamp: string | null = null;

  constructor(paths: readonly string[], deps: Pick<Deps, 'elapsedMs'>) {
    this.#paths = paths;
    this.#deps = deps;
  }

  /** All of them in the order of the paths, the first time and after a change of any; null while none changed, or none was looked at. */
  changed(): readonly FileText[] | null {
    const nowMs = this.#deps.elapsedMs();
    if (this.#paths.length === 0 || nowMs - this.#lookedAtMs < LOOK_AGAIN_MS) return null;
    this.#lookedAtMs = nowMs;
    const stamp = this.#paths.map(stampOf).join();
    if (stamp === this.#stamp) return null;
    this.#stamp = stamp;
    return this.#paths.map(read);
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
    return { text: readRegularFile(path) };
  } catch (error) {
    return { fault: fileFault(error) };
  }
}
