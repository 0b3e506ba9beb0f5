// An identified VM and its store → the running flow: committer, approvals and pipeline.
import type { Logger } from 'pino';
import { type Observable, retry, type Subscription, tap, timer } from 'rxjs';
import { Approvals } from '../approvals/approvals.ts';
import type { ApprovalEventName } from '../approvals/record/audit-trail.ts';
import type { ApprovalStore } from '../approvals/store.ts';
import type { StepBack } from '../changes/compare.ts';
import { hasOutlasted, hasSettled } from '../changes/epoch.ts';
import type { Config } from '../config/config.ts';
import { compileRoutes, type Routes } from '../delivery/routing.ts';
import { Drills } from '../drills/drills.ts';
import type { MessageResult } from '../model/approvals.ts';
import type { Instant, PollResult, ScheduledEvent } from '../model/events.ts';
import { Committer, type CommitterParts } from '../outbox/committer.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { commitEvents, forApprovals, type Publishing, pipeline } from '../pipeline.ts';
import { type Deps, now } from '../time/clock.ts';
import { isShared, Sources } from './approval-sources.ts';
import { actsOn, holdingSinks, isAuthorized } from './approving-sinks.ts';
import type { Identity } from './identity.ts';
import type { MetadataSource } from './metadata-source.ts';

const RETRY_MS = 1000;

/** Changes that Azure rules out (protocol 10.3), and how the bridge handles them. */
const STEPS_BACK: Readonly<Record<StepBack, string>> = {
  unstarted:
    'an event went back from Started to Scheduled, which Azure says never happens: it counts as Scheduled again',
  returned: 'an event came back after its end, which Azure says never happens: it counts as a new occurrence',
};
const STEP_BACK_ADVICE =
  'if this happens again, check what answers at metadata.endpoint, such as a proxy or two alternating hosts';

export interface RunningFlowParts {
  readonly config: Config;
  readonly outbox: Outbox;
  readonly identity: Identity;
  readonly metadata: MetadataSource;
  /** All polls; a new subscriber gets the last one first. */
  readonly polls$: Observable<PollResult>;
  readonly firstRequestAt: Instant;
  /** Returns whether a store that was set aside had an approval of this event, by its key. */
  readonly wasApproved: (key: string) => boolean;
  readonly deps: Deps;
  readonly logger: Logger;
  readonly onCommitted: CommitterParts['onCommitted'];
  readonly onApproval: (name: ApprovalEventName) => void;
  readonly onMessage: (source: string, result: MessageResult) => void;
}

/** The flow of one store, created when the store may be compared. Does nothing before `start`. */
export class RunningFlow implements AsyncDisposable {
  readonly store: Committer;
  readonly approvals: Approvals;
  readonly drills: Drills;
  readonly sources: Sources;
  readonly #parts: RunningFlowParts;
  readonly #publishing: Publishing;
  #config: Config;
  #routes: Routes;
  #subscription: Subscription | null = null;

