// Why the HTTP interface refuses a request (RFC 9457) or drops a connection: two closed lists.

/** What an approval, a hold or a release is refused for, by HTTP and as a message. */
export const REFUSALS = {
  'bad-request': { status: 400, title: 'The request cannot be understood' },
  unknown: { status: 404, title: 'No such event' },
  'seen-unknown': { status: 404, title: 'Seen names no CloudEvent of this event' },
  'not-held': { status: 404, title: 'No such hold' },
  ended: { status: 410, title: 'The event has ended' },
  old: { status: 409, title: 'The approval is older than the event' },
  started: { status: 409, title: 'The event has started already' },
  submitted: { status: 409, title: 'The approval has been submitted already' },
  changed: { status: 409, title: 'The event has changed' },
  scope: { status: 403, title: 'Outside the scope of this approver' },
  forbidden: { status: 403, title: 'This approver may not approve this event' },
  refused: { status: 502, title: 'The metadata service refused the approval' },
} as const;

export const PROBLEMS = {
  ...REFUSALS,
  unauthorized: { status: 401, title: 'A token is needed' },
  'no-approvers': { status: 403, title: 'Nobody may approve here' },
  'not-admin': { status: 403, title: 'Only an admin may' },
  'foreign-page': { status: 403, title: 'A page of another site asked' },
  reader: { status: 403, title: 'A reader may look and not act' },
  'unknown-drill': { status: 404, title: 'No such drill' },
  'event-listed': { status: 409, title: 'A real event is listed' },
  unnamed: { status: 409, title: 'This VM has no known name' },
  'unknown-sink': { status: 404, title: 'No such sink' },
  'no-dead-letter': { status: 404, title: 'No such dead letter' },
  'not-found': { status: 404, title: 'No such route' },
  'method-not-allowed': { status: 405, title: 'The route has other methods' },
  pruned: { status: 410, title: 'What follows was pruned' },
  position: { status: 400, title: 'No such position' },
  'needs-restart': { status: 409, title: 'A restart is needed' },
  'no-file': { status: 409, title: 'There is no configuration file' },
  'too-large': { status: 413, title: 'The body is too large' },
  'not-json': { status: 415, title: 'The body must be JSON' },
  host: { status: 421, title: 'The Host header is not one of this server' },
  'faulty-configuration': { status: 422, title: 'The configuration has faults' },
  'too-many-requests': { status: 429, title: 'Too many wrong tokens' },
  'too-many-readers': { status: 503, title: 'Too many readers' },
  internal: { status: 500, title: 'The bridge failed' },
  unavailable: { status: 503, title: 'Nothing can be recorded now' },
} as const;

/** The `type` of a refusal (behaviour 6.6). */
export type RefusalType = keyof typeof REFUSALS;

export type ProblemType = keyof typeof PROBLEMS;

/** `crowded`: it waited longest when others came; `full`: requests were under way on all others; `unread`: it left an answer unread. */
export const DROP_REASONS = ['crowded', 'full', 'unread'] as const;

export type DropReason = (typeof DROP_REASONS)[number];
