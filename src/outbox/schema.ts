// The tables, version by version → a database of the newest version.
import { BridgeError } from '../errors.ts';
import type { Database } from './database.ts';

/** Rows that live on until an event has been over for long, see retention.ts. Times are milliseconds since 1970, events and votes are JSON. */
const VERSION_1 = `
CREATE TABLE identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  vm_id TEXT,
  name TEXT,
  source TEXT,
  observer_id TEXT NOT NULL
);

CREATE TABLE known_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  incarnation INTEGER,
  api_version TEXT,
  last_good_ms INTEGER,
  epoch_number INTEGER,
  epoch_started_ms INTEGER,
  next_occurrence INTEGER NOT NULL
);

CREATE TABLE known_events (
  occurrence INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  event TEXT NOT NULL,
  api_version TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  last_listed_ms INTEGER,
  missing_ms INTEGER,
  missing_scheduled INTEGER
);

-- An event between its first sight and its end, and what was remembered of it.
CREATE TABLE occurrences (
  occurrence INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  first_seen_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  own INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX occurrences_key ON occurrences (key, ended_ms);
CREATE INDEX occurrences_ended ON occurrences (ended_ms) WHERE ended_ms IS NOT NULL;

CREATE TABLE blindness (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  since TEXT NOT NULL,
  last_document_at TEXT
);

CREATE TABLE journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  change TEXT NOT NULL,
  key TEXT,
  occurrence INTEGER,
  partition_key TEXT NOT NULL,
  time_ms INTEGER NOT NULL,
  bytes BLOB NOT NULL
);
CREATE INDEX journal_time ON journal (time_ms);

-- seq is the journal's, whose row is pruned long before.
CREATE TABLE used_ids (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  occurrence INTEGER,
  used_ms INTEGER NOT NULL
);
CREATE INDEX used_ids_age ON used_ids (used_ms, occurrence);

CREATE TABLE sinks (
  name TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  added_ms INTEGER NOT NULL,
  retired_reason TEXT,
  retired_ms INTEGER,
  consent TEXT
) WITHOUT ROWID;

CREATE TABLE sink_occurrences (
  occurrence INTEGER NOT NULL,
  sink TEXT NOT NULL,
  PRIMARY KEY (occurrence, sink)
) WITHOUT ROWID;

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  sink TEXT NOT NULL,
  journal INTEGER NOT NULL,
  partition_key TEXT NOT NULL,
  queued_ms INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'delivered', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  status,
  at_ms INTEGER
);
-- Partial, so that the path of a poll never meets what was delivered long ago.
CREATE INDEX deliveries_queue ON deliveries (sink, seq, partition_key) WHERE state = 'queued';
CREATE INDEX deliveries_age ON deliveries (sink, queued_ms) WHERE state = 'queued';
CREATE INDEX deliveries_dead ON deliveries (sink, seq) WHERE state = 'dead';
CREATE INDEX deliveries_delivered ON deliveries (at_ms) WHERE state = 'delivered';
CREATE INDEX deliveries_journal ON deliveries (journal);

CREATE TABLE approvals (
  occurrence INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  state TEXT NOT NULL,
  policy TEXT,
  at_ms INTEGER NOT NULL,
  votes TEXT NOT NULL
);

CREATE TABLE holds (
  occurrence INTEGER NOT NULL,
  approver TEXT NOT NULL,
  reason TEXT,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (occurrence, approver)
) WITHOUT ROWID;

CREATE TABLE parked_messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  message_id TEXT NOT NULL,
  body BLOB NOT NULL,
  received_ms INTEGER NOT NULL,
  UNIQUE (source, message_id)
);
`;

/** What a rate needs: requests of the last minute, and the rows of a key whatever waits before them. */
const VERSION_2 = `
ALTER TABLE sinks ADD COLUMN requests TEXT;
CREATE INDEX deliveries_key ON deliveries (sink, partition_key, seq) WHERE state = 'queued';
`;

/** What a message of an approval source needs; the first version's table was never written to. */
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

/** What holds, decisions and the record of an approval need; the first version's table of holds was never written to. */
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

/** What bounds the record of an occurrence, how many lines each approver has and what is counted alone since then, and what is remembered of a source. */
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

/** What `cloudevents.observer` tells of the VM, as JSON. */
const VERSION_6 = `
ALTER TABLE identity ADD COLUMN vm TEXT;
`;

/** The n-th one leads from version n-1 to version n. One that was released never changes. */
export const MIGRATIONS: readonly string[] = [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6];

/**
 * Brings the database to the newest version, each step in a transaction of its own; the version is kept in `user_version`.
 * @throws BridgeError BRIDGE_STORE_NEWER where a later program wrote it.
 */
export function migrate(database: Database, migrations = MIGRATIONS): void {
  const current = database.prepare<{ user_version: number }>('PRAGMA user_version');
  const version = (): number => current.get()?.user_version ?? 0;
  while (version() !== migrations.length) {
    database.transaction(() => {
      // Read again: a verb beside us may have taken the same step.
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
    `the store ${file} was written by a later release (its schema is version ${version}, this release knows up to ${newest}). Run that release, or give store.path another folder`,
  );
}
