// The tables, version by version → a database of the newest version.
import { BridgeError } from '../../errors.ts';
import type { Database } from '../database.ts';
import { CONTENT_SUMS } from './content-sums.ts';
import { VERSION_1 } from './version-1.ts';
import { VERSION_7 } from './version-7.ts';

/** For rates: the requests of the last minute, and an index to read the rows of one key. */
const VERSION_2 = `
ALTER TABLE sinks ADD COLUMN requests TEXT;
CREATE INDEX deliveries_key ON deliveries (sink, partition_key, seq) WHERE state = 'queued';
`;

/** For messages of approval sources. The table of version 1 was never used. */
const VERSION_3 = `
DROP TABLE parked_messages;
-- Approvals for events that nobody has seen yet.
CREATE TABLE parked_messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  id TEXT NOT NULL,
  approver TEXT NOT NULL,
  place TEXT NOT NULL,
  body BLOB NOT NULL,
  sent_ms INTEGER NOT NULL,
  received_ms INTEGER NOT NULL,
  UNIQUE (source, id)
);

-- Messages that were dealt with, so that one that comes again does nothing.
CREATE TABLE handled_messages (
  source TEXT NOT NULL,
  id TEXT NOT NULL,
  handled_ms INTEGER NOT NULL,
  refused_reason TEXT,
  refused_description TEXT,
  PRIMARY KEY (source, id)
) WITHOUT ROWID;
CREATE INDEX handled_messages_age ON handled_messages (handled_ms);
`;

/** For holds, decisions and the audit trail of an approval. The table of holds of version 1 was never used. */
const VERSION_4 = `
ALTER TABLE approvals ADD COLUMN holds TEXT NOT NULL DEFAULT '[]';
ALTER TABLE approvals ADD COLUMN decision TEXT;
ALTER TABLE approvals ADD COLUMN dry_run INTEGER NOT NULL DEFAULT 0;
UPDATE approvals SET dry_run = 1 WHERE state = 'dry-run';
DROP TABLE holds;

-- The record of each occurrence. A line stands as it was written until the occurrence is forgotten.
CREATE TABLE approval_steps (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  occurrence INTEGER NOT NULL,
  step TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  approver TEXT,
  via TEXT,
  policy TEXT,
  status,
  reason TEXT
);
CREATE INDEX approval_steps_occurrence ON approval_steps (occurrence, seq);
CREATE TRIGGER approval_steps_stand BEFORE UPDATE ON approval_steps BEGIN
  SELECT RAISE(ABORT, 'a line of the record of approvals never changes');
END;

-- By number, not by time: clocks are set back.
CREATE INDEX occurrences_last ON occurrences (key, occurrence);
`;

/**
 * For the limit of an audit trail: the lines of each approver, and the steps that are only counted. Also the handled
 * messages of a source.
 */
const VERSION_5 = `
ALTER TABLE approval_steps ADD COLUMN times INTEGER;
CREATE INDEX approval_steps_submitted ON approval_steps (occurrence, seq) WHERE step = 'submitted';
-- approver: '' where nobody in particular did it.
CREATE TABLE approval_step_counts (
  occurrence INTEGER NOT NULL,
  approver TEXT NOT NULL,
  written INTEGER NOT NULL,
  unwritten INTEGER NOT NULL DEFAULT 0,
  since_ms INTEGER,
  until_ms INTEGER,
  PRIMARY KEY (occurrence, approver)
) WITHOUT ROWID;
INSERT INTO approval_step_counts (occurrence, approver, written)
  SELECT occurrence, coalesce(approver, ''), count(*) FROM approval_steps GROUP BY occurrence, coalesce(approver, '');
CREATE INDEX handled_messages_source ON handled_messages (source, handled_ms);
`;

/** The data of `cloudevents.observer` about the VM, as JSON. */
const VERSION_6 = `
ALTER TABLE identity ADD COLUMN vm TEXT;
`;

/**
 * The begin of a row of epochs that follow each other within `metadata.settle`. Null: the begin of the epoch itself.
 */
const VERSION_8 = `
ALTER TABLE known_state ADD COLUMN epoch_row_started_ms INTEGER;
`;

/**
 * For budgets: the names of ended events that are still in use. And the hold of everything, at most one row: an earlier
 * version, which would not obey it, rejects the store. And sums of the contents of rows, so that changed bits are found.
 */
const VERSION_9 = `
CREATE TABLE rests (
  occurrence INTEGER PRIMARY KEY,
  resources TEXT NOT NULL,
  ended_ms INTEGER NOT NULL
);
CREATE INDEX rests_ended ON rests (ended_ms);

CREATE TABLE hold_of_all (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  approver TEXT NOT NULL,
  via TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  reason TEXT
);
${CONTENT_SUMS}`;

/** The n-th step migrates from version n-1 to version n. A released step never changes. */
export const MIGRATIONS: readonly string[] = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  VERSION_4,
  VERSION_5,
  VERSION_6,
  VERSION_7,
  VERSION_8,
  VERSION_9,
];

/**
 * Migrates the database to the newest version, with one transaction for each step. `user_version` has the version.
 * @throws BridgeError BRIDGE_STORE_NEWER if a later release wrote it
 */
export function migrate(database: Database, migrations = MIGRATIONS): void {
  const current = database.prepare<{ user_version: number }>('PRAGMA user_version');
  const version = (): number => current.get()?.user_version ?? 0;
  while (version() !== migrations.length) {
    database.transaction(() => {
      // Read again: another process may have run the same step.
      const from = version();
      const step = migrations[from];
      if (from > migrations.length) throw newer(database.file, from, migrations.length);
      if (step === undefined) return;
      database.exec(step);
      database.exec(`PRAGMA user_version = ${from + 1}`);
    });
  }
}

function newer(file: string, version: number, newest: number): BridgeError {
  return new BridgeError(
    'BRIDGE_STORE_NEWER',
    `the store ${file} was written by a later release (its schema is version ${version}, this release supports up to ${newest}). Run that release, or set store.path to another folder`,
  );
}
