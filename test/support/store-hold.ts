// A store's folder → its write lock, held by this process: whoever wants to commit waits.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';

/** Holds from now on; the returned function lets go, and so does the end of the test. */
export function holdStore(t: TestContext, folder: string): () => void {
  const database = new DatabaseSync(join(folder, 'outbox.db'), { timeout: 5000 });
  const release = () => {
    if (database.isOpen) database.close();
  };
  t.after(release);
  database.exec('BEGIN IMMEDIATE');
  return release;
}
