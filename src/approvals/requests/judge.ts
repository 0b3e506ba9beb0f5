// An approver's request and the state → commands, or a refusal (behaviour 6.6 and 8.8).

import type { ApprovalPorts } from '../ports.ts';
import type { Rules } from '../rules/quorum.ts';
import type { ApprovalStore } from '../store.ts';
import type { Refusal } from './answer.ts';
import type { ApprovalCommand } from './approval-command.ts';
import { type CheckContext, type Checked, check } from './check.ts';
import { checkHold, checkRelease } from './check-hold.ts';
import type { HoldRequest, ReleaseRequest } from './hold-requests.ts';
import type { MessageRequests } from './message-requests.ts';
import type { StartRequest } from './start-requests.ts';

export interface JudgeParts {
  readonly rules: Rules;
  readonly store: ApprovalStore;
  readonly ports: Pick<ApprovalPorts, 'events'>;
  readonly ledger: Pick<CheckContext, 'approvalOf' | 'matterOf'>;
  readonly approvers: Readonly<Record<string, { readonly admin?: boolean }>>;
}

/** Records nothing. */
export class Judge {
  readonly #parts: JudgeParts;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** All of them, or the first refusal. `sentMs`: when a message was sent, in milliseconds since 1970; null for what is asked for now. */
  votes(approver: string, requests: readonly StartRequest[], sentMs: number | null = null): readonly Checked[] | Refusal {
    return check(approver, requests, this.#context(sentMs));
  }

  hold(approver: string, request: HoldRequest, sentMs: number | null = null): ApprovalCommand | Refusal {
    return checkHold(approver, request, this.#context(sentMs));
  }

  release(approver: string, request: ReleaseRequest, sentMs: number | null = null): ApprovalCommand | Refusal {
    const isAdmin = this.#parts.approvers[approver]?.admin === true;
    return checkRelease(approver, request, { ...this.#context(sentMs), isAdmin });
  }

  /** Of a source. Holds come into force before votes, so that a message that does both posts nothing. */
  message(approver: string, { starts, holds, releases }: MessageRequests, sentMs: number): readonly ApprovalCommand[] | Refusal {
    const votes = this.votes(approver, starts, sentMs);
    if ('kind' in votes) return votes;
    const judged = [
      ...holds.map((request) => this.hold(approver, request, sentMs)),
      ...releases.map((request) => this.release(approver, request, sentMs)),
    ];
    const refused = judged.find((act) => act.kind === 'refusal');
    return refused ?? [...judged.filter((act) => act.kind !== 'refusal'), ...votesOf(votes)];
  }

  #context(sentMs: number | null): CheckContext {
    const { rules, store, ports, ledger } = this.#parts;
    return {
      rules,
      store,
      events: ports.events(),
      approvalOf: (key, occurrence) => ledger.approvalOf(key, occurrence),
      matterOf: (known) => ledger.matterOf(known),
      sentMs,
    };
  }
}

/** What is to be recorded: nothing of what this approver said before the event started. */
export function votesOf(checked: readonly Checked[]): readonly ApprovalCommand[] {
  return checked.flatMap(({ kind, known, request: { seen } }): ApprovalCommand[] =>
    kind === 'started' ? [] : [{ kind: 'vote', known, hasSeen: seen.length > 0 }],
  );
}
