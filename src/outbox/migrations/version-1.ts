// An empty database → one of version 1.

/**
 * retention.ts deletes rows long after their event has ended. Times are milliseconds since 1970; events and votes are
 * JSON.
 */
export const VERSION_1 = `
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
