// A store of version 4 → one of version 5.

/** For the limit of an audit trail: the lines of each approver, and the steps that are only counted. Also the handled messages of a source. */
export const VERSION_5 = `
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
