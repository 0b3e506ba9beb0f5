// What went wrong → an answer in application/problem+json (RFC 9457).
import { PROBLEMS, type ProblemType } from '../model/problems.ts';
import type { Fault } from '../schema/faults.ts';
import type { Reply } from './route.ts';

export interface Problem {
  /** A relative reference such as `changed`, which callers compare. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What failed and what to do. */
  readonly detail: string;
  /** The EventId that caused the problem, as the caller wrote it. */
  readonly eventId?: string;
  /** The faults of the configuration, each with its path. */
  readonly faults?: readonly Fault[];
  /** The keys of the configuration that a running bridge cannot change. */
  readonly restart?: readonly string[];
}

export function problemReply(problem: Problem, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: problem.status, headers: { ...headers, 'content-type': 'application/problem+json' }, body: JSON.stringify(problem) };
}

/** A problem that the HTTP interface itself finds. */
export function problem(
  type: ProblemType,
  detail: string,
  headers?: Readonly<Record<string, string>>,
  more?: Pick<Problem, 'faults' | 'restart'>,
): Reply {
  return problemReply({ type, ...PROBLEMS[type], detail, ...more }, headers);
}
