// A message's requests and the state → commands, or a refusal (behaviour 8.11). Pure.
import type { Refusal } from './answer.ts';
import type { ApprovalCommand } from './approval-command.ts';
import { authorizeVotes, type CheckContext, type Checked } from './check.ts';
import { authorizeHold, authorizeRelease } from './check-hold.ts';
import type { MessageRequests } from './message-requests.ts';

/** All of them, or the first refusal. Holds come into force before votes, so that a message that does both posts nothing. */
export function authorizeMessage(
  approver: string,
  { starts, holds, releases }: MessageRequests,
  context: CheckContext,
): readonly ApprovalCommand[] | Refusal {
  const votes = authorizeVotes(approver, starts, context);
  if ('kind' in votes) return votes;
  const judged = [
    ...holds.map((request) => authorizeHold(approver, request, context)),
    ...releases.map((request) => authorizeRelease(approver, request, context)),
  ];
  const refused = judged.find((act) => act.kind === 'refusal');
  return refused ?? [...judged.filter((act) => act.kind !== 'refusal'), ...votesOf(votes)];
}

/** What is to be recorded: nothing of what this approver said before the event started. */
export function votesOf(checked: readonly Checked[]): readonly ApprovalCommand[] {
  return checked.flatMap(({ kind, known, request: { seen } }): ApprovalCommand[] =>
    kind === 'started' ? [] : [{ kind: 'vote', known, hasSeen: seen.length > 0 }],
  );
}
