// An identified VM and its store → the flow at work: recorder, approvals and the pipeline between the polls and the lanes.
import type { Logger } from 'pino';
import { type Observable, retry, type Subscription, tap, timer } from 'rxjs';
import { Approvals } from '../approvals/approvals.ts';
import type { MessageResult } from '../approvals/inbox/inbox.ts';
import type { ApprovalEventName } from '../approvals/record/audit-trail.ts';
import type { Config } from '../config/config.ts';
import type { Change, Instant, PollResult } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { pipeline } from '../pipeline.ts';
import type { Deps } from '../time/clock.ts';
import { isShared, Sources } from './approval-sources.ts';
import { approvalStore, approvalTransaction } from './approval-store.ts';
import { Recorder } from './committer.ts';
import type { Identity } from './identity.ts';
import type { MetadataSource } from './metadata-source.ts';
import type { Sinks } from './sinks.ts';

/** Without a good document for so long the bridge is blind, unless `firstTimeout` applies. */
const BLIND_AFTER_MS = 60_000;
const RETRY_MS = 1000;

export interface WatchParts {
  readonly config: Config;
  readonly outbox: Outbox;
  readonly identity: Identity;
  readonly metadata: MetadataSource;
  /** The polls so far and to come; the last one is given again. */
  readonly polls$: Observable<PollResult>;
  readonly firstRequestAt: Instant;
  readonly sinks: Sinks;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Called with what is on disk now. */
  readonly committed: (changes: readonly Change[]) => void;
  readonly onApproval: (name: ApprovalEventName) => void;
  readonly onMessage: (source: string, result: MessageResult) => void;
}

/** One for each bridge, made once it is known which VM this is. Does nothing before `start`. */
export class Watch implements AsyncDisposable {
  readonly recorder: Recorder;
  readonly approvals: Approvals;
  readonly sources: Sources;
  readonly #parts: WatchParts;
  #subscription: Subscription | null = null;

  constructor(parts: WatchParts) {
    const { config, deps, logger, outbox, sinks } = parts;
    this.#parts = parts;
    this.recorder = new Recorder({
      outbox,
      settleMs: config.metadata.settleMs,
      deps,
      logger: logger.child({ area: 'store' }),
      context: () => this.#context(),
      route: (change, transaction) => sinks.route(change, transaction),
      approvals: (transaction, changes) => this.approvals.observe(approvalTransaction(this.recorder, transaction), changes),
      isApproved: (key, occurrence) => this.approvals.approvalOf(key, occurrence) !== null,
      committed: parts.committed,
    });
    this.approvals = new Approvals({
      approvers: config.approvals.approvers,
      required: config.approvals.required,
      policy: config.approvals.policy,
      group: config.approvals.group,
      isShared: (source) => isShared(source, config),
      dryRun: config.approvals.dryRun,
      store: approvalStore(this.recorder, outbox, parts.committed),
      ports: {
        events: () => this.recorder.known.events,
        lastReadAt: () => this.#lastReadAt(),
        lastGoodAt: () => this.recorder.known.lastGoodAt,
        isBlind: () => this.recorder.blindness !== null,
        read: (signal) => parts.metadata.read(signal),
        room: (reads) => parts.metadata.rate.room(reads),
        post: (eventIds, signal) => parts.metadata.post(eventIds, signal),
        ownName: () => parts.identity.observer.name,
        observerId: () => parts.identity.observer.id,
      },
      deps,
      logger: logger.child({ area: 'approvals' }),
      onEvent: parts.onApproval,
      onMessage: parts.onMessage,
    });
    this.sources = new Sources({ config, approvals: this.approvals, deps, logger: logger.child({ area: 'approvals' }) });
  }

  /** Takes up what was open, then handles the last poll and every one to come. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    const { metadata, polls$, deps, config, identity, logger } = this.#parts;
    const { recorder } = this;
    if (config.publish.resources === 'own' && identity.observer.name === null)
      logger.warn(
        "publish.resources is own, but the VM's own name is unknown: the events of its siblings are published too until it is known",
      );
    if (config.approvals.group.submit === 'leader' && identity.observer.name === null)
      logger.warn(
        "approvals.group.submit is leader, but the VM's own name is unknown: this bridge posts nothing that the group decides until it is known",
      );
    if (config.approvals.dryRun)
      logger.warn('approvals.dryRun is true: what is decided is recorded and told, and no StartRequest is posted');
    this.approvals.start();
    const flow$ = pipeline({
      polls$,
      known: () => recorder.known,
      keep: (state) => recorder.keep(state),
      compare: ({ document, at }) => recorder.compare(document, at),
      commit: (observation) => recorder.commit(observation),
      miss: () => recorder.miss(),
      silence$: () => timer(this.#blindAfterMs(), deps.scheduler),
      loseSight: () => recorder.lookForBlindness(this.#sight(), this.#blindAfterMs(), metadata.lastFailure),
      regainSight: ({ at }) => recorder.lookForSight(at),
      handled: (poll) => this.#handled(poll),
    });
    this.#subscription = flow$
      .pipe(
        tap({
          error: (error: unknown) =>
            logger.fatal({ err: error }, 'handling a poll failed by a mistake in the bridge: tried again in a second'),
        }),
        retry({ delay: () => timer(RETRY_MS, deps.scheduler) }),
      )
      .subscribe();
    this.sources.start(identity.observer.id);
  }

  /** Takes no more messages and handles no more polls; a StartRequest under way may end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.sources[Symbol.asyncDispose]();
    this.#subscription?.unsubscribe();
    await Promise.all([closed, this.approvals[Symbol.asyncDispose]()]);
  }

  #handled(poll: PollResult): void {
    this.#parts.metadata.handled(poll);
    if (poll.kind === 'document') this.approvals.documentHandled();
  }

  #context() {
    const { identity, config } = this.#parts;
    return {
      source: identity.source ?? '',
      typePrefix: config.cloudevents.typePrefix,
      observer: identity.observer,
      approval: (key: string, occurrence: number) => this.approvals.approvalOf(key, occurrence),
    };
  }

  /** The last good poll counts, though its changes may not have been stored. */
  #sight() {
    const { metadata, firstRequestAt } = this.#parts;
    return { firstRequestAt, lastGoodAt: metadata.lastGoodPollAt ?? this.recorder.known.lastGoodAt };
  }

  /** A moment read from the store is of an earlier process, whose reading does not count for posting. */
  #lastReadAt(): Instant | null {
    const at = this.recorder.known.lastGoodAt;
    return at?.elapsedMs === null ? null : at;
  }

  #blindAfterMs(): number {
    const { metadata, config } = this.#parts;
    return metadata.isFirst ? config.metadata.firstTimeoutMs : BLIND_AFTER_MS;
  }
}
