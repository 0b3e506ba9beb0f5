// Requests, policy and changes of events → recorded approvals, StartRequests and answers.
import type { ApprovalMessage, MessageVerdict } from '../../adapters/approval-source.ts';
import type { ApprovalOrigin, EventApproval, RecordRange } from '../model/approvals.ts';
import type { EventChange } from '../model/events.ts';
import { ApproverRequests } from './approver-requests.ts';
import { Inbox, type MessageOrigin } from './inbox/inbox.ts';
import { SinkOutcomes } from './record/sink-outcomes.ts';
import type { ApprovalAnswer, HoldAnswer, Refusal, ReleaseAnswer } from './requests/answer.ts';
import { authorizeMessage } from './requests/authorize-message.ts';
import { authorizeVotes, type CheckContext } from './requests/check.ts';
import { tooLong } from './requests/lengths.ts';
import { keyOf } from './requests/start-requests.ts';
import type { RulesOptions } from './rules/rules-in-force.ts';
import { type ApprovalsParts, connectStages, type Stages } from './stages.ts';
import type { ApprovalTransaction } from './store.ts';
import type { EventRecord } from './views/event-record.ts';
import { FIRST_PART, type Overview } from './views/queries.ts';
import type { Summary } from './views/result.ts';

/**
 * Everything is on disk before it is published or posted.
 * Call `start` once the stored state may be compared, before the first document is handled.
 */
export class Approvals implements AsyncDisposable {
  readonly #parts: ApprovalsParts;
  readonly #stages: Stages;
  readonly #requests: ApproverRequests;
  readonly #intake: Inbox;
  readonly #sinkOutcomes: SinkOutcomes;
  readonly #ready = Promise.withResolvers<void>();
  #isClosed = false;

