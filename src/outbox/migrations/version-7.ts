// A store of version 6 → one of version 7.

/** What sinks that act on the machine need: the newest change of each occurrence, by its place in the journal, and notes about deliveries. */
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
`;
