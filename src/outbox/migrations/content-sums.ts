// A store without sums → one with sums of the rows that it acts on.

/** CRC-32 of the row's other values; null in rows of earlier versions, which are not compared until they are replaced. */
export const CONTENT_SUMS = `
ALTER TABLE journal ADD COLUMN sum INTEGER;
ALTER TABLE known_events ADD COLUMN sum INTEGER;
ALTER TABLE known_state ADD COLUMN sum INTEGER;
ALTER TABLE approvals ADD COLUMN sum INTEGER;
ALTER TABLE identity ADD COLUMN sum INTEGER;
`;
