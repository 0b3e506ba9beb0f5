// A test → an empty folder of its own, gone with the test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export function folderOf(t: TestContext, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'bridge-'));
  // Again where a program still writes into it: the hooks that end programs come behind this one, and would not run
  // after a failure.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}
