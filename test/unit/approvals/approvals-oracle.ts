// What happens to a bridge → what its approvals must be, what StartRequests break (behaviour 6, 8).
import type { ScheduledEvent } from '../../../src/model/events.ts';
import {
  hasGotWorse,
  isConcerned,
  isEnough,
  type OracleConfig,
  type OracleRuling,
  refusalOf,
  rulingFor,
  waitOf,
} from './approvals-oracle-rules.ts';

export interface OracleVote {
  readonly approver: string;
  readonly isShared: boolean;
  readonly hasSeen: boolean;
  readonly event: ScheduledEvent;
}

/** An occurrence that has not ended. */
interface OracleHold {
  readonly approver: string;
  readonly via: string | null;
  /** By HTTP when it arrived. */
  readonly setMs: number;
}

export interface OracleEntry {
  readonly key: string;
  readonly occurrence: number;
  event: ScheduledEvent;
  isListed: boolean;
  /** Null while it is not Scheduled. */
  ruling: OracleRuling | null;
  dueMs: number | null;
  isDueOver: boolean;
  /** Fell due while nothing could be stored: the next document decides. */
  isDueLate: boolean;
  votes: OracleVote[];
  /**
   * By approver, or by `sink NAME` where a sink speaks for one: over which channel it was set, and when it was sent.
   */
  holds: Map<string, OracleHold>;
  by: 'quorum' | 'policy' | 'deadline' | null;
  /** Since when it has been decided and held by nobody. */
  sinceMs: number | null;
  isAtOnce: boolean;
  fellDue: { readonly dueMs: number; readonly rule: string | null } | null;
  /** Its votes and its decision are of a dry run. */
  isDry: boolean;
  /** Decided when a dry run ended: no rule and no deadline does so once more, before a quorum has. */
  isSpent: boolean;
  posted: Pick<OracleEntry, 'votes' | 'by' | 'fellDue'> | null;
  outcome: 'open' | 'refused' | 'failed' | 'submitted' | 'moot';
  /** When the service refused it for good. */
  failedMs: number;
  /** A minute was over while nothing could be stored: the next document decides. */
  isAgainLate: boolean;
  /** Since when it is Started; null while it is Scheduled. */
  startedMs: number | null;
}

export interface OracleRequest {
  readonly key: string;
  readonly seen?:
    | { readonly key: string; readonly occurrence: number; readonly event: ScheduledEvent }
    | 'nonsense'
    | undefined;
}

export interface OracleCommand {
  readonly approver: string;
  readonly isShared: boolean;
  /** When it was sent, for a message. */
  readonly sentMs: number | null;
  /** The source's name; null by HTTP. */
  readonly via: string | null;
  readonly holds: readonly string[];
  readonly releases: readonly string[];
  readonly starts: readonly OracleRequest[];
}

/** The verdict of a refusal, as `type`; null: recorded. */
export type OracleVerdict = string | null;

interface Parked {
  readonly command: OracleCommand;
  readonly untilMs: number;
  /** Its time was over while nothing could be stored: the next document decides. */
  isLate: boolean;
}

export class Oracle {
  readonly entries = new Map<string, OracleEntry>();
  recorded = 0;
  voided = 0;
  /** Real votes that a dry run took along. */
  takenAlong = 0;
  #config: OracleConfig | null = null;
  #hasRead = false;
  isBlind = false;
  /** Whether the service may have accepted a StartRequest for it. `perhaps`: the bridge may know that it has not. */
  acceptance: (occurrence: number) => 'no' | 'perhaps' | 'surely' = () => 'no';
  /** Whether the bridge has stored this hold: what it does where it may know more. */
  isHeld: (key: string, approver: string) => boolean = () => false;
  /**
   * Whether the bridge has said since then that nobody can know what started it, or a StartRequest is on its way still.
   */
  isUnknownSince: (occurrence: number, sinceMs: number) => boolean = () => false;
  #isFull = false;
  readonly #endedMs = new Map<string, number>();
  #parked: Parked[] = [];

