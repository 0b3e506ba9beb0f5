// Approvals of each occurrence ↔ a row; steps of its audit trail ↔ rows that are only added.
import {
  type ApprovalDecision,
  type ApprovalHold,
  type ApprovalStep,
  type ApprovalStepName,
  type ApprovalVote,
  AWAITED_ANSWER,
  type EventApproval,
  LOST_ANSWER,
  type RecordPart,
  type RecordRange,
  type UnwrittenSteps,
} from '../model/approvals.ts';
import type { Instant } from '../model/events.ts';
import { countWithin, type Database, type Statements } from './database.ts';
import { expectSum, sumOf } from './integrity.ts';

/**
 * The most lines of one approver in the audit trail of an occurrence. Further steps still take effect, but are only
 * counted.
 */
const MOST_STEPS = 200;
/** The most steps without an approver: decisions and answers of the metadata service. */
const MOST_WITHOUT_APPROVER = 500;
/** Always written: they record the end, and no approver can cause them at will. */
const ALWAYS: ReadonlySet<ApprovalStepName> = new Set(['submitted', 'confirmed', 'moot', 'unknown']);
/** The most bytes of JSON in one part of the record, whatever its `limit`. */
const PART_BYTES = 128 * 1024;

const COLUMNS =
  'a.occurrence, a.key, a.state, a.policy, a.at_ms AS atMs, a.votes, a.holds, a.decision, a.dry_run AS isDryRun, a.sum';

