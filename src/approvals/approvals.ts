// Requests, policy and changes of events → recorded approvals, StartRequests and answers.
import type { ApprovalMessage, MessageVerdict } from '../../adapters/approval-source.ts';
import type { EventApproval, HoldOfAll } from '../model/approvals.ts';
import type { EventChange } from '../model/events.ts';
import { ApproverRequests } from './approver-requests.ts';
import { Inbox, type MessageOrigin } from './inbox/inbox.ts';
import { SinkOutcomes } from './record/sink-outcomes.ts';
import type { Refusal } from './requests/answer.ts';
import { authorizeVotes, type CheckContext } from './requests/check.ts';
import { authorizeMessage } from './requests/check-hold.ts';
import type { RulesOptions } from './rules/rules-in-force.ts';
import { type ApprovalsParts, connectStages, type Stages } from './stages.ts';
import type { ApprovalTransaction } from './store.ts';
import type { Queries } from './views/queries.ts';

/**
 * Stores every change on disk before it publishes or posts anything.
 * Call `start` when the stored state is ready, before the first document is handled.
 */
export class Approvals implements AsyncDisposable {
  readonly #parts: ApprovalsParts;
  readonly #stages: Stages;
  /** These are of `ApproverRequests`. */
  readonly request: ApproverRequests['request'];
  readonly answered: ApproverRequests['answered'];
  readonly hold: ApproverRequests['hold'];
  readonly release: ApproverRequests['release'];
  readonly holdAll: ApproverRequests['holdAll'];
  readonly releaseAll: ApproverRequests['releaseAll'];
  /** These are of `Queries`. */
  readonly life: Queries['life'];
  readonly missing: Queries['missing'];
  readonly summary: Queries['summary'];
  readonly nextStep: Queries['nextStep'];
  readonly overview: Queries['overview'];
  readonly #inbox: Inbox;
  readonly #sinkOutcomes: SinkOutcomes;
  readonly #ready = Promise.withResolvers<void>();
  #isClosed = false;

