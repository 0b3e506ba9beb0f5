// Every crash while a store is set aside → its rows exist, and the bridge starts.
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { record, replay } from './recording.ts';
import { withoutStrace } from './strace.ts';

const OLD = ['a:1', 'a:2', 'a:3'];

for (const verb of ['', 'with a verb']) {
  test(`after any crash while a store is set aside ${verb}, its rows exist and the bridge starts`, {
    skip: withoutStrace,
  }, async (t) => {
    const operations = await record('set-aside', verb);
    const { crashes, states } = await replay(
      operations,
      { seed: 1, draws: 2, most: 6, oneOf: 10 },
      async (state, folder) => {
        const store = join(folder, 'store');
        openOutbox(store, { deps: new VirtualTime(), lock: true, synchronous: 'OFF' }).close();
        const found = globSync(['outbox.db', 'set-aside-*/outbox.db'], { cwd: store }).map((name) =>
          idsIn(join(store, name)),
        );
        if (state.said.includes('old'))
          assert.ok(
            found.some((ids) => OLD.every((id) => ids.includes(id))),
            JSON.stringify(found),
          );
        if (state.said.includes('new'))
          assert.ok(
            found.some((ids) => ids.includes('b:1')),
            JSON.stringify(found),
          );
        for (const ids of found) assert.ok(!(ids.includes('a:1') && ids.includes('b:1')), 'the stores are mixed');
      },
    );
    t.diagnostic(`${crashes} crashes, ${states} states`);
    assert.ok(crashes > 200 && states > 200, `only ${crashes} crashes, ${states} states`);
  });
}

function idsIn(file: string): readonly string[] {
  assert.ok(existsSync(file));
  using database = new DatabaseSync(file);
  const isNew = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'journal'`).get() === undefined;
  return isNew
    ? []
    : database
        .prepare('SELECT id FROM journal')
        .all()
        .map(({ id }) => String(id));
}
