// Approvers' requests and the changes of events → who approved what, StartRequests once the quorum is full, and answers to the approvers.
import type { ApprovalMessage, MessageVerdict } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import type { EventApproval, EventChange, ReceivedMessage } from '../model.ts';
import { type ApprovalAnswer, type ApprovalResult, answerOf, type Refusal, refusal } from './answer.ts';
import type { ApprovalTransaction } from './approval-store.ts';
import { type Checked, check } from './check.ts';
import { Intake, type MessageOrigin, type MessageResult } from './intake.ts';
import { Ledger, type LedgerParts } from './ledger.ts';
import type { Required, Rules } from './quorum.ts';
import { resultOf, type Summary, summaryOf } from './result.ts';
import { compileScope, type ScopeOptions } from './scope.ts';
import { parseStartRequests, type StartRequest } from './start-requests.ts';
import { Submissions } from './submissions.ts';

/** How long an answer waits for the metadata service. */
const ANSWER_MS = 2000;

export interface ApprovalsParts extends LedgerParts {
  /** By name, in the order of the configuration. */
  readonly approvers: Readonly<Record<string, { readonly scope?: ScopeOptions }>>;
  readonly required: Required;
  /** Everything but the StartRequest and approval.submitted. */
  readonly dryRun: boolean;
  /** What became of each message of a source, for metrics. */
  readonly onMessage?: (source: string, result: MessageResult) => void;
}

/**
 * Everything is on disk before it is told or posted.
 * Call `start` once the stored state may be compared, before the first document is handled.
 */
export class Approvals implements AsyncDisposable {
  readonly #parts: ApprovalsParts;
  readonly #rules: Rules;
  readonly #ledger: Ledger;
  readonly #submissions: Submissions;
  readonly #intake: Intake;
  readonly #ready = Promise.withResolvers<void>();
  #isClosed = false;

  /** Does nothing yet. */
  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
    const scopes = new Map(Object.entries(parts.approvers).map(([name, { scope }]) => [name, compileScope(scope ?? {})]));
    this.#rules = { required: parts.required, scopes, dryRun: parts.dryRun };
    this.#ledger = new Ledger(this.#rules, parts, (approval) => this.#submissions.start(approval));
    this.#submissions = new Submissions({
      ports: parts.ports,
      deps: parts.deps,
      logger: parts.logger,
      approvalOf: (key, occurrence) => this.#ledger.approvalOf(key, occurrence),
      conclude: (posted, verdict) => this.#ledger.conclude(posted, verdict),
    });
    this.#intake = new Intake({
      ...parts,
      check: (approver, requests, sentMs) => this.#check(approver, requests, sentMs),
      record: (approver, checked, also) => this.#ledger.record(approver, checked, also),
      denied: (approver, refused, from) => this.#denied(approver, refused, from),
      onMessage: (source, result) => parts.onMessage?.(source, result),
    });
  }

  /** Takes up what was open when the last process ended, and posts what was decided. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    // The ledger begins to post, so what may fail comes before it.
    this.#intake.load();
    this.#ledger.load();
  }

  /**
   * An approver's request; `body` is the JSON value of `POST /v1/approvals`. All of it is recorded or, where one id is refused, nothing.
   * Answers when the metadata service has, at the first failed attempt, or after 2 s.
   * @throws BridgeError BRIDGE_STORE_* when nothing can be stored, BRIDGE_APPROVALS_CLOSED when the bridge is stopping
   */
  async request(approver: string, body: unknown): Promise<ApprovalAnswer> {
    if (this.#isClosed)
      throw new BridgeError('BRIDGE_APPROVALS_CLOSED', 'The bridge is stopping and takes no approvals; ask again after its start.');
    const requests = parseStartRequests(body);
    if (typeof requests === 'string') return this.#denied(approver, refusal('bad-request', requests));
    const checked = this.#check(approver, requests, null);
    if ('kind' in checked) return this.#denied(approver, checked);
    this.#ledger.record(approver, checked);
    await this.#submissions.attempted(
      requests.map(({ key }) => key),
      ANSWER_MS,
    );
    const results: ApprovalResult[] = [];
    for (const found of checked) {
      const result = resultOf(this.#rules, approver, found, this.#ledger.approvalOf(found.known.key, found.known.occurrence));
      if ('kind' in result) return this.#denied(approver, result);
      results.push(result);
    }
    return answerOf(results);
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

  /** A good document has been handled: messages whose event was not known are tried again. */
  documentHandled(): void {
    if (this.#parts.ports.lastReadAt() === null) return;
    this.#ready.resolve();
    this.#intake.lookAgain();
  }

  /**
   * The changes of one document, inside the transaction that stores them: publishes what they do to approvals through `transaction`.
   * Changes nothing in memory: call the returned function once the transaction is on disk and `ports.events()` gives the new state,
   * and drop it where the transaction failed.
   */
  observe(transaction: ApprovalTransaction, changes: readonly EventChange[]): () => void {
    const commits = changes.flatMap(({ key, occurrence, event, phase, at }) => {
      const approval = this.#ledger.approvalOf(key, occurrence);
      if (approval === null) return [];
      const review = this.#ledger.review([{ approval, event, isOver: phase === 'ended' }], at);
      review.write(transaction);
      return [review.commit];
    });
    return () => {
      for (const commit of commits) commit();
    };
  }

  /** The approvals of an occurrence that has not ended; null where nobody approved, or no vote stands. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#ledger.approvalOf(key, occurrence);
    return approval !== null && approval.votes.length > 0 ? approval : null;
  }

  /** For `GET /v1/events`, by EventId in lower case; null where nobody approved, or no vote stands. */
  summary(key: string): Summary | null {
    const known = this.#parts.ports.events().get(key);
    const approval = known && this.approvalOf(key, known.occurrence);
    return approval ? summaryOf(this.#rules, approval, known.event) : null;
  }

  /** Takes no more requests and messages; a POST under way may end (5 s at most), everything else goes on after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#intake[Symbol.dispose]();
    await this.#submissions[Symbol.asyncDispose]();
  }

  #check(approver: string, requests: readonly StartRequest[], sentMs: number | null): readonly Checked[] | Refusal {
    const { store, ports } = this.#parts;
    const approvalOf = (key: string, occurrence: number) => this.approvalOf(key, occurrence);
    return check(approver, requests, { rules: this.#rules, store, events: ports.events(), approvalOf, sentMs });
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