  constructor(parts: RunningFlowParts) {
    const { config, deps, logger, outbox, identity, metadata, onCommitted } = parts;
    this.#parts = parts;
    this.#config = config;
    this.#routes = this.#routesOf(config);
    const store = new Committer({ outbox, logger: logger.child({ area: 'store' }), onCommitted });
    this.#publishing = {
      speaker: () => ({
        source: identity.source ?? '',
        typePrefix: this.#config.cloudevents.typePrefix,
        observer: identity.observer,
      }),
      known: () => store.state.events,
      routes: () => this.#routes,
      outbox,
      clock: deps,
    };
    this.store = store;
    this.approvals = new Approvals({
      ...config.approvals,
      holdingSinks: holdingSinks(config),
      isShared: (source) => isShared(source, this.#config),
      store: approvalStore(store, this.#publishing),
      ports: {
        events: () => store.state.events,
        lastReadAt: () => readHere(store.state.lastGoodAt),
        lastGoodAt: () => store.state.lastGoodAt,
        isBehind: () => store.isBehind,
        isBlind: () => store.blindness !== null,
        read: (signal) => metadata.read(signal),
        room: (reads) => metadata.rate.room(reads),
        post: (eventIds, signal) => metadata.post(eventIds, signal),
        wasSent: (sink, occurrence) => outbox.sinks.wasSent(sink, occurrence),
        actsOn: (sink, event) => actsOn(this.#config, sink, event, identity.observer.name),
        isAuthorized: (origin, event) => isAuthorized(this.#config, origin, event, identity.observer.name),
        drillApproved: (key) => this.drills.approved(key),
        ownName: () => identity.observer.name,
        observerId: () => identity.observer.id,
      },
      deps,
      logger: logger.child({ area: 'approvals' }),
      onEvent: parts.onApproval,
      onMessage: parts.onMessage,
    });
    this.drills = new Drills({
      ...{ store, outbox, deps, ownName: () => identity.observer.name },
      publish: (changes, transaction) => commitEvents(changes, transaction, this.#publishing, this.approvals),
      approval: (key, occurrence) => ({
        missing: this.approvals.missing(key),
        isSubmitted: this.approvals.approvalOf(key, occurrence)?.state === 'submitted',
      }),
      logger: logger.child({ area: 'drills' }),
    });
    this.sources = new Sources({
      config,
      approvals: this.approvals,
      deps,
      logger: logger.child({ area: 'approvals' }),
    });
  }

  /** Resumes open work, then handles the last poll and all later ones. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    const { metadata, polls$, firstRequestAt, wasApproved, deps, identity, logger } = this.#parts;
    this.#warn();
    this.approvals.start();
    const flow$ = pipeline({
      ...this.#publishing,
      ...{ polls$, metadata, firstRequestAt, wasApproved, store: this.store, approvals: this.approvals },
      settleMs: () => this.#config.metadata.settleMs,
      isOurs: () => identity.isIdentified,
      onStepBack: (step, { id, event: { eventId } }) =>
        logger.warn({ area: 'changes', eventId, id }, `${STEPS_BACK[step]}; ${STEP_BACK_ADVICE}`),
    });
    this.#subscription = flow$
      .pipe(
        tap({
          error: (error: unknown) =>
            logger.fatal(
              { err: error },
              'a bug in the bridge prevented the handling of a poll: the bridge retries in a second',
            ),
        }),
        retry({ delay: () => timer(RETRY_MS, deps.scheduler) }),
      )
      .subscribe();
  }

  /**
   * Called when the store belongs to this VM: resumes its drills, and receives approvals from brokers. A consumer group
   * may contain the VM's name: under the wrong name, this bridge would take messages of another VM.
   * @throws BridgeError BRIDGE_STORE_*
   */
  confirm(): void {
    this.drills.start();
    this.sources.start(this.#parts.identity.observer.id);
  }

  /**
   * Applies a new configuration of approvals, routes and polls. If the store fails, the previous one stays in force.
   * @throws BridgeError BRIDGE_STORE_*
   */
  reload(config: Config): void {
    const before = { config: this.#config, routes: this.#routes };
    this.#config = config;
    this.#routes = this.#routesOf(config);
    try {
      this.approvals.reload({ ...config.approvals, holdingSinks: holdingSinks(config) });
    } catch (error) {
      this.#config = before.config;
      this.#routes = before.routes;
      throw error;
    }
    this.#warn();
  }

  /** This VM's name, or null while unknown. */
  get ownName(): string | null {
    return this.#parts.identity.observer.name;
  }

  /** Whether the bridge has seen all current events, and this process has read the last document. */
  get isInView(): boolean {
    const { state, blindness } = this.store;
    const { epoch, emptyRow, lastGoodAt } = state;
    if (epoch === null || emptyRow !== null || blindness !== null || readHere(lastGoodAt) === null) return false;
    if (!this.#parts.identity.isIdentified) return false;
    const [at, { settleMs }] = [now(this.#parts.deps), this.#config.metadata];
    return hasSettled(epoch, at, settleMs) || hasOutlasted(epoch.rowStartedAt, epoch, at, settleMs);
  }

  /** Takes no more messages and handles no more polls. A running StartRequest may end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.sources[Symbol.asyncDispose]();
    this.#subscription?.unsubscribe();
    this.drills[Symbol.dispose]();
    await Promise.all([closed, this.approvals[Symbol.asyncDispose]()]);
  }

  #routesOf(config: Config): Routes {
    const holding = holdingSinks(config);
    const holds = (sink: string, event: ScheduledEvent) =>
      holding.has(sink) && actsOn(config, sink, event, this.#parts.identity.observer.name) === true;
    return { ...compileRoutes(config.sinks, config.publish.resources), holds };
  }

  #warn(): void {
    const { identity, logger } = this.#parts;
    const config = this.#config;
    if (config.publish.resources === 'own' && identity.observer.name === null)
      logger.warn(
        "publish.resources is own, but the VM's own name is unknown: the events of its siblings are published too until it is known",
      );
    if (config.approvals.group.submit === 'leader' && identity.observer.name === null)
      logger.warn(
        "approvals.group.submit is leader, but the VM's own name is unknown: this bridge posts nothing that the group decides until it is known",
      );
    if (config.approvals.dryRun)
      logger.warn(
        'approvals.dryRun is true: decisions are recorded and published, but the bridge posts no StartRequest',
      );
  }
}

/** Adapts the committer and the outbox for approvals, which publish their changes as CloudEvents. */
export function approvalStore(store: Committer, publishing: Publishing): ApprovalStore {
  const { approvals, messages, rests, journal, known, holdOfAll } = publishing.outbox;
  return {
    ...{ approvals, messages, rests, journal, known, holdOfAll },
    commit: (work) => store.commit((transaction) => work(forApprovals(transaction, publishing))),
  };
}

/** Ignores times of an earlier process in the store, because its documents do not allow posting. */
function readHere(at: Instant | null): Instant | null {
  return at?.elapsedMs === null ? null : at;
}
