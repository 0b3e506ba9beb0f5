// Requests, policy and changes of events → recorded approvals, StartRequests and answers.
import type { ApprovalMessage, MessageVerdict } from '../../adapters/adapter.ts';
import { BridgeError, messageOf } from '../errors.ts';
import type { ApprovalOrigin, EventApproval, ReceivedMessage, RecordRange } from '../model/approvals.ts';
import type { EventChange } from '../model/events.ts';
import { Inbox, type MessageOrigin, type MessageResult } from './inbox/inbox.ts';
import { Ledger, type LedgerParts } from './record/ledger.ts';
import {
  type ApprovalAnswer,
  type ApprovalResult,
  answerOf,
  type HoldAnswer,
  type Refusal,
  type ReleaseAnswer,
  refusal,
} from './requests/answer.ts';
import { parseHold } from './requests/hold-requests.ts';
import { Judge, votesOf } from './requests/judge.ts';
import { tooLong } from './requests/lengths.ts';
import { keyOf, parseStartRequests } from './requests/start-requests.ts';
import type { GroupOptions, PolicyOptions, Required, ScopeOptions } from './rules/options.ts';
import { compilePolicy } from './rules/policy.ts';
import { isProtected } from './rules/protection.ts';
import type { Rules } from './rules/quorum.ts';
import { compileScope } from './rules/scope.ts';
import type { ApprovalTransaction } from './store.ts';
import { BridgeTurn } from './submit/bridge-turn.ts';
import { Deadlines } from './submit/deadlines.ts';
import { Submitter } from './submit/submitter.ts';
import type { EventRecord } from './views/event-record.ts';
import { FIRST_PART, type Overview, Queries } from './views/queries.ts';
import { heldAnswer, resultOf, type Summary } from './views/result.ts';

/** How long an answer waits for the metadata service. */
const ANSWER_MS = 2000;

export interface ApproverOptions {
  readonly scope?: ScopeOptions;
  /** May release the holds of others, too. */
  readonly admin?: boolean;
}

export interface ApprovalsParts extends LedgerParts {
  /** By name, in the order of the configuration. */
  readonly approvers: Readonly<Record<string, ApproverOptions>>;
  readonly required: Required;
  readonly policy: PolicyOptions | null;
  readonly group: GroupOptions;
  /** Everything but the StartRequest and approval.submitted. */
  readonly dryRun: boolean;
  /** Whether each bridge of the group reads the messages of this source. */
  readonly isShared: (source: string) => boolean;
  /** What became of each message of a source, for metrics. */
  readonly onMessage?: (source: string, result: MessageResult) => void;
}

/**
 * Everything is on disk before it is published or posted.
 * Call `start` once the stored state may be compared, before the first document is handled.
 */
export class Approvals implements AsyncDisposable {
  readonly #parts: ApprovalsParts;
  readonly #rules: Rules;
  readonly #ledger: Ledger;
  readonly #judge: Judge;
  readonly #deadlines: Deadlines;
  readonly #submissions: Submitter;
  readonly #intake: Inbox;
  readonly #views: Queries;
  readonly #turn: BridgeTurn;
  readonly #ready = Promise.withResolvers<void>();
  #isClosed = false;

