// One occurrence of an event at one bridge → who said what about it, as far as that can be seen.
import { contentText, hexOf, isWorse, type ListedEvent } from './listed-event.ts';

interface Vote {
  readonly approver: string;
  /** False for a yes that every bridge of the group reads. */
  readonly isOwn: boolean;
  readonly request: number | null;
  /** It is the end of a program that prepared the event. */
  readonly isPrepared: boolean;
  readonly event: ListedEvent;
  /** The bridge has answered that it is recorded. */
  isSure: boolean;
}

/** Who holds an event. */
export interface Holds {
  readonly holders: readonly string[];
  readonly heldBySink: string | null;
}

export class ApprovalCase {
  readonly occurrence: number;
  readonly firstMs: number;
  event: ListedEvent;
  /** The event names this machine, or has. */
  isOwn = false;
  votes: Vote[] = [];
  /** Confirmed with 201, and not released. */
  readonly holders = new Set<string>();
  /** A sink holds it until its approver says yes. */
  heldBySink: string | null = null;
  /** A deadline that approves was reached once. */
  wasDue = false;
  /** The clock has jumped since it was first seen, so that turns cannot be foretold. */
  hasJumped = false;
  /** The process has heard that its StartRequest was accepted. */
  submittedMs: number | null = null;
  /** The service has accepted a StartRequest of this machine, whatever the process knows of it. */
  acceptedMs: number | null = null;
  /** Since when nothing has stood in the way of a StartRequest; null while something does. */
  freeMs: number | null = null;
  wasPosted = false;
  /** When it was posted last. */
  postedMs: number | null = null;
  /** A StartRequest was posted, and no answer says that it was not accepted. */
  mayBeAccepted = false;
  /** Since when a rule had decided it that no longer does, when approvers took its place. */
  carriedMs: number | null = null;
  /** Decided in a dry run, an event is never posted later either. */
  wasDry = false;

  /** When a window of its rule was open first, and NotBefore lay ahead. */
  openMs: number | null = null;
  /** A rule within budgets has posted it, and nothing has undone that. */
  usesBudget = false;

  readonly #firstContent: string;

  constructor(occurrence: number, event: ListedEvent, atMs: number, firstContent = hexOf(contentText(event), 16)) {
    this.occurrence = occurrence;
    this.event = event;
    this.#firstContent = firstContent;
    this.firstMs = atMs;
  }

  /** As it is now, whatever later documents say of it. Holders are shared: a hold counts whatever a document says. */
  copy(): ApprovalCase {
    return Object.assign(new ApprovalCase(this.occurrence, this.event, this.firstMs, this.#firstContent), this);
  }

  /**
   * The event as a document shows it now: a yes does not survive that it got worse.
   * @returns the approvers of programs that prepared for less, and no other yes of whom surely stands: whether none may
   */
  seen(event: ListedEvent): ReadonlyMap<string, boolean> {
    if (event !== this.event) this.freeMs = null;
    if (event !== this.event && this.submittedMs === null) this.usesBudget = false;
    this.event = event;
    if (event.EventStatus !== 'Scheduled') return new Map();
    const voided = this.votes.filter((vote) => isWorse(vote.event, event));
    this.votes = this.votes.filter((vote) => !voided.includes(vote));
    const unprepared = new Map<string, boolean>();
    for (const { approver, isPrepared } of voided) {
      const others = this.votes.filter((vote) => vote.approver === approver);
      if (isPrepared && !others.some(({ isSure }) => isSure)) unprepared.set(approver, others.length === 0);
    }
    return unprepared;
  }

  /** Whether the CloudEvent with this id has the content of now. */
  isToldBy(id: string): boolean {
    const content = hexOf(contentText(this.event), 16);
    return id.includes(':updated:') ? id.includes(content) : content === this.#firstContent;
  }

  vote(approver: string, isOwn: boolean, request: number | null = null, isPrepared = false): void {
    this.votes.push({ approver, isOwn, request, isPrepared, event: this.event, isSure: false });
  }

  /** The bridge has stored a yes that every bridge of the group reads. */
  votedByTopic(approver: string): void {
    this.votes.push({ approver, isOwn: false, request: null, isPrepared: false, event: this.event, isSure: true });
  }

  /** Certainly in use of budgets: Started, or posted and under no hold. */
  get isInUse(): boolean {
    if (this.event.EventStatus === 'Started') return true;
    return (this.submittedMs !== null || this.usesBudget) && this.holders.size === 0 && this.heldBySink === null;
  }

  /** The answer says that it was recorded. */
  recorded(request: number): void {
    for (const vote of this.votes) if (vote.request === request) vote.isSure = true;
  }

  /** Rights have changed: what was recorded may not count any more. */
  doubtVotes(): void {
    for (const vote of this.votes) vote.isSure = false;
  }

  /**
   * Ends the holds of this approver, or all.
   * @returns those that it has ended
   */
  release(approver: string | null): Holds {
    const holders = [...this.holders].filter((holder) => approver === null || holder === approver);
    const heldBySink = approver === null || this.heldBySink === approver ? this.heldBySink : null;
    for (const holder of holders) this.holders.delete(holder);
    if (heldBySink !== null) this.heldBySink = null;
    return { holders, heldBySink };
  }

  holdAgain({ holders, heldBySink }: Holds): void {
    for (const holder of holders) this.holders.add(holder);
    this.heldBySink ??= heldBySink;
  }

  /** The answer says that it was not taken. */
  refused(request: number): void {
    this.votes = this.votes.filter((vote) => vote.request !== request);
  }
}
