// A store of version 5 → one of version 6.

/** What `cloudevents.observer` tells of the VM, as JSON. */
export const VERSION_6 = `
ALTER TABLE identity ADD COLUMN vm TEXT;
`;