  /** Does nothing yet. */
  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
    this.#stages = connectStages(parts);
    this.#requests = new ApproverRequests({
      ...{ ...parts, stages: this.#stages, isClosed: () => this.#isClosed },
      context: () => this.#context(),
      denied: (approver, refused) => this.#denied(approver, refused),
    });
    this.#intake = new Inbox({
      ...parts,
      check: ({ approver }, requests, sentMs) => authorizeMessage(approver, requests, this.#context(sentMs)),
      record: (authorization, acts, also) => this.#stages.commands.record(authorization, acts, also),
      denied: (approver, refused, { source, place }) => this.#denied(approver, refused, { source, place }),
      onMessage: (source, result) => parts.onMessage?.(source, result),
      answerTo: (keys) => this.#requests.answerTo(keys),
    });
    this.#sinkOutcomes = new SinkOutcomes({
      ...parts,
      commands: this.#stages.commands,
      check: (approver, request) => authorizeVotes(approver, [request], this.#context()),
      denied: (approver, refused, sink) => this.#denied(approver, refused, { sink }),
    });
  }

  /** Resumes what was open when the last process ended, applies the rules again, and posts what is decided. @throws BridgeError BRIDGE_STORE_* */
  start(): void {
    this.#stages.turn.begin();
    // The reviews begin to post, so what may fail comes before them.
    this.#intake.load();
    this.#stages.reviews.load();
  }

  /**
   * From now on these rules: votes that they no longer allow become void, and a policy's decision that is not yet submitted is made anew. Where
   * that cannot be stored, the rules before go on. @throws BridgeError BRIDGE_STORE_*
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
   * An approver's request; `body` is the JSON value of `POST /v1/approvals`. All of it is recorded or, where one id is refused, nothing.
   * Answers when the metadata service has, at the first failed attempt, or after 2 s.
   * @throws BridgeError BRIDGE_STORE_* when nothing can be stored, BRIDGE_APPROVALS_CLOSED when the bridge is stopping
   */
  request(origin: ApprovalOrigin, body: unknown): Promise<ApprovalAnswer> {
    return this.#requests.request(origin, body);
  }

  /** Resolves when no StartRequest for this event is on its way, after 2 s at the latest. To be waited for before `hold` and `release`. */
  async answered(eventId: string): Promise<void> {
    await this.#requests.answerTo([keyOf(eventId)]);
  }

  /** An approver's hold; `body` is the JSON value of `POST /v1/holds`. @throws as `request` */
  hold(origin: ApprovalOrigin, body: unknown): HoldAnswer {
    return this.#requests.hold(origin, body);
  }

  /**
   * Takes a hold away: the one of `holder`; null: the approver's own or, for an admin without one, all of the event. None that was set after
   * `beforeMs`, in milliseconds since 1970. @throws as `request`
   */
  release(origin: ApprovalOrigin, eventId: string, holder: string | null, beforeMs: number | null = null): ReleaseAnswer {
    return this.#requests.release(origin, eventId, holder, beforeMs);
  }

  /** All that became of the approvals of an event, also of one that has ended; of its record this part. @throws BridgeError BRIDGE_STORE_* */
  life(eventId: string, range: RecordRange = FIRST_PART): EventRecord | Refusal {
    return tooLong(eventId) ?? this.#stages.views.life(eventId, range);
  }

  /**
   * One message of a source. All of it is recorded or, where one id is refused, nothing; it does not wait for the metadata service.
   * @throws BridgeError as `request`: the message is then to come again
   */
  take(origin: MessageOrigin, message: ApprovalMessage): Promise<MessageVerdict> {
    return this.#intake.take(origin, message);
  }

  /**
   * What became of deliveries to a sink, with the yes of its approver where one is (behaviour 10.5), in one transaction; also while the bridge
   * is stopping. @throws BridgeError BRIDGE_STORE_*, and then nothing is stored
   */
  settle(...outcomes: Parameters<SinkOutcomes['settle']>): void {
    this.#sinkOutcomes.settle(...outcomes);
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
    this.#stages.deadlines.lookAgain();
    this.#stages.refusals.lookAgain();
    this.#stages.ledger.remind();
  }

  /**
   * The changes of one document, inside the transaction that stores them: what rules decide, and what the changes do to approvals, goes out
   * through `transaction`. Changes nothing in memory: call the returned function once the transaction is on disk and `ports.events()` gives
   * the new state, and drop it where the transaction failed. `preparing`: sinks that hold its event from this change on.
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

  /** The approvals of an occurrence that has not ended; null where no approver and no rule has approved. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#stages.ledger.approvalOf(key, occurrence);
    return approval !== null && (approval.votes.length > 0 || approval.decision?.by != null) ? approval : null;
  }

  /** Whose yes an event that is Scheduled lacks; nobody's where it is decided, is never approved, or needs nobody. */
  missing(key: string): readonly string[] {
    return this.#stages.views.missing(key);
  }

  /** For `GET /v1/events`, by EventId in lower case; null where there is nothing to tell. */
  summary(key: string): Summary | null {
    return this.#stages.views.summary(key);
  }

  /** For metrics. */
  overview(): Overview {
    return this.#stages.views.overview();
  }

  /** Takes no more requests and messages; a POST under way may end (5 s at most), everything else goes on after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#intake[Symbol.dispose]();
    this.#stages.deadlines[Symbol.dispose]();
    this.#stages.refusals[Symbol.dispose]();
    await this.#stages.submissions[Symbol.asyncDispose]();
  }

  /** `sentMs`: when a message was sent, in milliseconds since 1970; null for what is asked for now. */
  #context(sentMs: number | null = null): CheckContext {
    const { store, ports } = this.#parts;
    const { rules } = this.#stages;
    return {
      ...{ rules, store, events: ports.events(), sentMs },
      approvalOf: (key, occurrence) => this.#stages.ledger.approvalOf(key, occurrence),
      matterOf: (known) => this.#stages.ledger.matterOf(known),
      mayBeAccepted: (known) => this.#stages.ledger.doubts.mayBeAccepted(known),
      isAdmin: (approver) => rules.approvers[approver]?.admin === true,
    };
  }

  /** `from`: what the log tells of where it came from. */
  #denied(approver: string, refused: Refusal, from: object = {}): Refusal {
    this.#parts.onEvent?.('denied');
    const { eventId, type } = refused;
    this.#parts.logger.info({ approver, eventId, type, ...from }, 'an approval was refused');
    return refused;
  }
}
