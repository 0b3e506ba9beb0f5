// Documents, one after the other → what `diff` makes of each, its state kept as a bridge would.

import { observeFailure } from '../../../src/changes/compare.ts';
import { diff } from '../../../src/changes/diff.ts';
import type { EventChange, Instant, KnownState, ScheduledEventsDocument } from '../../../src/model/events.ts';
import { initialState, momentAt } from '../../support/events.ts';

const SETTLE_MS = 5 * 60_000;

export class Watcher {
  state: KnownState = initialState();
  news = false;
  isOurs = true;
  readonly changes: EventChange[] = [];
  readonly usedIds = new Set<string>();
  readonly approved = new Set<string>();

  /** Observes `document` at `at`, a moment or milliseconds from the start. */
  see(document: ScheduledEventsDocument, at: number | Instant): readonly EventChange[] {
    const difference = diff(this.state, document, typeof at === 'number' ? momentAt(at) : at, {
      settleMs: SETTLE_MS,
      isOurs: this.isOurs,
      isUsed: (id) => this.usedIds.has(id),
      isApproved: (key, occurrence) => this.approved.has(`${key} ${occurrence}`),
    });
    this.state = difference.state;
    this.news = difference.news;
    this.changes.push(...difference.changes);
    for (const change of difference.changes) this.usedIds.add(change.id);
    return difference.changes;
  }

  fail(): void {
    this.state = observeFailure(this.state);
  }

  /** What a restart leaves of the state: what is stored, without moments of the old process. */
  restart(): void {
    const { document: _document, ...state } = this.state;
    const events = [...state.events].map(([key, known]) => {
      const missing = known.missing && { ...known.missing, at: stored(known.missing.at) };
      return [key, { ...known, lastListedAt: stored(known.lastListedAt), missing }] as const;
    });
    this.state = {
      ...state,
      emptyRow: null,
      lastGoodAt: stored(state.lastGoodAt),
      epoch: state.epoch && {
        ...state.epoch,
        startedAt: stored(state.epoch.startedAt),
        rowStartedAt: stored(state.epoch.rowStartedAt),
      },
      events: new Map(events),
    };
  }
}

/** `phase id` of each change, the parts that most tests look at. */
export function told(changes: readonly EventChange[]): readonly string[] {
  return changes.map((change) => `${change.phase}${change.outcome === null ? '' : ` ${change.outcome}`}`);
}

function stored<M extends Instant | null>(moment: M): M {
  return (moment && { ...moment, elapsedMs: null }) as M;
}