  get config(): OracleConfig {
    if (this.#config === null) throw new Error('no process runs');
    return this.#config;
  }

  /** Whether nothing can be stored. */
  full(isFull: boolean): void {
    this.#isFull = isFull;
  }

  /** A process begins: what is stored is judged by its rules. */
  start(config: OracleConfig, nowMs: number): void {
    this.#config = config;
    this.#hasRead = false;
    for (const entry of this.entries.values()) {
      entry.ruling = null;
      this.#judge(entry, nowMs);
    }
  }

  /** The process goes on with these rules. */
  reload(config: OracleConfig, nowMs: number): void {
    this.#config = config;
    for (const entry of this.entries.values()) if (entry.event.eventStatus === 'Scheduled') this.#judge(entry, nowMs);
  }

  /** No process runs, or it takes up nothing any more. */
  stop(): void {
    this.#hasRead = false;
  }

  ended(key: string, nowMs: number): void {
    this.entries.delete(key);
    this.#endedMs.set(key, nowMs);
  }

  changed(key: string, occurrence: number, event: ScheduledEvent, nowMs: number): void {
    const known = this.entries.get(key);
    const entry = known ?? newEntry(key, occurrence, event);
    this.entries.set(key, entry);
    entry.event = event;
    entry.isListed = true;
    // Every sink is sent every change.
    if (known === undefined && event.eventStatus === 'Scheduled') this.#holdBySinks(entry, null, nowMs);
    this.#judge(entry, nowMs);
  }

  /** All changes of a document were told: what waits for one is tried again. */
  documentHandled(nowMs: number): void {
    this.#hasRead = true;
    this.isBlind = false;
    const waiting = this.#parked;
    this.#parked = [];
    for (const parked of waiting) {
      const verdict = this.verdictOf(parked.command);
      // Refused if its source may no longer act for this approver.
      if (verdict === null) {
        if (!this.config.unauthorized.includes(parked.command.approver)) this.apply(parked.command, nowMs);
      } else if (this.#mayCome(parked.command, verdict) && parked.untilMs > nowMs) this.#parked.push(parked);
    }
    for (const entry of this.entries.values()) if (entry.isDueLate) this.#due(entry, nowMs);
    for (const entry of this.entries.values()) if (entry.isAgainLate) this.#again(entry, nowMs);
  }

  /** Time has passed: what fell due meanwhile. */
  catchUp(nowMs: number): void {
    for (const parked of this.#hasRead ? this.#parked : [])
      if (parked.untilMs <= nowMs && this.#isFull) parked.isLate = true;
    if (this.#hasRead) this.#parked = this.#parked.filter(({ untilMs, isLate }) => untilMs > nowMs || isLate);
    for (const entry of this.entries.values())
      if (entry.dueMs !== null && entry.dueMs <= nowMs && !entry.isDueLate) this.#due(entry, entry.dueMs);
    for (const entry of this.#hasRead ? this.entries.values() : [])
      if (entry.outcome === 'failed' && entry.failedMs + 60_000 <= nowMs && !entry.isAgainLate)
        this.#again(entry, entry.failedMs + 60_000);
  }

  /** A message: kept where its event may still come. */
  message(command: OracleCommand, nowMs: number): void {
    const verdict = this.#hasRead ? this.verdictOf(command) : 'unknown';
    if (verdict === null) this.apply(command, nowMs);
    else if (!this.#hasRead || (verdict !== 'submitting' && this.#mayCome(command, verdict)))
      this.#parked.push({ command, untilMs: nowMs + 60_000, isLate: false });
  }

  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Of all that is asked for, the first refusal; a yes of one who said it before the start says `told`. */
  verdictOf(command: OracleCommand): OracleVerdict {
    const verdicts = [
      ...command.starts.map((request) => this.#voteVerdict(command, request)),
      ...command.holds.map((key) => this.#holdVerdict(command, key)),
      ...command.releases.map((key) => this.#releaseVerdict(command, key)),
    ];
    return verdicts.find((verdict) => verdict !== null) ?? null;
  }

  /** What was asked for and not refused. */
  apply(command: OracleCommand, nowMs: number): void {
    const { approver, isShared, via, sentMs, holds, releases, starts } = command;
    for (const key of holds) {
      this.#change(key, nowMs, (entry) => {
        const isSame = entry.holds.get(approver)?.via === via && this.#counts(entry);
        if (!isSame) entry.holds.set(approver, { approver, via, setMs: sentMs ?? nowMs });
      });
    }
    for (const key of releases) this.#release(key, command, nowMs);
    for (const { key, seen } of starts) this.#vote(key, approver, { isShared, hasSeen: seen !== undefined }, nowMs);
  }

  /** Of a sink's yes to what it saw; the sink may be removed by now, or act for another approver. */
  sinkVerdictOf(sink: string, command: OracleCommand): OracleVerdict {
    const isRevoked = this.config.holdingSinks.get(sink) !== command.approver;
    const isStarted = this.#find(command.starts[0]?.key ?? '', null) === 'started';
    return this.verdictOf(command) ?? (isRevoked && !isStarted ? 'forbidden' : null);
  }

  /** A sink has done its part for what it saw: the yes of its approver, and its own hold is over. */
  prepared(sink: string, command: OracleCommand, nowMs: number): void {
    this.apply(command, nowMs);
    const key = command.starts[0]?.key ?? '';
    if (this.entries.get(key)?.ruling && this.entries.get(key)?.holds.has(`sink ${sink}`))
      this.#lift(key, [`sink ${sink}`], nowMs);
  }

  /** A StartRequest is made: what it breaks, or null. */
  posted(key: string, nowMs: number): string | null {
    const entry = this.entries.get(key);
    if (entry) {
      const { votes, by, fellDue } = entry;
      entry.posted = { votes, by, fellDue };
    }
    return this.faultOf(key, nowMs);
  }

  /**
   * Whether a change of the last second has to be seen before a StartRequest: somebody's scope, or what somebody had
   * seen, allows it.
   */
  isProtected(key: string): boolean {
    const { by = null, votes = [] } = this.entries.get(key) ?? {};
    const isScoped = (name: string) => Object.keys(this.config.approvers[name]?.scope ?? {}).length > 0;
    return by === 'quorum' && votes.some(({ approver, hasSeen }) => hasSeen || isScoped(approver));
  }

  /**
   * The bridge told what became of the last StartRequest: who approved it then did so, whatever became void meanwhile.
   */
  concluded(entry: OracleEntry, outcome: 'submitted' | 'failed', nowMs: number): void {
    Object.assign(entry, { outcome, failedMs: nowMs, isAgainLate: false });
    if (outcome === 'failed') return;
    const { votes = [], ...posted } = entry.posted ?? {};
    const late = entry.votes.filter(({ approver }) => votes.every((vote) => vote.approver !== approver));
    // No dry run posts: one that began meanwhile did not take it along.
    Object.assign(entry, posted, { votes: [...votes, ...late], isDry: false });
  }

  /** What a StartRequest made now would break; null: it may be made. */
  faultOf(key: string, nowMs: number): string | null {
    const entry = this.entries.get(key);
    if (entry === undefined) return 'the event has ended';
    if (this.config.dryRun) return 'it is a dry run';
    if (entry.event.eventStatus !== 'Scheduled' || !entry.isListed)
      return 'the last document does not list it as Scheduled';
    if (entry.holds.size > 0) return `${[...entry.holds.keys()].join()} holds it`;
    if (entry.outcome !== 'open') return `it was ${entry.outcome} already`;
    if (entry.by === null || entry.sinceMs === null || !this.#counts(entry)) return 'nothing decided it';
    if (entry.isAtOnce) return null;
    const waitMs = waitOf(this.config, entry.event);
    if (waitMs === null) return 'other bridges post it';
    return nowMs - entry.sinceMs >= waitMs ? null : `its turn comes in ${waitMs - (nowMs - entry.sinceMs)} ms`;
  }

  /** Since when it has been this bridge's to post, though it is not submitted; null where it is not. */
  dueSince(entry: OracleEntry): number | null {
    const waitMs = entry.isAtOnce ? 0 : waitOf(this.config, entry.event);
    if (waitMs === null || entry.sinceMs === null) return null;
    const readyMs = entry.sinceMs + waitMs;
    return this.faultOf(entry.key, readyMs) === null ? readyMs : null;
  }

  #judge(entry: OracleEntry, nowMs: number): void {
    const { event } = entry;
    if (event.eventStatus !== 'Scheduled') {
      Object.assign(entry, {
        ruling: null,
        dueMs: null,
        isDueOver: true,
        isDueLate: false,
        startedMs: entry.startedMs ?? nowMs,
      });
      // What the service refused stays refused, whatever starts it.
      const isOpen = entry.outcome === 'open' || entry.outcome === 'refused';
      if (isOpen && !isDecidedDry(entry)) entry.outcome = 'moot';
      return;
    }
    this.#sinceStart(entry);
    const ruling = rulingFor(this.config, event, nowMs);
    const dueMs = ruling.deadline && event.notBefore ? Date.parse(event.notBefore) - ruling.deadline.beforeMs : null;
    const isSame = entry.ruling !== null && entry.ruling.rule === ruling.rule && entry.dueMs === dueMs;
    if (!isSame) Object.assign(entry, { dueMs, isDueOver: dueMs === null || dueMs <= nowMs, isDueLate: false });
    entry.ruling = ruling;
    if (entry.outcome === 'submitted') return;
    const voters = entry.votes.map(({ approver }) => approver);
    this.#judgeVotes(entry, ruling, nowMs);
    this.#keepSinkHolds(entry, voters, nowMs);
  }

  /** Scheduled again: what was refused or part of a dry run stays so, unless it may have been accepted. */
  #sinceStart(entry: OracleEntry): void {
    const { occurrence, startedMs, outcome } = entry;
    entry.startedMs = null;
    if (startedMs === null || (outcome !== 'failed' && !isDecidedDry(entry))) return;
    if (this.isUnknownSince(occurrence, startedMs)) entry.outcome = 'moot';
  }

  /** Votes and rules, whoever holds. */
  #judgeVotes(entry: OracleEntry, ruling: OracleRuling, nowMs: number): void {
    const { event } = entry;
    if (!this.#counts(entry)) {
      const isDecided = ruling.then === 'approve' && (this.config.dryRun || !entry.isSpent || entry.holds.size > 0);
      // What lies there waits for the next yes, or for another dry run.
      if (!isDecided) return;
      reset(entry);
    } else if (this.config.dryRun && isDecidedDry(entry)) return;
    const standing = entry.votes.filter(
      (vote) => !hasGotWorse(vote.event, event) && refusalOf(this.config, ruling, vote.approver, event) === null,
    );
    if (entry.outcome !== 'failed') {
      this.voided += entry.votes.length - standing.length;
      if (this.config.dryRun && !entry.isDry) this.takenAlong += standing.length;
    }
    entry.votes = standing;
    if (entry.outcome === 'failed' && standing.length > 0 && entry.by === 'quorum' && !isByRule(entry, ruling)) return;
    this.#settle(entry, nowMs);
  }

  /** Sinks that are no more hold nothing; where a yes counts no more, the sinks of its approver hold again. */
  #keepSinkHolds(entry: OracleEntry, voters: readonly string[], nowMs: number): void {
    const { holdingSinks } = this.config;
    const gone = [...entry.holds].filter(
      ([owner, { approver }]) => owner.startsWith('sink ') && holdingSinks.get(owner.slice(5)) !== approver,
    );
    if (gone.length > 0)
      this.#lift(
        entry.key,
        gone.map(([owner]) => owner),
        nowMs,
      );
    const isAlive = this.#counts(entry);
    const counting = isAlive ? entry.votes.map(({ approver }) => approver) : [];
    const lost = voters.filter((approver) => !counting.includes(approver));
    const isHeldAgain =
      !isAdvice(entry.event) && [...holdingSinks.values()].some((approver) => lost.includes(approver));
    if (isHeldAgain) this.#change(entry.key, nowMs, () => this.#holdBySinks(entry, lost, nowMs, isAlive));
  }

  /** Those of these approvers; null: all. `isKept`: a hold that stands is not set again. */
  #holdBySinks(
    { event, holds }: OracleEntry,
    approvers: readonly string[] | null,
    nowMs: number,
    isKept = false,
  ): void {
    if (isAdvice(event)) return;
    for (const [sink, approver] of this.config.holdingSinks)
      if ((approvers?.includes(approver) ?? true) && !(isKept && holds.has(`sink ${sink}`)))
        holds.set(`sink ${sink}`, { approver, via: null, setMs: nowMs });
  }

  /** Not what was said before it started, or in a dry run that is over. */
  #counts({ outcome, isDry }: OracleEntry): boolean {
    return outcome !== 'moot' && (!isDry || this.config.dryRun);
  }

  #settle(entry: OracleEntry, nowMs: number, fallingMs: number | null = null): void {
    const { ruling, event } = entry;
    if (ruling === null) return;
    const { dryRun } = this.config;
    const isDue = fallingMs !== null || isStillDue(entry, ruling);
    const names = entry.votes.map(({ approver }) => approver);
    const byRule = ruling.then === 'approve' ? 'policy' : isDue ? 'deadline' : null;
    const isLeft = byRule === null || (entry.isSpent && !dryRun);
    entry.by = isEnough(this.config, ruling, event, names) ? 'quorum' : isLeft ? null : byRule;
    if (dryRun) entry.isSpent = entry.by !== null;
    const isReady = entry.by !== null && entry.holds.size === 0;
    const wasReady = entry.sinceMs !== null && entry.outcome !== 'failed';
    if (!isReady) entry.sinceMs = null;
    else if (!wasReady) entry.sinceMs = nowMs;
    entry.fellDue =
      entry.by !== null && isDue && entry.dueMs !== null ? { dueMs: entry.dueMs, rule: ruling.rule } : null;
    entry.isAtOnce = entry.by === 'quorum' && entry.votes.some(({ isShared }) => !isShared);
    entry.isDry = dryRun;
    entry.outcome = 'open';
  }

  #due(entry: OracleEntry, nowMs: number): void {
    if (entry.isDueOver || entry.ruling === null) return;
    const isSeen = this.#hasRead && !this.isBlind && entry.isListed;
    if (this.#isFull && isSeen) {
      entry.isDueLate = true;
      return;
    }
    Object.assign(entry, { isDueOver: true, isDueLate: false });
    const isAhead = entry.event.notBefore !== null && Date.parse(entry.event.notBefore) > nowMs;
    if (!isSeen || !isAhead || entry.ruling.deadline?.then !== 'approve') return;
    if (!this.#counts(entry)) {
      // No deadline decides once more what a dry run has decided.
      if (entry.isSpent) return;
      reset(entry);
    }
    const isWaiting = entry.outcome === 'open' && entry.by === null && (!entry.isSpent || this.config.dryRun);
    if (isWaiting) this.#settle(entry, nowMs, entry.dueMs);
  }

