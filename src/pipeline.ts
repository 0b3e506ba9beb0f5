// Polls → commits: the whole flow from the metadata service to the store, top to bottom.
import { filter, map, merge, type Observable, share, tap } from 'rxjs';
import type { Approvals } from './approvals/approvals.ts';
import type { ApprovalTransaction } from './approvals/store.ts';
import { observeBlind, observeRestored, type SightReport } from './changes/blindness.ts';
import { type DiffSettings, diff } from './changes/diff.ts';
import { distinctByIncarnation } from './changes/distinct.ts';
import { observeFailure } from './changes/state.ts';
import { type StepBack, stepBackOf } from './changes/step-back.ts';
import type { EventContext } from './cloudevents/event.ts';
import { toJournalEntry } from './cloudevents/journal-entry.ts';
import { type Routes, route } from './delivery/routing.ts';
import type { Change, EventChange, Instant, KnownState, PollResult } from './model/events.ts';
import type { Committer } from './outbox/committer.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Transaction } from './outbox/transaction.ts';
import { type Deps, now } from './time/clock.ts';
import { whenSilent } from './time/when-silent.ts';

type Document = Extract<PollResult, { kind: 'document' }>;

export interface Publishing {
  /** What goes into every CloudEvent; asked at each commit, since the VM's name may become known later. */
  readonly speaker: () => Omit<EventContext, 'approval'>;
  /** The events as they were committed last, by key. */
  readonly known: () => KnownState['events'];
  /** Asked at each commit: a reload brings others. */
  readonly routes: () => Routes;
  readonly outbox: Outbox;
  readonly clock: Deps;
}

export interface PipelineParts extends Publishing {
  /** One result for each poll. */
  readonly polls$: Observable<PollResult>;
  readonly firstRequestAt: Instant;
  readonly metadata: {
    /** When this process last read a good document, though its changes may not have been stored. */
    readonly lastGoodPollAt: Instant | null;
    /** Why the last poll brought no document. */
    readonly lastFailure: string | null;
    /** How long without a good document counts as blind. */
    readonly blindAfterMs: number;
    handled(poll: PollResult): void;
  };
  readonly settleMs: () => DiffSettings['settleMs'];
  readonly isOurs: () => DiffSettings['isOurs'];
  /** Whether an approval of this event, by its key, was in a store that was set aside since. */
  readonly wasApproved: (key: string) => boolean;
  readonly store: Committer;
  readonly approvals: Pick<Approvals, 'observe' | 'approvalOf' | 'documentHandled'>;
  /** Called once such a change is stored. */
  readonly onStepBack: (step: StepBack, change: EventChange) => void;
}

/** The running flow; it goes on until it is unsubscribed, since each step keeps its own failures. */
export function pipeline(parts: PipelineParts): Observable<unknown> {
  const { metadata, store, approvals, clock } = parts;
  const isUsed = (id: string) => parts.outbox.journal.isUsed(id);
  const settings = (): DiffSettings => ({
    settleMs: parts.settleMs(),
    isOurs: parts.isOurs(),
    isUsed,
    isApproved: (key, occurrence) => approvals.approvalOf(key, occurrence) !== null || parts.wasApproved(key),
  });

  // 1. metadata: each poll brings a whole valid document, or a failure.
  const polls$ = parts.polls$.pipe(share());
  const documents$ = polls$.pipe(
    filter(isDocument),
    tap(({ at }) => seeAgain(at, parts)),
    share(),
  );

  const commits$ = documents$.pipe(
    // 2. changes: what is nothing new ends here; the rest is compared with what was committed last.
    distinctByIncarnation(
      () => store.state,
      (state) => store.keep(state),
    ),
    map(({ document, at }) => diff(store.state, document, at, settings())),
    // 3. cloudevents, 4. outbox, 5. delivery: in one transaction, after which the lanes wake.
    tap(({ state, changes, news }) => {
      if (!news) return store.keep(state);
      store.advance({ state }, (transaction) => {
        const settle = commitEvents(changes, transaction, parts, approvals);
        return () => {
          settle();
          reportStepsBack(changes, isUsed, parts.onStepBack);
        };
      });
    }),
  );

  const misses$ = polls$.pipe(
    filter(isFailure),
    tap(() => store.keepInMemory(observeFailure(store.state))),
    tap(() => loseSight(parts)),
  );
  const silences$ = documents$.pipe(
    whenSilent(() => metadata.blindAfterMs, clock),
    tap(() => loseSight(parts)),
  );
  const handled$ = polls$.pipe(
    tap((poll) => metadata.handled(poll)),
    filter(isDocument),
    tap(() => approvals.documentHandled()),
  );

  // The order matters: a poll has been handled when the first two have had it.
  return merge(commits$, misses$, silences$, handled$);
}

