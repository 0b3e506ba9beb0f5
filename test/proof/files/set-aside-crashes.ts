// Every crash while a store is set aside → its rows exist, and the bridge starts.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { expect } from '../found-fault.ts';
import { type Check, expectEnough } from './check.ts';
import { record, replay } from './recording.ts';

const OLD = ['a:1', 'a:2', 'a:3'];

/** @param verb whether a verb has the store open meanwhile */
export function proveSetAside(verb: '' | 'with a verb'): Check {
  return async ({ seed, isLong, share }) => {
    const operations = await record('set-aside', verb);
    const options = { seed, share, draws: 2, most: 6, oneOf: isLong ? 1 : 60 };
    const { crashes, states } = await replay(operations, options, async ({ said }, folder) => {
      const store = join(folder, 'store');
      openOutbox(store, { deps: new VirtualTime(), lock: true, synchronous: 'OFF' }).close();
      const stores = globSync(['outbox.db', 'set-aside-*/outbox.db'], { cwd: store });
      const found = stores.map((name) => idsIn(join(store, name)));
      const isThere = (...ids: readonly string[]) => found.some((one) => ids.every((id) => one.includes(id)));
      expect(!said.includes('old') || isThere(...OLD), 'lost', `the old rows are not in ${JSON.stringify(found)}`);
      expect(!said.includes('new') || isThere('b:1'), 'lost', `the new row is not in ${JSON.stringify(found)}`);
      for (const ids of found) expect(!(ids.includes('a:1') && ids.includes('b:1')), 'altered', 'the stores are mixed');
    });
    expectEnough(states, 100 / share.of, 'states');
    return { did: `${crashes} crashes, ${states} states` };
  };
}

function idsIn(file: string): readonly string[] {
  using database = new DatabaseSync(file);
  const isNew = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'journal'`).get() === undefined;
  if (isNew) return [];
  const rows = database.prepare('SELECT id FROM journal').all();
  return rows.map(({ id }) => String(id));
}
