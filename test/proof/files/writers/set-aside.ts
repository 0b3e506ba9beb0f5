// A folder → a store that is set aside, perhaps while a verb has it open; prints each step.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openOutbox } from '../../../../src/outbox/outbox.ts';
import { entry, knownState, sinks } from '../../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const [folder = '', withVerb = ''] = process.argv.slice(2);
const store = join(folder, 'store');
const outbox = openOutbox(store, { deps: new VirtualTime(), lock: true });

function append(...ids: readonly string[]): void {
  outbox.sinks.sync(sinks('audit'));
  outbox.transact((transaction) => {
    transaction.saveState(knownState([]));
    for (const id of ids) transaction.append(entry(id), ['audit'], 1);
  });
}

append('a:1', 'a:2', 'a:3');
writeSync(1, 'old\n');
const verb = withVerb === '' ? null : new DatabaseSync(join(store, 'outbox.db'));
verb?.prepare('SELECT count(*) FROM journal').get();
outbox.setAside('the store belongs to another VM');
writeSync(1, 'aside\n');
verb?.close();
append('b:1');
writeSync(1, 'new\n');
outbox.close();