/** Steps 3 to 5 of changes of events, and what those do to approvals, inside the transaction that stores them. Returns what is to be done after it. */
export function commitEvents(
  changes: readonly EventChange[],
  transaction: Transaction,
  publishing: Publishing,
  approvals: Pick<Approvals, 'observe' | 'approvalOf'>,
): () => void {
  const preparing = publish(changes, transaction, publishing, (key, occurrence) => approvals.approvalOf(key, occurrence));
  return approvals.observe(forApprovals(transaction, publishing), changes, ({ id }) => preparing.get(id) ?? []);
}

/**
 * Steps 3 to 5 of any change, inside the transaction that stores it: its CloudEvent, and a row for each sink that gets it. Returns, by the
 * change's id, the sinks that hold its event from this change on: it is the first that is sent to them of those on which they act.
 */
export function publish(
  changes: readonly Change[],
  transaction: Transaction,
  { speaker, known, routes, outbox, clock }: Publishing,
  approval: EventContext['approval'] = () => null,
): ReadonlyMap<string, readonly string[]> {
  const context = { ...speaker(), approval };
  const nowMs = clock.wallMs();
  const { holds = () => false } = routes();
  const preparing = new Map<string, readonly string[]>();
  for (const change of changes) {
    const entry = toJournalEntry(change, context);
    const sinks = route(change, transaction, routes(), { outbox, ownName: context.observer.name, nowMs });
    if (change.kind === 'event') {
      const before = known().get(change.key);
      const actedBefore = (sink: string) =>
        outbox.sinks.wasSent(sink, change.occurrence) && (before === undefined || holds(sink, before.event));
      preparing.set(
        change.id,
        sinks.filter((sink) => holds(sink, change.event) && !actedBefore(sink)),
      );
    }
    transaction.append(entry, sinks, nowMs);
  }
  return preparing;
}

/** What approvals may write inside a transaction that is open. */
export function forApprovals(transaction: Transaction, publishing: Publishing): ApprovalTransaction {
  return { ...transaction, publish: (changes) => void publish(changes, transaction, publishing) };
}

function reportStepsBack(changes: readonly EventChange[], isUsed: DiffSettings['isUsed'], onStepBack: PipelineParts['onStepBack']): void {
  for (const change of changes) {
    const step = stepBackOf(change, isUsed);
    if (step !== null) onStepBack(step, change);
  }
}

/** Publishes that sight was lost, once there has been no good document for too long. */
function loseSight(parts: PipelineParts): void {
  const { store, metadata, firstRequestAt, clock } = parts;
  const sight = { firstRequestAt, lastGoodAt: metadata.lastGoodPollAt ?? store.state.lastGoodAt, blindness: store.blindness };
  const settings = { limitMs: metadata.blindAfterMs, reason: metadata.lastFailure, ...idsOf(parts) };
  commitSight(observeBlind(sight, now(clock), settings), parts);
}

/** Publishes that sight is back, where its loss was published before. */
function seeAgain(at: Instant, parts: PipelineParts): void {
  commitSight(observeRestored(parts.store.blindness, at, idsOf(parts)), parts);
}

function idsOf({ speaker, outbox }: Publishing) {
  return { observerId: speaker().observer.id, isUsed: (id: string) => outbox.journal.isUsed(id) };
}

function commitSight(seen: SightReport | null, parts: PipelineParts): void {
  if (seen === null) return;
  parts.store.advance({ blindness: seen.blindness }, (transaction) => {
    publish([seen.change], transaction, parts);
    return () => {};
  });
}

function isDocument(poll: PollResult): poll is Document {
  return poll.kind === 'document';
}

function isFailure(poll: PollResult): boolean {
  return poll.kind === 'failure';
}
