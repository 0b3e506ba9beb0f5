// A store of version 3 → one of version 4.

/** For holds, decisions and the audit trail of an approval. The table of holds of version 1 was never used. */
export const VERSION_4 = `
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
