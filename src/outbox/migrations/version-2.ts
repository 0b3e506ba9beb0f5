// A store of version 1 → one of version 2.

/** For rates: the requests of the last minute, and an index to read the rows of one key. */
export const VERSION_2 = `
ALTER TABLE sinks ADD COLUMN requests TEXT;
CREATE INDEX deliveries_key ON deliveries (sink, partition_key, seq) WHERE state = 'queued';
`;
