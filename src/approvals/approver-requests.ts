// An approver's request, hold or release → a record and an answer, or a refusal.
import { BridgeError } from '../errors.ts';
import type { ApprovalOrigin } from '../model/approvals.ts';
import { within } from '../time/clock.ts';
import type { ApprovalPorts } from './ports.ts';
import {
  type AllHeldAnswer,
  type ApprovalAnswer,
  answerOf,
  type HoldAnswer,
  type Refusal,
  type ReleaseAnswer,
  type RequestResult,
  refusal,
} from './requests/answer.ts';
import type { ApprovalAuthorization } from './requests/approval-command.ts';

import { authorizeVotes, type CheckContext, votesOf } from './requests/check.ts';
import { allRefusal, allReleaseRefusal, authorizeHold, authorizeRelease } from './requests/check-hold.ts';
import { parseHold } from './requests/hold-requests.ts';
import { keyOf, parseStartRequests, tooLong } from './requests/start-requests.ts';
import type { ApprovalsParts, Stages } from './stages.ts';
import { allHeldAnswer, heldAnswer, resultOf } from './views/result.ts';

/** How long an answer waits for the metadata service. */
const ANSWER_MS = 2000;

interface ApproverRequestsParts extends Pick<ApprovalsParts, 'deps'> {
  readonly ports: Pick<ApprovalPorts, 'events'>;
  readonly store: Pick<ApprovalsParts['store'], 'approvals'>;
  readonly stages: Pick<Stages, 'rules' | 'commands' | 'holdOfAll' | 'ledger' | 'submissions'>;
  /** Returns the context to check a request that is made now. */
  readonly context: () => CheckContext;
  /** Logs and counts a refusal, and returns it. */
  readonly denied: (approver: string, refused: Refusal) => Refusal;
  readonly isClosed: () => boolean;
}

export class ApproverRequests {
  readonly #parts: ApproverRequestsParts;

  constructor(parts: ApproverRequestsParts) {
    this.#parts = parts;
  }

