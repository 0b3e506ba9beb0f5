// The sources of this folder → a copy in a temporary folder, with one defect at a time.
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DefectPatch, gitApply, ROOT } from './patches.ts';

/** Installed packages are linked; what was built is older than the defect. */
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist']);

export class SourceCopy implements Disposable {
  readonly folder: string;

  constructor() {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridge-defects-')));
    for (const name of readdirSync(ROOT))
      if (!NOT_COPIED.has(name)) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Runs `work` while the copy has this defect. @throws Error if the patch does not apply */
  async with<Result>(patch: DefectPatch, work: () => Promise<Result>): Promise<Result> {
    this.#apply(patch);
    try {
      return await work();
    } finally {
      this.#apply(patch, '--reverse');
    }
  }

  #apply({ name, path }: DefectPatch, ...options: readonly string[]): void {
    const obstacle = gitApply([...options, path], this.folder);
    if (obstacle !== null) throw new Error(`the patch ${name} does not apply: ${obstacle}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
