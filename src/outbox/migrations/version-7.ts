// A store of version 6 → one of version 7.

/**
 * For sinks that act on the machine: the newest change of each occurrence, by its position in the journal, and notes
 * about deliveries. For operators: the journal by event and its pruned position, discarded deliveries, the state of
 * each sink, the operators' actions, and drills. Also the store's own time, and the time in it since which each
 * delivery waits.
 */
export const VERSION_7 = `
ALTER TABLE occurrences ADD COLUMN last_change INTEGER;
UPDATE occurrences SET last_change = newest.seq
  FROM (SELECT occurrence, max(seq) AS seq FROM journal WHERE change IN ('scheduled', 'updated', 'started', 'ended') GROUP BY occurrence) AS newest
  WHERE newest.occurrence = occurrences.occurrence;

-- seq is the delivery's, which may be gone.
CREATE TABLE delivery_notes (
  sink TEXT NOT NULL,
  seq INTEGER NOT NULL,
  note TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (sink, seq)
) WITHOUT ROWID;
CREATE INDEX delivery_notes_age ON delivery_notes (at_ms);

-- The store's own time. What waits from before is as old as the dates say.
CREATE TABLE store_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  at_ms INTEGER NOT NULL,
  elapsed_ms INTEGER,
  date_ms INTEGER
);
INSERT INTO store_clock (id, at_ms) SELECT 1, max(
  coalesce((SELECT max(queued_ms) FROM deliveries WHERE state = 'queued'), 0), coalesce((SELECT last_good_ms FROM known_state), 0),
  coalesce((SELECT max(time_ms) FROM journal), 0)
);
ALTER TABLE deliveries ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 0;
UPDATE deliveries SET since_ms = queued_ms WHERE state = 'queued';
DROP INDEX deliveries_age;
CREATE INDEX deliveries_age ON deliveries (sink, since_ms) WHERE state = 'queued';

CREATE INDEX journal_key ON journal (key, seq) WHERE key IS NOT NULL;
CREATE INDEX deliveries_dead_seq ON deliveries (seq) WHERE state = 'dead';

-- The newest position of the journal that was pruned.
CREATE TABLE journal_pruned (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL
);
INSERT INTO journal_pruned (id, seq) SELECT 1, max(
  coalesce((SELECT max(u.seq) FROM used_ids u WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.seq = u.seq)), 0),
  coalesce((SELECT min(seq) - 1 FROM journal), (SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0)
);

-- Dead letters that were discarded, each as its row of deliveries was, for as long as what was delivered is kept.
CREATE TABLE discarded (
  seq INTEGER PRIMARY KEY,
  sink TEXT NOT NULL,
  journal INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  status,
  at_ms INTEGER NOT NULL
);
CREATE INDEX discarded_journal ON discarded (journal);
CREATE INDEX discarded_age ON discarded (at_ms);

ALTER TABLE sinks ADD COLUMN paused_by TEXT;
ALTER TABLE sinks ADD COLUMN paused_ms INTEGER;
ALTER TABLE sinks ADD COLUMN accepted_ms INTEGER;
-- JSON: code, message, atMs.
ALTER TABLE sinks ADD COLUMN last_error TEXT;

-- Who did what by the HTTP interface. subject: the sink, where it is of one; detail is JSON.
CREATE TABLE operator_acts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  operator TEXT NOT NULL,
  act TEXT NOT NULL,
  subject TEXT,
  detail TEXT NOT NULL
);
CREATE INDEX operator_acts_age ON operator_acts (at_ms);
CREATE TRIGGER operator_acts_stand BEFORE UPDATE ON operator_acts BEGIN
  SELECT RAISE(ABORT, 'a line of the record of acts never changes');
END;

-- What is kept of a drill beyond what is kept of every event; event and missing are JSON.
CREATE TABLE drills (
  id TEXT PRIMARY KEY,
  occurrence INTEGER NOT NULL,
  event TEXT NOT NULL,
  operator TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  started_ms INTEGER,
  ended_ms INTEGER,
  outcome TEXT,
  missing TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX drills_open ON drills (made_ms) WHERE ended_ms IS NULL;
CREATE INDEX drills_ended ON drills (ended_ms) WHERE ended_ms IS NOT NULL;
`;