  /** Only connects the parts; `start` begins the work. */
  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
    this.#stages = connectStages(parts);
    const requests = new ApproverRequests({
      ...{ ...parts, stages: this.#stages, isClosed: () => this.#isClosed },
      context: () => this.#context(),
      denied: (approver, refused) => this.#denied(approver, refused),
    });
    this.#inbox = new Inbox({
      ...parts,
      check: ({ approver }, requests, sentMs) => authorizeMessage(approver, requests, this.#context(sentMs)),
      record: (authorization, commands, also) => this.#stages.commands.record(authorization, commands, also),
      denied: (approver, refused, { source, place }) => this.#denied(approver, refused, { source, place }),
      onMessage: (source, result) => parts.onMessage?.(source, result),
      answerTo: (keys) => requests.answerTo(keys),
    });
    this.#sinkOutcomes = new SinkOutcomes({
      ...parts,
      commands: this.#stages.commands,
      check: (approver, request) => authorizeVotes(approver, [request], this.#context()),
      denied: (approver, refused, sink) => this.#denied(approver, refused, { sink }),
    });
    const { views } = this.#stages;
    this.request = (...asked) => requests.request(...asked);
    this.answered = (...asked) => requests.answered(...asked);
    this.hold = (...asked) => requests.hold(...asked);
    this.release = (...asked) => requests.release(...asked);
    this.holdAll = (...asked) => requests.holdAll(...asked);
    this.releaseAll = (...asked) => requests.releaseAll(...asked);
    this.life = (...asked) => views.life(...asked);
    this.missing = (...asked) => views.missing(...asked);
    this.summary = (...asked) => views.summary(...asked);
    this.nextStep = (...asked) => views.nextStep(...asked);
    this.overview = () => views.overview();
  }

  /**
   * Resumes the open approvals of the previous process, applies the current rules, and posts what is decided.
   * @throws BridgeError BRIDGE_STORE_*
   */
  start(): void {
    this.#stages.turn.begin();
    // The reviews start posting, so the steps that can fail come first.
    this.#inbox.load();
    this.#stages.allotments.load();
    this.#stages.holdOfAll.load();
    this.#stages.reviews.load();
  }

  /**
   * Replaces the rules. Votes that the new rules do not allow become void, and policy decisions that are not yet
   * submitted are made again. If that cannot be stored, the old rules stay in force.
   * @throws BridgeError BRIDGE_STORE_*
   */
  reload(options: RulesOptions): void {
    const undo = this.#stages.rules.replace(options);
    try {
      this.#stages.reviews.again();
    } catch (error) {
      undo();
      throw error;
    }
  }

  /**
   * Records a message of a source, or nothing of it if one id is refused. Does not wait for the metadata service.
   * @throws BridgeError as `request`; the source must then deliver the message again
   */
  take(origin: MessageOrigin, message: ApprovalMessage): Promise<MessageVerdict> {
    return this.#inbox.take(origin, message);
  }

  /**
   * Stores the outcomes of deliveries to a sink and any approvals they imply (behaviour 10.5) in one transaction, even
   * while the bridge is stopping.
   * @throws BridgeError BRIDGE_STORE_*; nothing is stored then
   */
  settle(...outcomes: Parameters<SinkOutcomes['settle']>): void {
    this.#sinkOutcomes.settle(...outcomes);
  }

  /** Resolves when the first document that this process read has been handled. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * To be called after each good document: retries parked messages, deadlines, refused decisions and waiting
   * StartRequests.
   */
  documentHandled(): void {
    if (this.#parts.ports.lastReadAt() === null) return;
    this.#ready.resolve();
    this.#inbox.lookAgain();
    this.#stages.refusals.lookAgain();
    // Handles due deadlines first.
    this.#stages.allotments.tryAll();
    this.#stages.ledger.remind();
  }

  /**
   * Applies the changes of one document to the approvals and writes the result to `transaction`, which also stores the
   * changes.
   * @param preparing the sinks that hold the event from this change on
   * @returns applies the result in memory: call it once the transaction is on disk and `ports.events()` returns the new
   * state; drop it if the transaction failed
   */
  observe(
    transaction: ApprovalTransaction,
    changes: readonly EventChange[],
    preparing: (change: EventChange) => readonly string[] = () => [],
  ): () => void {
    const pending = this.#stages.reviews.observe(changes, preparing);
    pending.write(transaction);
    return pending.apply;
  }

  /** The hold of everything, or null if none stands. */
  get holdOfAll(): HoldOfAll | null {
    return this.#stages.ledger.holdOfAll;
  }

  /** Returns the approvals of an occurrence that has not ended, or null if no approver and no rule has approved it. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#stages.ledger.approvalOf(key, occurrence);
    return approval !== null && (approval.votes.length > 0 || approval.decision?.by != null) ? approval : null;
  }

  /**
   * Accepts no more requests and messages. Waits up to 5 s for a POST in flight; everything else resumes after the next
   * start.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#inbox[Symbol.dispose]();
    this.#stages.deadlines[Symbol.dispose]();
    this.#stages.allotments[Symbol.dispose]();
    this.#stages.refusals[Symbol.dispose]();
    await this.#stages.submissions[Symbol.asyncDispose]();
  }

  /** `sentMs`: when a message was sent, in milliseconds since 1970; null for a request that is made now. */
  #context(sentMs: number | null = null): CheckContext {
    const { store, ports } = this.#parts;
    const { rules } = this.#stages;
    return {
      ...{ rules, store, events: ports.events(), sentMs },
      approvalOf: (key, occurrence) => this.#stages.ledger.approvalOf(key, occurrence),
      governedEventOf: (known) => this.#stages.ledger.governedEventOf(known),
      mayBeAccepted: (known) => this.#stages.ledger.doubts.mayBeAccepted(known),
      isAdmin: (approver) => rules.approvers[approver]?.admin === true,
    };
  }

  /** `from`: fields for the log that name the source or sink. */
  #denied(approver: string, refused: Refusal, from: object = {}): Refusal {
    this.#parts.onEvent?.('denied');
    const { eventId, type } = refused;
    this.#parts.logger.info({ approver, eventId, type, ...from }, 'an approval was refused');
    return refused;
  }
}
