// An event, its approval and its next step → one line: what happens if nobody acts. Pure.
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { ApprovalState } from './approvals.ts';
import { isDrill } from './ids.ts';

/** What happens to a listed event if nobody acts, as the HTTP interface shows it. */
export interface NextStep {
  /**
   * - `approve`: this bridge submits an approval at `at`.
   * - `start`: Azure starts the event at its NotBefore, or after an accepted approval.
   * - null: the event is Started or has ended; or it has no NotBefore, and this bridge will not approve it.
   */
  readonly action: 'approve' | 'start' | null;
  /** RFC 3339; null if the time is unknown. */
  readonly at: string | null;
  /** The rule that approves: `policy[N]` or `documentation`; null if approvers have decided, and without `approve`. */
  readonly by: string | null;
}

/** The rule of the policy that governs a Scheduled event, as the HTTP interface shows it. */
export interface GoverningRule {
  /** `policy[N]` or `documentation`; null if no rule matches. */
  readonly policy: string | null;
  readonly then: 'approve' | 'wait' | 'never';
  /** The approvers whose yes is missing, also if nobody has approved yet; empty if none is needed. */
  readonly waitingFor: readonly string[];
  /**
   * The window in which the rule approves, open or next. Null if it approves at any time, or in none before NotBefore;
   * absent in bridges before 0.3.0.
   */
  readonly window?: GoverningWindow | null;
  /** The windows that the rule names; absent in bridges before 0.3.0. */
  readonly during?: readonly string[];
  /** The budgets that the rule names; absent in bridges before 0.3.0. */
  readonly budgets?: readonly string[];
}

/** One opening of a window of `approvals.windows`. */
export interface GoverningWindow {
  readonly name: string;
  /** RFC 3339. */
  readonly opensAt: string;
  /** RFC 3339. */
  readonly closesAt: string;
  /** The IANA name of the window's zone; absent in bridges before 0.3.0. */
  readonly timeZone?: string;
}

/** A budget that holds an approval back, and what is in use of it. */
export interface BudgetUse {
  /** Its name in `approvals.budgets`. */
  readonly name: string;
  readonly atMost: number;
  /** How many machines are in use. */
  readonly used: number;
  /** The first hundred machines in use. */
  readonly machines: readonly MachineInUse[];
}

export interface MachineInUse {
  readonly name: string;
  /** The event that uses it; null if that event has ended and the budget's `rest` is not over. */
  readonly eventId: string | null;
  /** RFC 3339: when the `rest` is over; null before the event has ended. */
  readonly until: string | null;
}

/** The part of an event of `GET /v1/events` that decides the line. */
export interface NextStepEvent {
  readonly eventId: string;
  readonly eventStatus: string;
  readonly nextStep: NextStep;
  /** The budgets that hold an approval back now; absent in bridges before 0.3.0. */
  readonly heldBackBy?: readonly string[];
  /** Null unless the event is Scheduled. */
  readonly rule: GoverningRule | null;
  readonly approval: {
    readonly state: ApprovalState;
    readonly approvedBy: readonly string[];
    readonly holds: readonly { readonly approver: string; readonly reason: string | null; readonly all?: true }[];
  } | null;
}

interface Situation {
  /** `approvals.dryRun`. */
  readonly dryRun: boolean;
  readonly isBlind: boolean;
}

/**
 * Returns what an event waits for and what happens if nobody acts, such as
 * `waits for: billing; if nobody acts: approved by policy[1] at 2026-01-01T00:13:00Z`. Names and reasons are not
 * escaped.
 */
export function nextStepLine(event: NextStepEvent, situation: Situation): string {
  const { dryRun, isBlind } = situation;
  if (event.eventStatus === 'Started') return 'started';
  const { approval, rule } = event;
  if (approval?.state === 'submitted') return `${approvedBy(event)}; accepted by Azure, which may start it at any time`;
  if (rule?.then === 'never' && rule.policy === null) return 'a recommendation only: there is nothing to approve';
  const parts = [
    ...(isBlind ? ['this bridge is blind and submits nothing'] : []),
    ...(dryRun ? ['dry run: this bridge submits nothing'] : []),
    ...(approval?.state === 'failed' ? ['the metadata service rejected the approval'] : []),
    ...(rule?.then === 'never' ? [`never approved by this bridge (${rule.policy})`] : []),
    ...waits(event, situation),
    outcome(event),
  ];
  return parts.join('; ');
}

