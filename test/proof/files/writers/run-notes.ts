// A folder → a store with notes of command runs, some confirmed by a commit; prints each step.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { RunNotes } from '../../../../adapters/command/run-notes.ts';
import { openOutbox } from '../../../../src/outbox/outbox.ts';
import { knownState, sinks } from '../../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const [folder = ''] = process.argv.slice(2);
const time = new VirtualTime();
const outbox = openOutbox(join(folder, 'store'), { deps: time, lock: true });
outbox.sinks.sync(sinks('run'));
const store = {
  all: () => outbox.notes.all('run'),
  write: (seq: number, text: string | null) => outbox.notes.write('run', seq, text),
};
const notes = new RunNotes(store, time.random);
for (let seq = 1; seq <= 6; seq++) {
  notes.begin({ seq, partitionKey: `event-${seq}` }, 'boot');
  writeSync(1, `begun ${seq}\n`);
  notes.started(seq, 1000 + seq, '77');
  writeSync(1, `started ${seq}\n`);
  // What a commit confirms survives a power cut, too.
  if (seq % 2 === 0) {
    outbox.transact((transaction) => transaction.saveState(knownState([])));
    writeSync(1, `flushed ${seq}\n`);
  }
  if (seq % 3 === 0) {
    notes.over(seq);
    writeSync(1, `over ${seq}\n`);
  }
}
outbox.close();