  /** Nobody asks again for what a rule decides, so the bridge does, a minute after the service refused it. */
  #again(entry: OracleEntry, nowMs: number): void {
    entry.isAgainLate = false;
    const { ruling, outcome } = entry;
    if (outcome !== 'failed' || ruling === null || !isByRule(entry, ruling)) return;
    if (this.#isFull) entry.isAgainLate = true;
    else this.#settle(entry, nowMs);
  }

  #change(key: string, nowMs: number, change: (entry: OracleEntry) => void, isYes = false): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    const isSubmitted = entry.outcome === 'submitted';
    if (!isSubmitted && !this.#counts(entry)) reset(entry);
    change(entry);
    // What the service refused comes up again by a yes, not by a hold that comes or goes.
    if (!isSubmitted && (isYes || entry.outcome !== 'failed')) this.#settle(entry, nowMs);
  }

  #release(key: string, command: OracleCommand, nowMs: number): void {
    const entry = this.entries.get(key);
    if (entry) this.#lift(key, this.#lifted(command, entry), nowMs);
  }

  #lift(key: string, owners: readonly string[], nowMs: number): void {
    this.#change(key, nowMs, (entry) => {
      for (const owner of owners) entry.holds.delete(owner);
      const isPast = entry.event.notBefore !== null && Date.parse(entry.event.notBefore) <= nowMs;
      if (entry.holds.size === 0 && entry.by === 'deadline' && isPast)
        Object.assign(entry, { by: null, sinceMs: null, fellDue: null });
    });
  }

  #vote(
    key: string,
    approver: string,
    { isShared, hasSeen }: Pick<OracleVote, 'isShared' | 'hasSeen'>,
    nowMs: number,
  ): void {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.event.eventStatus !== 'Scheduled') return;
    const earlier = this.#counts(entry) ? entry.votes.find((vote) => vote.approver === approver) : undefined;
    const isNearer = earlier?.isShared === true && !isShared;
    const isAnew = entry.outcome === 'failed';
    const isNewlySeen = earlier?.hasSeen === false && hasSeen;
    if (earlier && !isAnew) Object.assign(earlier, { hasSeen: earlier.hasSeen || hasSeen });
    if (earlier && !isNearer && !isAnew && !isNewlySeen) return;
    if (earlier === undefined || isAnew) this.recorded++;
    this.#change(
      key,
      nowMs,
      ({ event, votes }) => {
        const vote = {
          approver,
          isShared: earlier && !isAnew && !isNearer ? earlier.isShared : isShared,
          hasSeen: (!isAnew && earlier?.hasSeen === true) || hasSeen,
          event: isAnew ? event : (earlier?.event ?? event),
        };
        entry.votes = earlier ? votes.map((each) => (each === earlier ? vote : each)) : [...votes, vote];
      },
      true,
    );
  }

  #voteVerdict({ approver, sentMs }: OracleCommand, { key, seen }: OracleRequest): OracleVerdict {
    const found = this.#find(key, sentMs);
    if (typeof found === 'string') {
      const entry = this.entries.get(key);
      return found === 'started' && entry?.votes.some((vote) => vote.approver === approver) ? null : found;
    }
    const { event, ruling, occurrence } = found;
    const refusal = ruling && refusalOf(this.config, ruling, approver, event);
    if (refusal || seen === undefined) return refusal;
    if (seen === 'nonsense' || seen.key !== key) return 'seen-unknown';
    return seen.occurrence !== occurrence || hasGotWorse(seen.event, event) ? 'changed' : null;
  }

  #holdVerdict({ approver, sentMs }: OracleCommand, key: string): OracleVerdict {
    const found = this.#find(key, sentMs);
    if (typeof found === 'string') return found;
    if (found.outcome === 'submitted') return 'submitted';
    if (found.ruling?.then === 'never') return 'forbidden';
    if (!isConcerned(this.config, approver, found.event)) return 'scope';
    const acceptance = this.acceptance(found.occurrence);
    return acceptance === 'surely' || (acceptance === 'perhaps' && !this.isHeld(key, approver)) ? 'submitting' : null;
  }

  /** One's own, else for an admin all there are. */
  #releaseVerdict({ approver, sentMs }: OracleCommand, key: string): OracleVerdict {
    const found = this.#find(key, sentMs);
    if (typeof found === 'string') return found;
    if ([...found.holds.values()].some((hold) => hold.approver === approver))
      return this.#lifted({ approver, sentMs }, found).length > 0 ? null : 'changed';
    if (found.holds.size === 0) return 'not-held';
    if (!this.#isAdmin(approver)) return 'forbidden';
    return this.#lifted({ approver, sentMs }, found).length > 0 ? null : 'changed';
  }

  #isAdmin(approver: string): boolean {
    return this.config.approvers[approver]?.admin === true;
  }

  /** The approver's own hold, else all: by an admin's message none that was set after it was sent. */
  #lifted({ approver, sentMs }: Pick<OracleCommand, 'approver' | 'sentMs'>, { holds }: OracleEntry): readonly string[] {
    const own = [...holds].filter(([, hold]) => hold.approver === approver).map(([owner]) => owner);
    const meant = own.length > 0 ? own : [...holds.keys()];
    const isLate = (holder: string) =>
      sentMs !== null && this.#isAdmin(approver) && (holds.get(holder)?.setMs ?? 0) > sentMs;
    return meant.filter((holder) => !isLate(holder));
  }

  #find(key: string, sentMs: number | null): OracleEntry | string {
    const entry = this.entries.get(key);
    const endedMs = this.#endedMs.get(key);
    if (entry === undefined) return endedMs === undefined ? 'unknown' : 'ended';
    if (sentMs !== null && endedMs !== undefined && sentMs < endedMs) return 'old';
    return entry.ruling === null ? 'started' : entry;
  }

  /** Whether a message refused so may be right later, if it is kept at all. */
  #mayCome({ sentMs, starts, holds, releases }: OracleCommand, verdict: OracleVerdict): boolean {
    if (verdict === 'submitting') return true;
    if (verdict !== 'unknown' && verdict !== 'ended') return false;
    const first = [...starts.map(({ key }) => key), ...holds, ...releases].find((key) => !this.entries.has(key)) ?? '';
    return (sentMs ?? 0) >= (this.#endedMs.get(first) ?? Number.NEGATIVE_INFINITY);
  }
}

