// Why a caller's connection was dropped: one closed list, for the HTTP server and its counter.

/** `crowded`: it waited longest when others came; `full`: requests were under way on all others; `unread`: it left an answer unread. */
export const DROP_REASONS = ['crowded', 'full', 'unread'] as const;

export type DropReason = (typeof DROP_REASONS)[number];
