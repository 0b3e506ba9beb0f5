// Expired deadlines and edges of windows → approved if the rule says so, else left to Azure.
import { messageOf } from '../../errors.ts';
import type { KnownEvent } from '../../model/events.ts';
import { now } from '../../time/clock.ts';
import { type Governed, isPast, windowEdgeMs } from '../rules/governed.ts';
import { stepOf } from './audit-steps.ts';
import type { AuditEntry } from './audit-trail.ts';
import type { Deadlines } from './deadlines.ts';
import type { RecordParts } from './ledger.ts';
import type { Reviews } from './reviews.ts';
import { stands, withDeadline } from './transitions.ts';

interface DueParts extends RecordParts {
  readonly deadlines: Deadlines;
  readonly reviews: Pick<Reviews, 'atWindowEdge'>;
}

/** Handles deadlines that expire, and windows that open or close, from now on. */
export function decideWhenDue(parts: DueParts): void {
  // The first change that is stored makes `Allotments` handle all that is due, before it looks at the budgets.
  parts.deadlines.due$.subscribe((keys) => {
    for (const key of keys) fallDue(key, parts);
  });
}

function fallDue(key: string, parts: DueParts): void {
  const { ports, ledger, deadlines, reviews, deps, logger } = parts;
  const known = ports.events().get(key);
  const governedEvent = known && ledger.governedEventOf(known);
  if (!known || !governedEvent) {
    deadlines.set(key, null);
    return;
  }
  const { governed } = governedEvent;
  const edgeMs = windowEdgeMs(governed);
  const nowMs = deps.wallMs();
  const isAtEdge = edgeMs !== null && edgeMs <= nowMs;
  // Of several that are due together, the first one stored makes `Allotments` handle the others. Their deadlines may
  // now be ahead.
  if (!isAtEdge && !governed.isDone && (governed.dueMs ?? nowMs) > nowMs) return;
  try {
    if (isAtEdge) ledger.commit([reviews.atWindowEdge({ known, governed }, now(deps))]);
    else if (governed.isDone) deadlines.set(key, edgeMs);
    else decide(known, governed, parts);
  } catch (error) {
    const what = isAtEdge ? 'a window opened or closed' : 'a deadline expired';
    // The store logs its own faults. The next document retries.
    logger.error(
      { eventId: known.event.eventId, reason: messageOf(error) },
      `${what} and could not be stored; the bridge will retry it`,
    );
  }
}

function decide(known: KnownEvent, governed: Governed, { rules, ledger, auditTrail, ports, deps }: DueParts): void {
  const at = now(deps);
  const before = ledger.approvalOf(known.key, known.occurrence);
  const done = { ...governed, isDone: true };
  const isSeen = sees(known, ports);
  // Kept in memory at once: the deadline must stay undecided when the document is visible again, even if the record
  // cannot be stored now.
  if (!isSeen) ledger.governedEvents.keep(known, done);
  const approves = isSeen && governed.ruling.deadline?.then === 'approve' && !isPast(known.event, at.wallMs);
  const after = approves ? withDeadline(rules, before, { known, governed }, at) : before;
  const isDecided = after !== null && after !== before;
  const left = stepOf('left', at.wallMs, governed.ruling.policy, { reason: 'deadline' });
  const entry: AuditEntry = isDecided
    ? auditTrail.entry(known, before, after, at)
    : { known, before, after, changes: [], steps: stands(before) ? [] : [left] };
  const decided = auditTrail.pending([entry], () => {
    ledger.governedEvents.keep(known, done);
    if (isDecided) ledger.keep(after);
  });
  ledger.commit([decided]);
}

/** Whether this process has a current document that lists the event as Scheduled. */
function sees({ listed, event }: KnownEvent, ports: DueParts['ports']): boolean {
  return listed && event.eventStatus === 'Scheduled' && ports.lastReadAt() !== null && !ports.isBlind();
}
