// A store of version 7 → one of version 8.

/** When the row of epochs began that follow each other within `metadata.settle`; null: with the epoch itself. */
export const VERSION_8 = `
ALTER TABLE known_state ADD COLUMN epoch_row_started_ms INTEGER;
`;
