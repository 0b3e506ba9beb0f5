// Each statement of poll, delivery and pruning → a plan that a million journal rows do not slow.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { APPROVALS_SQL } from '../../../src/outbox/approvals.ts';
import { DEAD_LETTERS_SQL } from '../../../src/outbox/dead-letters.ts';
import { DELIVERY_NOTES_SQL } from '../../../src/outbox/delivery-notes.ts';
import { JOURNAL_SQL } from '../../../src/outbox/journal.ts';
import { KNOWN_STATE_SQL } from '../../../src/outbox/known-state.ts';
import { MESSAGES_SQL } from '../../../src/outbox/messages.ts';
import { JOURNAL_PAGES_SQL } from '../../../src/outbox/operators/journal-pages.ts';
import { QUEUE_SQL } from '../../../src/outbox/queue/queue-sql.ts';
import { RETENTION_SQL } from '../../../src/outbox/retention.ts';
import { SINKS_SQL } from '../../../src/outbox/sinks.ts';
import { testStore } from '../../virtual/outbox-fixture.ts';

/**
 * What a plan may walk from end to end: a row of constants, a list that was handed in, a result that was limited, the
 * events that are known now, or messages that wait.
 */
const MAY_SCAN = [
  /^SCAN CONSTANT ROW$/,
  /^SCAN json_each VIRTUAL TABLE/,
  /^SCAN \(subquery-\d+\)$/,
  /^SCAN known_events$/,
  /^SCAN k$/,
  /^SCAN parked_messages$/,
];

const PARTS = {
  ...{
    APPROVALS_SQL,
    DEAD_LETTERS_SQL,
    DELIVERY_NOTES_SQL,
    JOURNAL_PAGES_SQL,
    JOURNAL_SQL,
    KNOWN_STATE_SQL,
    MESSAGES_SQL,
    QUEUE_SQL,
    RETENTION_SQL,
    SINKS_SQL,
  },
};
const statements = Object.entries(PARTS).flatMap(([part, sql]) =>
  Object.entries(sql).map(([name, text]) => ({ name: `${part}.${name}`, text: text as string })),
);

for (const { name, text } of statements) {
  test(`${name} searches by an index and sorts nothing`, (t) => {
    const { folder } = testStore(t);
    const database = new DatabaseSync(join(folder, 'outbox.db'));
    t.after(() => database.close());
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map((row) => String(row['detail']));
    const walks = plan.filter((step) => step.startsWith('SCAN') && !MAY_SCAN.some((allowed) => allowed.test(step)));
    const sorts = plan.filter((step) => step.includes('TEMP B-TREE'));
    assert.deepEqual([...walks, ...sorts], [], plan.join('\n'));
  });
}

test('queued and queuedBefore find their rows in the partial indexes', (t) => {
  const { folder } = testStore(t);
  const database = new DatabaseSync(join(folder, 'outbox.db'));
  t.after(() => database.close());
  const planOf = (sql: string): string =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => row['detail'])
      .join('\n');
  assert.match(planOf(QUEUE_SQL.queued), /SEARCH d USING INDEX deliveries_queue \(sink=\?\)/);
  assert.match(planOf(QUEUE_SQL.queuedBefore), /SEARCH d USING INDEX deliveries_age \(sink=\? AND since_ms<\?\)/);
  assert.match(planOf(RETENTION_SQL.journal), /SEARCH j USING (COVERING )?INDEX journal_time \(.*time_ms.*\)/);
});
