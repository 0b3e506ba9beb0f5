// The approvals of each occurrence ↔ its row, and the record of what was done about it ↔ lines that are only ever added.
import type { ApprovalDecision, ApprovalHold, ApprovalState, ApprovalStep, ApprovalVote, EventApproval } from '../approval.ts';
import type { Instant } from '../model.ts';
import type { Database, Statement } from './database.ts';

const COLUMNS = 'a.occurrence, a.key, a.state, a.policy, a.at_ms, a.votes, a.holds, a.decision, a.dry_run';

export const APPROVALS_SQL = {
  open: `SELECT ${COLUMNS} FROM known_events k CROSS JOIN approvals a ON a.occurrence = k.occurrence ORDER BY k.occurrence`,
  of: `SELECT ${COLUMNS} FROM approvals a WHERE a.occurrence = ?`,
  save: `INSERT OR REPLACE INTO approvals (occurrence, key, state, policy, at_ms, votes, holds, decision, dry_run)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addStep: 'INSERT INTO approval_steps (occurrence, step, at_ms, approver, via, policy, status, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  steps: 'SELECT step, at_ms AS atMs, approver, via, policy, status, reason FROM approval_steps WHERE occurrence = ? ORDER BY seq',
} as const;

interface ApprovalRow {
  readonly occurrence: number;
  readonly key: string;
  readonly state: ApprovalState;
  readonly policy: string | null;
  readonly at_ms: number;
  readonly votes: string;
  readonly holds: string;
  readonly decision: string | null;
  readonly dry_run: number;
}

/** As JSON keeps it: the monotonic clock of one process says nothing to the next. */
type Stored<T extends { readonly at: Instant }> = Omit<T, 'at'> & { readonly atMs: number };
/** Version 3 did not ask how an approver spoke. */
type StoredVote = Omit<Stored<ApprovalVote>, 'via' | 'isShared'> & Partial<Pick<ApprovalVote, 'via' | 'isShared'>>;

export class ApprovalTable {
  readonly #open: Statement<ApprovalRow>;
  readonly #of: Statement<ApprovalRow>;
  readonly #save: Statement;
  readonly #addStep: Statement;
  readonly #steps: Statement<ApprovalStep>;

  constructor(database: Database) {
    this.#open = database.prepare(APPROVALS_SQL.open);
    this.#of = database.prepare(APPROVALS_SQL.of);
    this.#save = database.prepare(APPROVALS_SQL.save);
    this.#addStep = database.prepare(APPROVALS_SQL.addStep);
    this.#steps = database.prepare(APPROVALS_SQL.steps);
  }

  /** Of the occurrences that have not ended. */
  open(): readonly EventApproval[] {
    return this.#open.all().map(toApproval);
  }

  /** Of an occurrence that may have ended; null where there are none. */
  of(occurrence: number): EventApproval | null {
    const row = this.#of.get(occurrence);
    return row === undefined ? null : toApproval(row);
  }

  save({ occurrence, key, state, policy, at, votes, holds, decision, isDryRun }: EventApproval): void {
    const texts = [
      JSON.stringify(votes.map(toStored)),
      JSON.stringify(holds.map(toStored)),
      decision && JSON.stringify(toStored(decision)),
    ];
    this.#save.run(occurrence, key, state, policy, at.wallMs, ...texts, Number(isDryRun));
  }

  /** Behind the lines that stand there. */
  addSteps(occurrence: number, steps: readonly ApprovalStep[]): void {
    for (const { step, atMs, approver, via, policy, status, reason } of steps)
      this.#addStep.run(occurrence, step, atMs, approver, via, policy, status, reason);
  }

  /** In the order in which they were added. */
  steps(occurrence: number): readonly ApprovalStep[] {
    return this.#steps.all(occurrence).map((row) => ({ ...row }));
  }
}

function toStored<T extends { readonly at: Instant }>({ at, ...rest }: T): Stored<T> {
  return { ...rest, atMs: at.wallMs };
}

function toInstant(wallMs: number): Instant {
  return { wallMs, elapsedMs: null };
}

function toVote({ atMs, ...vote }: StoredVote): ApprovalVote {
  return { via: 'token', isShared: false, ...vote, at: toInstant(atMs) };
}

function toHold({ atMs, ...hold }: Stored<ApprovalHold>): ApprovalHold {
  return { ...hold, at: toInstant(atMs) };
}

function toDecision(text: string): ApprovalDecision {
  const { atMs, ...decision } = JSON.parse(text) as Stored<ApprovalDecision>;
  return { ...decision, at: toInstant(atMs) };
}

function toApproval({ occurrence, key, state, policy, at_ms, votes, holds, decision, dry_run }: ApprovalRow): EventApproval {
  return {
    ...{ key, occurrence, state, policy, isDryRun: dry_run === 1, at: toInstant(at_ms) },
    votes: (JSON.parse(votes) as StoredVote[]).map(toVote),
    holds: (JSON.parse(holds) as Stored<ApprovalHold>[]).map(toHold),
    decision: decision === null ? null : toDecision(decision),
  };
}
