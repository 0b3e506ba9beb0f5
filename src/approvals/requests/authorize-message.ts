// A message's requests and the state → commands, or a refusal (behaviour 8.11). Pure.
import type { Refusal } from './answer.ts';
import type { ApprovalCommand } from './approval-command.ts';
import { authorizeVotes, type CheckContext, type Checked } from './check.ts';
import { authorizeHold, authorizeRelease } from './check-hold.ts';
import type { MessageRequests } from './message-requests.ts';

/** Returns all commands, or the first refusal. Holds come before votes, so that a message with both posts nothing. */
export function authorizeMessage(
  approver: string,
  { starts, holds, releases }: MessageRequests,
  context: CheckContext,
): readonly ApprovalCommand[] | Refusal {
  const votes = authorizeVotes(approver, starts, context);
  if ('kind' in votes) return votes;
  const results = [
    ...holds.map((request) => authorizeHold(approver, request, context)),
    ...releases.map((request) => authorizeRelease(approver, request, context)),
  ];
  const refused = results.find((result) => result.kind === 'refusal');
  return refused ?? [...results.filter((result) => result.kind !== 'refusal'), ...votesOf(votes)];
}

/** Returns the votes to record. Leaves out events that started after this approver had approved them. */
export function votesOf(checked: readonly Checked[]): readonly ApprovalCommand[] {
  return checked.flatMap(({ kind, known, request: { seen } }): ApprovalCommand[] =>
    kind === 'started' ? [] : [{ kind: 'vote', known, hasSeen: seen.length > 0 }],
  );
}
