// A message's JSON → StartRequests, holds and releases, or the fault (behaviour 8.11). Pure.

import { isObject } from '../../formats/json-object.ts';
import { type HoldRequest, parseEntries, parseHold, parseRelease, type ReleaseRequest } from './hold-requests.ts';
import { listFault, parseStartRequests, type StartRequest } from './start-requests.ts';

export const MESSAGE_LISTS = ['StartRequests', 'Holds', 'Releases'] as const;

/** At least one of the lists has an entry. */
export interface MessageRequests {
  readonly starts: readonly StartRequest[];
  readonly holds: readonly HoldRequest[];
  readonly releases: readonly ReleaseRequest[];
}

export function parseMessageRequests(body: unknown): MessageRequests | string {
  const fault = isObject(body) ? listFault(body) : null;
  if (fault !== null) return fault;
  const hasNoStarts = isObject(body) && !('StartRequests' in body) && ('Holds' in body || 'Releases' in body);
  const starts = hasNoStarts ? [] : parseStartRequests(body);
  if (typeof starts === 'string') return starts;
  const holds = parseEntries(body, 'Holds', parseHold);
  if (typeof holds === 'string') return holds;
  const releases = parseEntries(body, 'Releases', parseRelease);
  return typeof releases === 'string' ? releases : { starts, holds, releases };
}