function waits(event: NextStepEvent, { isBlind }: Situation): readonly string[] {
  const { approval, nextStep, heldBackBy = [] } = event;
  const { approvedBy: names = [], holds = [], state = null } = approval ?? {};
  const waitingFor = event.rule?.waitingFor ?? [];
  // The outcome names who has decided.
  const isDecided = state === 'submitting' && nextStep.action === 'approve';
  // Approvers may approve before the window opens, and need not.
  const isOfRule = event.rule?.then === 'approve' && nextStep.action === 'approve';
  const isOfAnother = state === 'submitting' && nextStep.action !== 'approve';
  return [
    ...(isOfAnother ? [approvedBy(event)] : names.length > 0 && !isDecided ? [`approved by ${names.join(', ')}`] : []),
    ...(isOfAnother && !isBlind ? ['another machine of the group submits it'] : []),
    ...holds.map(
      ({ approver, reason, all }) =>
        `${all ? 'everything is ' : ''}held by ${approver}${reason === null ? '' : `: ${reason}`}`,
    ),
    ...(waitingFor.length > 0 && !isOfRule ? [`waits for: ${waitingFor.join(', ')}`] : []),
    ...windowWords(event),
    ...(heldBackBy.length > 0
      ? [`held back by the budget${heldBackBy.length > 1 ? 's' : ''} ${heldBackBy.join(', ')}`]
      : []),
  ];
}

/** What a budget holds back is in its window already; a hold, a dry run and a blind bridge may outlast it. */
function windowWords({ approval, rule, nextStep, heldBackBy = [] }: NextStepEvent): readonly string[] {
  const { window = null, during = [], policy = null } = rule ?? {};
  if (approval?.state === 'submitting' || heldBackBy.length > 0) return [];
  if (window === null) return during.length === 0 ? [] : [`no window of ${policy} opens before NotBefore`];
  const isAhead = nextStep.at !== null && Date.parse(nextStep.at) <= Date.parse(window.opensAt);
  return nextStep.action === 'approve' && isAhead
    ? [`waits for the window ${window.name}`]
    : [`window ${window.name} from ${timeOf(window.opensAt)} until ${timeOf(window.closesAt)}`];
}

function outcome(event: NextStepEvent): string {
  const { nextStep, approval, rule, eventId } = event;
  const at = nextStep.at === null ? 'at any time' : `at ${timeOf(nextStep.at)}`;
  if (nextStep.action === 'approve') {
    if (nextStep.at === null) return `if nobody acts: approved by ${nextStep.by} as soon as it fits${within(rule)}`;
    return nextStep.by === null || approval?.state === 'submitting'
      ? `${approvedBy(event)}; submitted to Azure ${at}`
      : `if nobody acts: approved by ${nextStep.by} ${at}`;
  }
  const isOpen = (rule?.waitingFor.length ?? 0) > 0 || (approval?.holds.length ?? 0) > 0;
  const condition = isOpen ? 'if nobody acts: ' : '';
  return isDrill(eventId) ? `${condition}the drill starts ${at}` : `${condition}left to Azure, which starts it ${at}`;
}

function within(rule: GoverningRule | null): string {
  const window = rule?.window ?? null;
  return window === null ? '' : ` in the window ${window.name} (until ${timeOf(window.closesAt)})`;
}

function timeOf(rfc3339: string): string {
  return toRfc3339Seconds(Date.parse(rfc3339));
}

function approvedBy({ approval, nextStep, rule }: NextStepEvent): string {
  const names = approval?.approvedBy ?? [];
  const by = nextStep.by ?? (names.length > 0 ? names.join(', ') : rule?.policy);
  return by == null ? 'approved' : `approved by ${by}`;
}
