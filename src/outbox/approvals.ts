// The approvals of each occurrence ↔ its row.
import type { ApprovalState, ApprovalVote, EventApproval, ScheduledEvent } from '../model.ts';
import type { Database, Statement } from './database.ts';

export const APPROVALS_SQL = {
  open: `SELECT a.occurrence, a.key, a.state, a.policy, a.at_ms, a.votes FROM known_events k
    CROSS JOIN approvals a ON a.occurrence = k.occurrence ORDER BY k.occurrence`,
} as const;

interface ApprovalRow {
  readonly occurrence: number;
  readonly key: string;
  readonly state: ApprovalState;
  readonly policy: string | null;
  readonly at_ms: number;
  readonly votes: string;
}

interface StoredVote {
  readonly approver: string;
  readonly atMs: number;
  readonly event: ScheduledEvent;
}

export class ApprovalTable {
  readonly #open: Statement<ApprovalRow>;
  readonly #save: Statement;

  constructor(database: Database) {
    this.#open = database.prepare(APPROVALS_SQL.open);
    this.#save = database.prepare(
      'INSERT OR REPLACE INTO approvals (occurrence, key, state, policy, at_ms, votes) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  /** Of the occurrences that have not ended. */
  open(): readonly EventApproval[] {
    return this.#open.all().map(toApproval);
  }

  save({ occurrence, key, state, policy, at, votes }: EventApproval): void {
    this.#save.run(occurrence, key, state, policy, at.wallMs, JSON.stringify(votes.map(toStored)));
  }
}

function toStored({ approver, at, event }: ApprovalVote): StoredVote {
  return { approver, atMs: at.wallMs, event };
}

function toVote({ approver, atMs, event }: StoredVote): ApprovalVote {
  return { approver, at: { wallMs: atMs, elapsedMs: null }, event };
}

function toApproval({ occurrence, key, state, policy, at_ms, votes }: ApprovalRow): EventApproval {
  return { occurrence, key, state, policy, at: { wallMs: at_ms, elapsedMs: null }, votes: (JSON.parse(votes) as StoredVote[]).map(toVote) };
}
