// The query of GET /v1/approvals/EVENT_ID → the part of the record, or what is wrong with it.
import type { RecordRange } from '../model/approvals.ts';
import { numberIn } from './query.ts';

/** Lines of one answer: without `?limit=`, and at most. */
const LIMIT = 100;
const MOST = 200;

/** A text is what is wrong: it names the parameter and what is allowed there. */
export function recordRange(query: URLSearchParams): RecordRange | string {
  const limit = numberIn(query, 'limit', LIMIT);
  if (limit === null || limit < 1 || limit > MOST) return `?limit= is a number from 1 to ${MOST}, once.`;
  const after = numberIn(query, 'after', 0);
  return after === null ? '?after= is the number that next gave in the answer before, once.' : { after, limit };
}
