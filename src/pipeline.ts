// Polls in, commits out: the whole flow from the metadata service to the store, top to bottom. The map of the house; each step lives in the folder named beside it.
import { filter, map, merge, type Observable, share, startWith, switchMap, tap } from 'rxjs';
import type { Observation } from './changes/diff.ts';
import { distinctByIncarnation } from './changes/distinct.ts';
import type { KnownState, PollResult } from './model/events.ts';

type Document = Extract<PollResult, { kind: 'document' }>;

export interface PipelineSteps {
  /** metadata/: one result a poll. */
  readonly polls$: Observable<PollResult>;
  /** changes/: the last committed state. */
  readonly known: () => KnownState;
  /** A document that is nothing new: its time is kept. */
  readonly keep: (state: KnownState) => void;
  readonly compare: (poll: Document) => Observation;
  /** cloudevents/, outbox/ and delivery/: what changed becomes CloudEvents, stored with the state and a delivery row for each sink, and wakes their lanes. */
  readonly commit: (observation: Observation) => void;
  /** A poll without a good document. */
  readonly miss: () => void;
  /** Emits when there has been no good document for too long since the last one. */
  readonly silence$: () => Observable<unknown>;
  readonly loseSight: () => void;
  readonly regainSight: (poll: Document) => void;
  /** The poll has been handled wholly. */
  readonly handled: (poll: PollResult) => void;
}

/** The running flow; it goes on until it is unsubscribed, since each step keeps its own failures. */
export function pipeline(steps: PipelineSteps): Observable<unknown> {
  const polls$ = steps.polls$.pipe(share());
  const documents$ = polls$.pipe(filter(isDocument), tap(steps.regainSight), share());

  const changes$ = documents$.pipe(distinctByIncarnation(steps.known, steps.keep), map(steps.compare), tap(steps.commit));
  const misses$ = polls$.pipe(filter(isFailure), tap(steps.miss), tap(steps.loseSight));
  const silences$ = documents$.pipe(startWith(null), switchMap(steps.silence$), tap(steps.loseSight));
  const handled$ = polls$.pipe(tap(steps.handled));

  // The order matters: a poll has been handled when the first two have had it.
  return merge(changes$, misses$, silences$, handled$);
}

function isDocument(poll: PollResult): poll is Document {
  return poll.kind === 'document';
}

function isFailure(poll: PollResult): boolean {
  return poll.kind === 'failure';
}
