// What to do and a folder in argv → a process on that store until killed; tells how far it is.
import { writeSync } from 'node:fs';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { eventApproval } from '../../unit/cloudevents/changes.ts';
import { approvalStep, entry, knownEvent, knownState, sinks } from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const [work, folder = ''] = process.argv.slice(2);
const outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
outbox.sinks.sync(sinks('audit', 'hooks'));

function say(what: string | number): void {
  writeSync(1, `${what}\n`);
}

/** Until the parent kills this process. */
function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Commits documents 1, 2, 3 …, each with one new event, for as long as it may; says each one that is on disk. */
function commitForEver(): void {
  for (let n = 1; ; n++) {
    outbox.transact((transaction) => {
      transaction.saveState(knownState([knownEvent(`e${n}`, n)], { incarnation: n, nextOccurrence: n + 1 }));
      transaction.append(entry(`e${n}:scheduled`, { occurrence: n }), ['audit', 'hooks'], n);
      transaction.saveApproval(eventApproval({ key: `e${n}`, occurrence: n }));
      transaction.addSteps(n, [approvalStep('recorded'), approvalStep('decided')]);
    });
    say(n);
  }
}

switch (work) {
  case 'hold':
    say('holding');
    hang();
    break;
  case 'commit':
    commitForEver();
    break;
  case 'inside':
    outbox.transact((transaction) => {
      transaction.saveState(knownState([knownEvent('a', 1)]));
      transaction.append(entry('a:scheduled'), ['audit', 'hooks'], 1);
      transaction.saveApproval(eventApproval({ key: 'a' }));
      transaction.addSteps(1, [approvalStep('recorded')]);
      say('inside');
      hang();
    });
    break;
  case 'relaxed':
    outbox.transact((transaction) => {
      transaction.saveState(knownState([]));
      transaction.append(entry('a:scheduled'), ['audit'], 1);
    });
    outbox.queue.settle('audit', [{ seq: outbox.queue.queued('audit', [], 1)[0]?.seq ?? 0, result: 'accepted' }], 2);
    outbox.heartbeat({ wallMs: 4_000_000, elapsedMs: 1 });
    say('done');
    hang();
    break;
  default:
    throw new Error(`no such work: ${work}`);
}
