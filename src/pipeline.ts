// Polls → commits: the whole flow from the metadata service to the store, top to bottom.
import { filter, map, merge, type Observable, share, tap } from 'rxjs';
import type { Approvals } from './approvals/approvals.ts';
import type { ApprovalTransaction } from './approvals/store.ts';
import { observeBlind, observeRestored, type SightReport } from './changes/blindness.ts';
import { distinctByIncarnation, observeFailure, type StepBack, stepBackOf } from './changes/compare.ts';
import { type DiffSettings, diff } from './changes/diff.ts';
import { type EventContext, toJournalEntry } from './cloudevents/event.ts';
import { type Routes, route } from './delivery/routing.ts';
import type { Change, EventChange, Instant, KnownState, PollResult } from './model/events.ts';
import type { Committer } from './outbox/committer.ts';
import type { Transaction } from './outbox/open-store.ts';
import type { Outbox } from './outbox/outbox.ts';
import { type Deps, now } from './time/clock.ts';
import { whenSilent } from './time/shared-timer.ts';

type Document = Extract<PollResult, { kind: 'document' }>;

export interface Publishing {
  /** The attributes of every CloudEvent; read at each commit, because the VM's name may become known later. */
  readonly speaker: () => Omit<EventContext, 'approval'>;
  /** The last committed state of events, by key. */
  readonly known: () => KnownState['events'];
  /** Read at each commit, because a reload may change them. */
  readonly routes: () => Routes;
  readonly outbox: Outbox;
  readonly clock: Deps;
}

interface PipelineParts extends Publishing {
  /** One result for each poll. */
  readonly polls$: Observable<PollResult>;
  readonly firstRequestAt: Instant;
  readonly metadata: {
    /** When this process last read a good document, though its changes may not have been stored. */
    readonly lastGoodPollAt: Instant | null;
    /** Why the last poll returned no document. */
    readonly lastFailure: string | null;
    /** The time without a good document after which the bridge is blind. */
    readonly blindAfterMs: number;
    handled(poll: PollResult): void;
  };
  readonly settleMs: () => DiffSettings['settleMs'];
  readonly isOurs: () => DiffSettings['isOurs'];
  /** Returns whether a store that was set aside had an approval of this event, by its key. */
  readonly wasApproved: (key: string) => boolean;
  readonly store: Committer;
  readonly approvals: Pick<Approvals, 'observe' | 'approvalOf' | 'documentHandled'>;
  /** Called after such a change is stored. */
  readonly onStepBack: (step: StepBack, change: EventChange) => void;
}

/** The running flow. It continues until it is unsubscribed, because each step handles its own failures. */
export function pipeline(parts: PipelineParts): Observable<unknown> {
  const { metadata, store, approvals, clock } = parts;

  // 1. metadata: each poll brings a whole valid document, or a failure.
  const polls$ = parts.polls$.pipe(share());
  const documents$ = polls$.pipe(
    filter(isDocument),
    tap(({ at }) => seeAgain(at, parts)),
    share(),
  );
  const misses$ = polls$.pipe(
    filter(({ kind }) => kind === 'failure'),
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

  // The order matters: a poll counts as handled after the first two.
  return merge(commitsOf(documents$, parts), misses$, silences$, handled$);
}

/** Steps 2 to 5 for documents. */
function commitsOf(documents$: Observable<Document>, parts: PipelineParts): Observable<unknown> {
  const { store, approvals } = parts;
  const isUsed = (id: string) => parts.outbox.journal.isUsed(id);
  const settings = (): DiffSettings => ({
    settleMs: parts.settleMs(),
    isOurs: parts.isOurs(),
    isUsed,
    isApproved: (key, occurrence) => approvals.approvalOf(key, occurrence) !== null || parts.wasApproved(key),
  });
  return documents$.pipe(
    // 2. changes: unchanged documents end here; others are compared with the last committed state.
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
      // It was no empty answer, and ends the row of them even if its changes could not be committed.
      if (store.isBehind && state.emptyRow === null) store.keepInMemory(observeFailure(store.state));
    }),
  );
}

/**
 * Steps 3 to 5 for changes of events and their approvals, inside the transaction that stores them. Returns the work to
 * do after it.
 */
export function commitEvents(
  changes: readonly EventChange[],
  transaction: Transaction,
  publishing: Publishing,
  approvals: Pick<Approvals, 'observe' | 'approvalOf'>,
): () => void {
  const preparing = publish(changes, transaction, publishing, (key, occurrence) =>
    approvals.approvalOf(key, occurrence),
  );
  return approvals.observe(forApprovals(transaction, publishing), changes, ({ id }) => preparing.get(id) ?? []);
}

/**
 * Steps 3 to 5 for any change, inside the transaction that stores it: its CloudEvent, and a row for each sink that
 * receives it. Returns, by the change's id, the sinks that hold its event from this change on, because it is the first
 * change they receive and act on.
 */
function publish(
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

/** The writes that approvals may make inside an open transaction. */
export function forApprovals(transaction: Transaction, publishing: Publishing): ApprovalTransaction {
  return { ...transaction, publish: (changes) => void publish(changes, transaction, publishing) };
}

function reportStepsBack(
  changes: readonly EventChange[],
  isUsed: DiffSettings['isUsed'],
  onStepBack: PipelineParts['onStepBack'],
): void {
  for (const change of changes) {
    const step = stepBackOf(change, isUsed);
    if (step !== null) onStepBack(step, change);
  }
}

/** Publishes the loss of sight after too long a time without a good document. */
function loseSight(parts: PipelineParts): void {
  const { store, metadata, firstRequestAt, clock } = parts;
  const sight = {
    firstRequestAt,
    lastGoodAt: metadata.lastGoodPollAt ?? store.state.lastGoodAt,
    blindness: store.blindness,
  };
  const settings = { limitMs: metadata.blindAfterMs, reason: metadata.lastFailure, ...idsOf(parts) };
  commitSight(observeBlind(sight, now(clock), settings), parts);
}

/** Publishes the return of sight if its loss was published. */
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