  /**
   * Records an approver's request, or nothing of it if one id is refused. Resolves when the metadata service has
   * answered, at the first failed attempt, or after 2 s.
   * @param body the JSON value of `POST /v1/approvals`
   * @throws BridgeError BRIDGE_STORE_* if nothing can be stored, BRIDGE_APPROVALS_CLOSED if the bridge is stopping
   */
  async request(origin: ApprovalOrigin, body: unknown): Promise<ApprovalAnswer> {
    this.#requireOpen();
    const { approver } = origin;
    const { stages, store, context, denied } = this.#parts;
    const requests = parseStartRequests(body);
    if (typeof requests === 'string') return denied(approver, refusal('bad-request', requests));
    const checked = authorizeVotes(approver, requests, context());
    if ('kind' in checked) return denied(approver, checked);
    const revoked = stages.commands.record(this.#authorization(origin), votesOf(checked));
    if (revoked !== null) return denied(approver, revoked);
    await stages.submissions.attempted(
      requests.map(({ key }) => key),
      ANSWER_MS,
    );
    const results: RequestResult[] = [];
    for (const found of checked) {
      const { known } = found;
      const approval = stages.ledger.approvalOf(known.key, known.occurrence) ?? store.approvals.of(known.occurrence);
      const result = resultOf(stages.rules, approver, found, approval, stages.ledger.governedEventOf(known));
      if ('kind' in result) return denied(approver, result);
      results.push(result);
    }
    return answerOf(results);
  }

  /**
   * Resolves when the StartRequests in flight for these events are answered, or after 2 s. Returns null if there are
   * none.
   */
  answerTo(keys: readonly string[]): Promise<void> | null {
    const { stages, ports, deps } = this.#parts;
    const events = ports.events();
    const answers = keys.flatMap((key) => {
      const known = events.get(key);
      return (known && stages.ledger.doubts.answerTo(known)) ?? [];
    });
    return answers.length === 0 ? null : within(deps, Promise.all(answers), ANSWER_MS);
  }

  /**
   * Resolves when no StartRequest for this event is in flight, or after 2 s. Wait for it before `hold` and `release`.
   */
  async answered(eventId: string): Promise<void> {
    await this.answerTo([keyOf(eventId)]);
  }

  /**
   * Records an approver's hold.
   * @param body the JSON value of `POST /v1/holds`
   * @throws as `request`
   */
  hold(origin: ApprovalOrigin, body: unknown): HoldAnswer {
    this.#requireOpen();
    const { stages, context, denied } = this.#parts;
    const request = parseHold(body);
    if (typeof request === 'string') return denied(origin.approver, refusal('bad-request', `The body${request}`));
    const command = authorizeHold(origin.approver, request, context());
    if (command.kind === 'refusal') return denied(origin.approver, command);
    const revoked = stages.commands.record(this.#authorization(origin), [command]);
    if (revoked !== null) return denied(origin.approver, revoked);
    const { known } = command;
    return heldAnswer(known, stages.ledger.approvalOf(known.key, known.occurrence));
  }

  /**
   * Releases holds that were set up to `beforeMs`.
   * @param holder null: the approver's own hold or, for an admin without one, all holds of the event
   * @param beforeMs in milliseconds since 1970; null: no limit
   * @throws as `request`
   */
  release(
    origin: ApprovalOrigin,
    eventId: string,
    holder: string | null,
    beforeMs: number | null = null,
  ): ReleaseAnswer {
    this.#requireOpen();
    const { stages, context, denied } = this.#parts;
    const fault = tooLong(eventId) ?? tooLong(holder ?? '', '?approver=');
    if (fault !== null) return denied(origin.approver, fault);
    const command = authorizeRelease(origin.approver, { eventId, key: keyOf(eventId), holder, beforeMs }, context());
    if (command.kind === 'refusal') return denied(origin.approver, command);
    const revoked = stages.commands.record(this.#authorization(origin), [command]);
    return revoked === null ? { kind: 'released' } : denied(origin.approver, revoked);
  }

  /**
   * Sets the hold of everything at once. Resolves when the StartRequests in flight are answered, or after 2 s.
   * @throws as `request`
   */
  async holdAll(origin: ApprovalOrigin, reason: string | null): Promise<AllHeldAnswer> {
    this.#requireOpen();
    const { stages, ports, context, denied } = this.#parts;
    const refused = allRefusal(origin.approver, context());
    if (refused !== null) return denied(origin.approver, refused);
    stages.holdOfAll.set(origin, reason);
    await this.answerTo([...ports.events().keys()]);
    const doubtful = [...ports.events().values()].filter((known) => stages.ledger.doubts.mayBeAccepted(known));
    return allHeldAnswer(
      stages.ledger.holdOfAll,
      doubtful.map(({ event }) => event.eventId),
    );
  }

  /** Releases the hold of everything. `holder` and `beforeMs`: as in `release`. @throws as `request` */
  releaseAll(origin: ApprovalOrigin, holder: string | null, beforeMs: number | null = null): ReleaseAnswer {
    this.#requireOpen();
    const { stages, context, denied } = this.#parts;
    const { approver } = origin;
    const refused = allReleaseRefusal(approver, { holder, beforeMs }, stages.ledger.holdOfAll, context());
    if (refused !== null) return denied(approver, refused);
    stages.holdOfAll.release(origin);
    return { kind: 'released' };
  }

  #authorization(origin: ApprovalOrigin): ApprovalAuthorization {
    return { origin, isValid: () => Object.hasOwn(this.#parts.stages.rules.approvers, origin.approver) };
  }

  #requireOpen(): void {
    if (this.#parts.isClosed())
      throw new BridgeError(
        'BRIDGE_APPROVALS_CLOSED',
        'The bridge is stopping and accepts no approvals. Retry after it has restarted.',
      );
  }
}
