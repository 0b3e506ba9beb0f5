// A store of version 5 → one of version 6.

/** The data of `cloudevents.observer` about the VM, as JSON. */
export const VERSION_6 = `
ALTER TABLE identity ADD COLUMN vm TEXT;
`;