export const APPROVALS_SQL = {
  open: `SELECT ${COLUMNS} FROM known_events k CROSS JOIN approvals a ON a.occurrence = k.occurrence ORDER BY k.occurrence`,
  of: `SELECT ${COLUMNS} FROM approvals a WHERE a.occurrence = ?`,
  after: `SELECT ${COLUMNS} FROM approvals a WHERE a.occurrence > ? ORDER BY a.occurrence LIMIT 16`,
  save: `INSERT OR REPLACE INTO approvals (occurrence, key, state, policy, at_ms, votes, holds, decision, dry_run, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addStep:
    'INSERT INTO approval_steps (occurrence, step, at_ms, approver, via, policy, status, reason, times) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  written: 'SELECT written FROM approval_step_counts WHERE occurrence = ? AND approver = ?',
  countWritten: `INSERT INTO approval_step_counts (occurrence, approver, written) VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET written = written + 1`,
  countUnwritten: `UPDATE approval_step_counts SET unwritten = unwritten + 1, since_ms = coalesce(since_ms, ?1), until_ms = ?1
    WHERE occurrence = ?2 AND approver = ?3`,
  unwritten: `SELECT nullif(approver, '') AS approver, unwritten AS steps, since_ms AS sinceMs, until_ms AS untilMs
    FROM approval_step_counts WHERE occurrence = ? AND unwritten > 0`,
  steps: `SELECT seq, step, at_ms AS atMs, approver, via, policy, status, reason, times FROM approval_steps
    WHERE occurrence = ? AND seq > ? ORDER BY seq LIMIT ?`,
  submitted: `SELECT at_ms AS atMs FROM approval_steps INDEXED BY approval_steps_submitted
    WHERE occurrence = ? AND step = 'submitted' ORDER BY seq DESC LIMIT 1`,
} as const;

/** `votes`, `holds` and `decision` are JSON. */
type ApprovalRow = Pick<EventApproval, 'occurrence' | 'key' | 'state' | 'policy'> &
  Readonly<{
    atMs: number;
    votes: string;
    holds: string;
    decision: string | null;
    isDryRun: number;
    sum: number | null;
  }>;

type StepRow = Omit<ApprovalStep, 'times'> & { readonly seq: number; readonly times: number | null };

/** As stored in JSON, without the monotonic time, which is meaningless in another process. */
type Stored<T extends { readonly at: Instant }> = Omit<T, 'at'> & { readonly atMs: number };
/** Version 3 did not store `via` and `isShared`, version 4 did not store `hasSeen`. */
type StoredVote = Omit<Stored<ApprovalVote>, 'via' | 'isShared' | 'hasSeen'> &
  Partial<Pick<ApprovalVote, 'via' | 'isShared' | 'hasSeen'>>;
/** Version 4 did not store `replaced` and `sentMs`. */
type StoredHold = Omit<Stored<ApprovalHold>, 'replaced' | 'sentMs'> &
  Partial<Pick<ApprovalHold, 'replaced' | 'sentMs'>>;
/** Earlier versions stored no rule and no window. */
type StoredDecision = Omit<Stored<ApprovalDecision>, 'rule' | 'window'> &
  Partial<Pick<ApprovalDecision, 'rule' | 'window'>>;

interface Rows {
  readonly open: ApprovalRow;
  readonly of: ApprovalRow;
  readonly after: ApprovalRow;
  readonly written: { written: number };
  readonly unwritten: UnwrittenSteps;
  readonly steps: StepRow;
  readonly submitted: { atMs: number };
}

export class ApprovalTable {
  readonly #database: Database;
  readonly #sql: Statements<keyof typeof APPROVALS_SQL, Rows>;

  constructor(database: Database) {
    this.#database = database;
    this.#sql = database.prepareAll(APPROVALS_SQL);
  }

  /** Returns the approvals of all occurrences that have not ended. */
  open(): readonly EventApproval[] {
    return this.#sql.open.all().map(this.#toApproval);
  }

  /** Returns the approvals of an occurrence, also of an ended one, or null if it has none. */
  of(occurrence: number): EventApproval | null {
    const row = this.#sql.of.get(occurrence);
    return row === undefined ? null : this.#toApproval(row);
  }

  /** Reads all, some at a time. @throws BridgeError BRIDGE_STORE_DAMAGED if one has changed on disk */
  expectIntact(): void {
    for (let rows = this.#sql.after.all(0); rows.length > 0; ) {
      const last = rows.map(this.#toApproval).at(-1);
      rows = this.#sql.after.all(last?.occurrence ?? 0);
    }
  }

  save({ occurrence, key, state, policy, at, votes, holds, decision, isDryRun }: EventApproval): void {
    const texts = [
      JSON.stringify(votes.map(toStored)),
      JSON.stringify(holds.map(toStored)),
      decision && JSON.stringify(toStored(decision)),
    ];
    const row = [occurrence, key, state, policy, at.wallMs, ...texts, Number(isDryRun)];
    this.#sql.save.run(...row, sumOf(...row));
  }

  /** Appends the steps, or only counts them if the trail is full. */
  addSteps(occurrence: number, steps: readonly ApprovalStep[]): void {
    for (const step of steps) {
      const of = step.approver ?? '';
      const isFull =
        (this.#sql.written.get(occurrence, of)?.written ?? 0) >=
        (step.approver === null ? MOST_WITHOUT_APPROVER : MOST_STEPS);
      if (isFull && !isAlwaysWritten(step)) this.#sql.countUnwritten.run(step.atMs, occurrence, of);
      else this.#write(occurrence, step, of);
    }
  }

  /** Returns the lines in the order in which they were added: at least one, if there is one. */
  record(occurrence: number, { after, limit }: RecordRange): RecordPart {
    const rows = this.#sql.steps.all(occurrence, after, limit + 1);
    const sizes = rows.map((row) => ({ size: Buffer.byteLength(JSON.stringify(row)) }));
    const part = rows.slice(0, Math.min(limit, countWithin(sizes, PART_BYTES)));
    return {
      steps: part.map(toStep),
      next: part.length < rows.length ? (part.at(-1)?.seq ?? null) : null,
      submittedMs: this.#sql.submitted.get(occurrence)?.atMs ?? null,
      unwritten: this.#sql.unwritten.all(occurrence).map((row) => ({ ...row })),
    };
  }

  /** @throws BridgeError BRIDGE_STORE_DAMAGED if the row has changed on disk */
  readonly #toApproval = (row: ApprovalRow): EventApproval => {
    const { occurrence, key, state, policy, atMs, votes, holds, decision, isDryRun, sum } = row;
    const values = [occurrence, key, state, policy, atMs, votes, holds, decision, isDryRun];
    expectSum(this.#database, `the approvals of ${key}`, sum, sumOf(...values));
    return toApproval(row);
  };

  #write(
    occurrence: number,
    { step, atMs, approver, via, policy, status, reason, times }: ApprovalStep,
    of: string,
  ): void {
    this.#sql.addStep.run(occurrence, step, atMs, approver, via, policy, status, reason, times ?? null);
    this.#sql.countWritten.run(occurrence, of);
  }
}

/** A lost or awaited answer is always written, because the next process needs it. */
function isAlwaysWritten({ step, reason }: ApprovalStep): boolean {
  return ALWAYS.has(step) || (step === 'answered' && (reason === LOST_ANSWER || reason === AWAITED_ANSWER));
}

function toStep({ seq: _, times, ...step }: StepRow): ApprovalStep {
  return { ...step, ...(times !== null && { times }) };
}

function toStored<T extends { readonly at: Instant }>({ at, ...rest }: T): Stored<T> {
  return { ...rest, atMs: at.wallMs };
}

function toInstant(wallMs: number): Instant {
  return { wallMs, elapsedMs: null };
}

function toVote({ atMs, ...vote }: StoredVote): ApprovalVote {
  return { via: 'token', isShared: false, hasSeen: false, ...vote, at: toInstant(atMs) };
}

function toHold({ atMs, ...hold }: StoredHold): ApprovalHold {
  return { sentMs: null, replaced: null, ...hold, at: toInstant(atMs) };
}

function toDecision(text: string): ApprovalDecision {
  const { atMs, ...decision } = JSON.parse(text) as StoredDecision;
  return { rule: null, window: null, ...decision, at: toInstant(atMs) };
}

function toApproval({ atMs, votes, holds, decision, isDryRun, sum: _, ...row }: ApprovalRow): EventApproval {
  return {
    ...{ ...row, isDryRun: isDryRun === 1, at: toInstant(atMs) },
    votes: (JSON.parse(votes) as StoredVote[]).map(toVote),
    holds: (JSON.parse(holds) as StoredHold[]).map(toHold),
    decision: decision === null ? null : toDecision(decision),
  };
}
