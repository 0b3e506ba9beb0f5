// The query of GET /v1/approvals/EVENT_ID → the part of the record, or what is wrong with it.
import type { RecordRange } from '../model/approvals.ts';

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

function numberIn(query: URLSearchParams, name: string, absent: number): number | null {
  const [value, ...others] = query.getAll(name);
  if (value === undefined) return absent;
  return others.length === 0 && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
