// A store of version 2 → one of version 3.

/** For messages of approval sources. The table of version 1 was never used. */
export const VERSION_3 = `
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
