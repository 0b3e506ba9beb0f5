// A store of version 1 → one of version 2.

/** What a rate needs: requests of the last minute, and the rows of a key whatever waits before them. */
export const VERSION_2 = `
ALTER TABLE sinks ADD COLUMN requests TEXT;
CREATE INDEX deliveries_key ON deliveries (sink, partition_key, seq) WHERE state = 'queued';
`;
