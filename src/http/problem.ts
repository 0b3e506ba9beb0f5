// What went wrong → an answer in application/problem+json (RFC 9457).
import type { Reply } from './route.ts';

/** By `type`; docs/approve/approvals.md lists them for callers. */
export const PROBLEM_TITLES = {
  'no-approvers': 'Nobody may approve here',
  unauthorized: 'A token is needed',
  'too-many-requests': 'Too many wrong tokens',
  reader: 'A reader may not approve',
  host: 'The Host header is not one of this server',
  'not-json': 'The body must be JSON',
  'too-large': 'The body is too large',
  'bad-request': 'The request cannot be understood',
  'not-found': 'No such route',
  'method-not-allowed': 'The route has other methods',
  unavailable: 'Nothing can be recorded now',
  internal: 'The bridge failed',
} as const;

export type ProblemType = keyof typeof PROBLEM_TITLES;

export interface Problem {
  /** A relative reference: plain words such as `changed`, which callers compare. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What failed and what to do. */
  readonly detail: string;
  /** The EventId that decided, as the caller wrote it. */
  readonly eventId?: string;
}

export function problemReply(problem: Problem, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: problem.status, headers: { ...headers, 'content-type': 'application/problem+json' }, body: JSON.stringify(problem) };
}

/** A problem that this server itself finds. */
export function problem(status: number, type: ProblemType, detail: string, headers?: Readonly<Record<string, string>>): Reply {
  return problemReply({ type, title: PROBLEM_TITLES[type], status, detail }, headers);
}
