// Every crash of a bridge with command runs → after a kill, each open run is known.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { RunNotes } from '../../../adapters/command/run-notes.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { expect } from '../found-fault.ts';
import { type Check, expectEnough } from './check.ts';
import { record, replay } from './recording.ts';

/** After a kill each open command run is known, and after a power cut those before the last flush. */
export const proveRunNotes: Check = async ({ seed, isLong, share }) => {
  const operations = await record('run-notes');
  const options = { seed, share, draws: 2, most: 3, oneOf: isLong ? 1 : 6 };
  const { crashes, states } = await replay(operations, options, async ({ said, isWhole }, folder) => {
    const time = new VirtualTime();
    using outbox = openOutbox(join(folder, 'store'), { deps: time, lock: true, synchronous: 'OFF' });
    const store = { all: () => outbox.notes.all('run'), write: () => assert.fail('nothing is written') };
    const found = new RunNotes(store, time.random).ofOtherProcesses();
    const flushed = said.slice(0, said.findLastIndex((words) => words.startsWith('flushed')) + 1);
    const known = runsIn(isWhole ? said : flushed);
    // A program may run from before its pid is known.
    for (const seq of known.begun) {
      // Printed or not yet: the end may have come since.
      const run = found.find((each) => each.seq === seq);
      expect(run !== undefined || mayBeOver(seq, said), 'lost', `run ${seq} is forgotten`);
      if (run) expect(run.key === `event-${seq}`, 'altered', `run ${seq} is of another event`);
      if (run && known.started.includes(seq)) expect(run.pid === 1000 + seq, 'altered', `run ${seq} is another one`);
    }
    if (isWhole)
      for (const seq of runsIn(said).over)
        expect(!found.some((run) => run.seq === seq), 'invented', `run ${seq} is over`);
    const begun = runsIn(said).begun.length;
    expect(
      found.every(({ seq }) => seq <= begun + 1),
      'invented',
      'a run that nobody began',
    );
  });
  expectEnough(states, 100 / share.of, 'states');
  return { did: `${crashes} crashes, ${states} states` };
};

function runsIn(said: readonly string[]): Readonly<Record<'begun' | 'started' | 'over', readonly number[]>> {
  const of = (what: string) =>
    said.flatMap((words) => (words.startsWith(`${what} `) ? [Number(words.slice(what.length + 1))] : []));
  return { begun: of('begun'), started: of('started'), over: of('over') };
}

/** The last printed step of this run comes directly before its end. */
function mayBeOver(seq: number, said: readonly string[]): boolean {
  return seq % 3 === 0 && said.some((words) => words === `started ${seq}`);
}