  /** Does nothing yet. */
  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
    const scopes = new Map(Object.entries(parts.approvers).map(([name, { scope }]) => [name, compileScope(scope ?? {})]));
    this.#rules = { policy: compilePolicy(parts.policy, parts.required), scopes, dryRun: parts.dryRun };
    this.#turn = new BridgeTurn(parts);
    this.#ledger = new Ledger(this.#rules, parts, {
      onDecided: (approval) => this.#submissions.start(approval),
      onDeadline: (key, dueMs) => this.#deadlines.set(key, dueMs),
      isOnItsWay: (approval) => this.#submissions.isOnItsWay(approval),
      mayHavePosted: (approval) => this.#turn.mayHaveCome(approval),
    });
    this.#judge = new Judge({ ...parts, rules: this.#rules, ledger: this.#ledger });
    this.#deadlines = new Deadlines(parts.deps, (key) => this.#fallDue(key));
    const turnMs = (approval: EventApproval) => this.#turn.ms(approval);
    this.#submissions = new Submitter({
      ports: parts.ports,
      deps: parts.deps,
      logger: parts.logger,
      approvalOf: (key, occurrence) => this.#ledger.approvalOf(key, occurrence),
      turnMs,
      answered: (posted, status, mayHaveArrived) => this.#ledger.answered(posted, status, mayHaveArrived),
      conclude: (posted, verdict, status) => this.#ledger.conclude(posted, verdict, status),
      isProtected: (approval) => isProtected(approval, parts.approvers),
    });
    this.#intake = new Inbox({
      ...parts,
      check: ({ approver }, requests, sentMs) => this.#judge.message(approver, requests, sentMs),
      record: (origin, acts, also) => this.#ledger.act(origin, acts, also),
      denied: (approver, refused, from) => this.#denied(approver, refused, from),
      onMessage: (source, result) => parts.onMessage?.(source, result),
    });
    this.#views = new Queries({ ...parts, rules: this.#rules, ledger: this.#ledger, turnMs });
  }

  /** Resumes what was open when the last process ended, applies the rules again, and posts what is decided. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    this.#turn.begin();
    // The ledger begins to post, so what may fail comes before it.
    this.#intake.load();
    this.#ledger.load();
  }

  /**
   * An approver's request; `body` is the JSON value of `POST /v1/approvals`. All of it is recorded or, where one id is refused, nothing.
   * Answers when the metadata service has, at the first failed attempt, or after 2 s.
   * @throws BridgeError BRIDGE_STORE_* when nothing can be stored, BRIDGE_APPROVALS_CLOSED when the bridge is stopping
   */
  async request(origin: ApprovalOrigin, body: unknown): Promise<ApprovalAnswer> {
    this.#requireOpen();
    const { approver } = origin;
    const requests = parseStartRequests(body);
    if (typeof requests === 'string') return this.#denied(approver, refusal('bad-request', requests));
    const checked = this.#judge.votes(approver, requests);
    if ('kind' in checked) return this.#denied(approver, checked);
    this.#ledger.act(origin, votesOf(checked));
    await this.#submissions.attempted(
      requests.map(({ key }) => key),
      ANSWER_MS,
    );
    const results: ApprovalResult[] = [];
    for (const found of checked) {
      const { known } = found;
      const approval = this.#ledger.approvalOf(known.key, known.occurrence) ?? this.#parts.store.approvals.of(known.occurrence);
      const result = resultOf(this.#rules, approver, found, approval, this.#ledger.matterOf(known));
      if ('kind' in result) return this.#denied(approver, result);
      results.push(result);
    }
    return answerOf(results);
  }

  /** An approver's hold; `body` is the JSON value of `POST /v1/holds`. @throws as `request` */
  hold(origin: ApprovalOrigin, body: unknown): HoldAnswer {
    this.#requireOpen();
    const request = parseHold(body);
    if (typeof request === 'string') return this.#denied(origin.approver, refusal('bad-request', `The body${request}`));
    const act = this.#judge.hold(origin.approver, request);
    if (act.kind === 'refusal') return this.#denied(origin.approver, act);
    this.#ledger.act(origin, [act]);
    return heldAnswer(act.known, this.#ledger.approvalOf(act.known.key, act.known.occurrence));
  }

  /**
   * Takes a hold away: the one of `holder`; null: the approver's own or, for an admin without one, all of the event. None that was set after
   * `beforeMs`, in milliseconds since 1970. @throws as `request`
   */
  release(origin: ApprovalOrigin, eventId: string, holder: string | null, beforeMs: number | null = null): ReleaseAnswer {
    this.#requireOpen();
    const fault = tooLong(eventId) ?? tooLong(holder ?? '', '?approver=');
    if (fault !== null) return this.#denied(origin.approver, fault);
    const act = this.#judge.release(origin.approver, { eventId, key: keyOf(eventId), holder, beforeMs });
    if (act.kind === 'refusal') return this.#denied(origin.approver, act);
    this.#ledger.act(origin, [act]);
    return { kind: 'released' };
  }

  /** All that became of the approvals of an event, also of one that has ended; of its record this part. @throws BridgeError BRIDGE_STORE_* */
  life(eventId: string, range: RecordRange = FIRST_PART): EventRecord | Refusal {
    return tooLong(eventId) ?? this.#views.life(eventId, range);
  }

  /**
   * One message of a source. All of it is recorded or, where one id is refused, nothing; it does not wait for the metadata service.
   * @throws BridgeError as `request`: the message is then to come again
   */
  take(origin: MessageOrigin, message: ApprovalMessage): Promise<MessageVerdict> {
    return this.#intake.take(origin, message);
  }

  /** Resolves once a document that this process read has been handled. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** A good document has been handled: parked messages are tried again, and so is what waits for its turn. */
  documentHandled(): void {
    if (this.#parts.ports.lastReadAt() === null) return;
    this.#ready.resolve();
    this.#intake.lookAgain();
    this.#deadlines.lookAgain();
    this.#ledger.remind();
  }

  /**
   * The changes of one document, inside the transaction that stores them: what rules decide, and what the changes do to approvals, goes out
   * through `transaction`. Changes nothing in memory: call the returned function once the transaction is on disk and `ports.events()` gives
   * the new state, and drop it where the transaction failed.
   */
  observe(transaction: ApprovalTransaction, changes: readonly EventChange[]): () => void {
    const pending = this.#ledger.observe(changes);
    pending.write(transaction);
    return pending.apply;
  }

  /** The approvals of an occurrence that has not ended; null where no approver and no rule has approved. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#ledger.approvalOf(key, occurrence);
    return approval !== null && (approval.votes.length > 0 || approval.decision !== null) ? approval : null;
  }

  /** For `GET /v1/events`, by EventId in lower case; null where there is nothing to tell. */
  summary(key: string): Summary | null {
    return this.#views.summary(key);
  }

  /** For metrics. */
  overview(): Overview {
    return this.#views.overview();
  }

  /** Takes no more requests and messages; a POST under way may end (5 s at most), everything else goes on after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#intake[Symbol.dispose]();
    this.#deadlines[Symbol.dispose]();
    await this.#submissions[Symbol.asyncDispose]();
  }

  #requireOpen(): void {
    if (this.#isClosed)
      throw new BridgeError('BRIDGE_APPROVALS_CLOSED', 'The bridge is stopping and takes no approvals; ask again after its start.');
  }

  #fallDue(key: string): void {
    try {
      this.#ledger.fallDue(key);
    } catch (error) {
      // Whoever keeps the store tells its faults; the next document tries again.
      this.#parts.logger.error(
        { eventId: key, reason: messageOf(error) },
        'a deadline fell due and could not be stored; it is tried again',
      );
    }
  }

  #denied(approver: string, refused: Refusal, from?: Pick<ReceivedMessage, 'source' | 'place'>): Refusal {
    this.#parts.onEvent?.('denied');
    const { eventId, type } = refused;
    this.#parts.logger.info(
      { approver, eventId, type, ...(from && { source: from.source, place: from.place }) },
      'an approval was refused',
    );
    return refused;
  }
}