function isAdvice({ eventType }: ScheduledEvent): boolean {
  return eventType === 'SpotRebalanceRecommendation';
}

function newEntry(key: string, occurrence: number, event: ScheduledEvent): OracleEntry {
  return {
    ...{ key, occurrence, event, isListed: true, ruling: null, dueMs: null, isDueOver: true, isDueLate: false },
    ...{ votes: [], holds: new Map<string, OracleHold>(), by: null, sinceMs: null, isAtOnce: false, fellDue: null },
    ...{
      isDry: false,
      isSpent: false,
      posted: null,
      outcome: 'open',
      failedMs: 0,
      isAgainLate: false,
      startedMs: null,
    },
  };
}

function isStillDue({ fellDue, dueMs }: OracleEntry, { rule, deadline }: OracleRuling): boolean {
  return fellDue !== null && fellDue.dueMs === dueMs && fellDue.rule === rule && deadline?.then === 'approve';
}

/** It would be decided without the approvers too. */
function isByRule(entry: OracleEntry, ruling: OracleRuling): boolean {
  return ruling.then === 'approve' || isStillDue(entry, ruling);
}

/** What was said counts no more; holds stand. */
function reset(entry: OracleEntry): void {
  Object.assign(entry, {
    votes: [],
    by: null,
    sinceMs: null,
    isAtOnce: false,
    fellDue: null,
    isDry: false,
    outcome: 'open',
  });
}

/** Decided in a dry run, whoever looks at it now. */
function isDecidedDry({ isDry, by, holds, outcome }: OracleEntry): boolean {
  return isDry && by !== null && holds.size === 0 && outcome === 'open';
}
