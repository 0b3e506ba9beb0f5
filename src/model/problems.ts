// Why the HTTP interface refuses a request (RFC 9457) or drops a connection: two closed lists.

/** Why an approval, a hold or a release is refused, by HTTP and as a message. */
export const REFUSALS = {
  'bad-request': { status: 400, title: 'The request cannot be understood' },
  unknown: { status: 404, title: 'No such event' },
  'seen-unknown': { status: 404, title: 'Seen names no CloudEvent of this event' },
  'not-held': { status: 404, title: 'No such hold' },
  ended: { status: 410, title: 'The event has ended' },
  old: { status: 409, title: 'The approval is older than the event' },
  started: { status: 409, title: 'The event has started already' },
  submitted: { status: 409, title: 'The approval has been submitted already' },
  submitting: { status: 409, title: 'The approval is being submitted' },
  changed: { status: 409, title: 'The event has changed' },
  scope: { status: 403, title: 'Outside the scope of this approver' },
  'not-admin': { status: 403, title: 'Only an admin may do this' },
  forbidden: { status: 403, title: 'This approver may not approve this event' },
  refused: { status: 502, title: 'The metadata service refused the approval' },
} as const;

export const PROBLEMS = {
  ...REFUSALS,
  unauthorized: { status: 401, title: 'Authentication is required' },
  'no-approvers': { status: 403, title: 'No approvers are configured' },
  'foreign-page': { status: 403, title: 'A page of another origin asked' },
  reader: { status: 403, title: 'A reader may not change anything' },
  'unknown-drill': { status: 404, title: 'No such drill' },
  'event-listed': { status: 409, title: 'A real event is listed' },
  unnamed: { status: 409, title: 'The name of this VM is unknown' },
  'unknown-sink': { status: 404, title: 'No such sink' },
  'no-dead-letter': { status: 404, title: 'No such dead letter' },
  'not-found': { status: 404, title: 'No such route' },
  'method-not-allowed': { status: 405, title: 'The route has other methods' },
  pruned: { status: 410, title: 'The store no longer keeps what follows' },
  position: { status: 400, title: 'No such position' },
  'needs-restart': { status: 409, title: 'A restart is needed' },
  'no-file': { status: 409, title: 'There is no configuration file' },
  'too-large': { status: 413, title: 'The body is too large' },
  'not-json': { status: 415, title: 'The body must be JSON' },
  host: { status: 421, title: 'The Host header is not one of this server' },
  'faulty-configuration': { status: 422, title: 'The configuration has faults' },
  'too-many-requests': { status: 429, title: 'Too many failed attempts' },
  'too-many-readers': { status: 503, title: 'Too many readers' },
  internal: { status: 500, title: 'The bridge failed' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const;

/** The `type` of a refusal (behaviour 6.6). */
export type RefusalType = keyof typeof REFUSALS;

export type ProblemType = keyof typeof PROBLEMS;

/**
 * Why a caller's connection was dropped. `crowded`: it had waited longest for its client when a new one came, or it had
 * sent the most ahead of its answers. `full`: requests were running on all other connections. `unread`: the caller did
 * not read its answer.
 */
export const DROP_REASONS = ['crowded', 'full', 'unread'] as const;

export type DropReason = (typeof DROP_REASONS)[number];
