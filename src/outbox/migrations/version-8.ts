// A store of version 7 → one of version 8.

/** The begin of a row of epochs that follow each other within `metadata.settle`. Null: the begin of the epoch itself. */
export const VERSION_8 = `
ALTER TABLE known_state ADD COLUMN epoch_row_started_ms INTEGER;
`;
