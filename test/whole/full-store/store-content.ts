// A folder → a store with a month of CloudEvents, dead letters, a long record and a long drill.

import { drillEventId } from '../../../src/model/ids.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { DRILL } from '../../virtual/http-fixture.ts';
import { approvalStep, entry, knownEvent, knownState } from '../../virtual/outbox-fixture.ts';

export interface StoreContent {
  readonly events: number;
  /** In Resources of each. */
  readonly names: number;
}

/** Names as AKS gives them to the machines of a large scale set: 54 characters. */
export function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    `aks-nodepool1-12345678-vmss${String(index).padStart(6, '0')}`.padEnd(54, '-'),
  );
}

/** The event whose record is as long as records become. */
export const HELD = 'held-often';

/** Every CloudEvent was delivered to `audit` and refused by `dead`. */
export function fillStore(folder: string, content: StoreContent): void {
  using outbox = openOutbox(folder, { deps: systemDeps(), lock: true, synchronous: 'OFF' });
  outbox.sinks.sync(['audit', 'dead'].map((name) => ({ name, type: 'stdout', fingerprint: 'one' })));
  const nowMs = Date.now();
  const resources = names(content.names);
  const journal = (key: string, count: number) => {
    for (let from = 0; from < count; from += 50) {
      outbox.transact((transaction) => {
        for (let index = from; index < Math.min(count, from + 50); index++) {
          const id = `${key}${index}`;
          const data = { eventId: id.toUpperCase(), eventType: 'Reboot', resources, description: 'x'.repeat(200) };
          transaction.append(
            entry(`${id}:scheduled`, { key: count === content.events ? id : key, timeMs: nowMs, data }),
            ['audit', 'dead'],
            nowMs,
          );
        }
      });
    }
  };
  journal('event-', content.events);
  journal(drillEventId(DRILL.id), 200);
  outbox.transact((transaction) =>
    transaction.saveDrill({ ...DRILL, occurrence: 3, madeMs: nowMs, startedMs: nowMs, endedMs: nowMs }),
  );
  const known = knownEvent(HELD, 2);
  outbox.transact((transaction) => transaction.saveState(knownState([known]), nowMs));
  for (const approver of ['orders', 'billing', 'ops']) {
    const step = (index: number) =>
      approvalStep('held', { approver, atMs: nowMs, reason: `${index} ${'x'.repeat(900)}` });
    outbox.transact((transaction) =>
      transaction.addSteps(
        2,
        Array.from({ length: 200 }, (_, index) => step(index)),
      ),
    );
  }
  settle('audit', (seq) => ({ seq, result: 'accepted' }));
  settle('dead', (seq) => ({ seq, result: 'dead', reason: 'refused', status: 400 }));

  function settle(sink: string, outcome: (seq: number) => Parameters<typeof outbox.queue.settle>[1][number]): void {
    for (let rows = outbox.queue.queued(sink, [], 500); rows.length > 0; rows = outbox.queue.queued(sink, [], 500))
      outbox.queue.settle(
        sink,
        rows.map(({ seq }) => outcome(seq)),
        nowMs,
      );
  }
}
