// What one machine was told and what it posted → StartRequests that it must not or must have sent.
import type { Settings } from '../history.ts';
import type { Observation, Observed } from '../observation.ts';
import { ApprovalCase } from './approval-case.ts';
import type { Report } from './finding.ts';
import { HoldOfAll } from './hold-of-all.ts';
import { keyOf, type ListedEvent, notBeforeOf, type ReadDocument, readDocument } from './listed-event.ts';
import { isQuorum, type Ruling, rankOf, rulingOf, secondsOf } from './policy.ts';
import { exceeded, type Use } from './usage.ts';
import { openingAt, opensWithin } from './windows.ts';

/** A document must not be older when a StartRequest goes out. */
const FRESH_MS = 10_000;
/** A kill so soon after the answer may come before it is stored. */
const STORED_MS = 1000;
/** Nothing stands in the way of an approval for so long: then it must have been posted. */
const POSTED_MS = 20_000;
/** The answer if nothing could be recorded. A StartRequest that the service refused is answered 502. */
const NOT_STORED = 503;
/** Documents that are further apart than this count as trouble. */
const STEADY_MS = 7000;
/** The longest rest of a budget, and the furthest jump of a clock. */
const LONGEST_REST_MS = 10 * 60_000;
/** A message for an event that no document lists waits for 60 s. */
const PARKED_MS = 50_000;
/** How exactly the end of an event is known. */
const ENDED_WITHIN_MS = 5000;

export interface OpenEvent {
  readonly occurrence: number;
  readonly event: ListedEvent;
}

export class Approvals {
  readonly #name: string;
  readonly #report: Report;
  #settings: Settings;
  /** Those before a reload count in its moment, too. */
  #before: { readonly settings: Settings; readonly untilMs: number } | null = null;
  /** A reload of these has begun, and no outcome of it is known yet. */
  #coming: Settings | null = null;
  #document: { readonly read: ReadDocument; readonly atMs: number } | null = null;
  /** The one before. */
  #last: { readonly read: ReadDocument; readonly atMs: number } | null = null;
  #thawedMs = Number.NEGATIVE_INFINITY;
  #failedMs = Number.NEGATIVE_INFINITY;
  readonly #cases = new Map<string, ApprovalCase>();
  /** Somebody may hold it whose hold was not confirmed, or came by the topic. */
  readonly #mayBeHeld = new Set<string>();
  readonly #holdOfAll = new HoldOfAll();
  /** Events that have ended; those that were not in use for sure only count against an approval that must be. */
  #endedUses: (Use & { readonly isSure: boolean })[] = [];
  #jumpedMs = Number.NEGATIVE_INFINITY;
  /** Programs that have ended well, before the bridge knows it. */
  readonly #ended = new Map<string, string>();
  readonly #toldMs = new Map<string, number>();
  /** Approvals of the topic: the events of those that no process has settled yet. */
  readonly #messages = new Map<string, string>();
  /** Events that the bridge did not know when it settled their approval. */
  readonly #parked = new Map<string, number>();
  readonly #requests = new Map<number, Observed<'request'>>();
  /** Requests without an answer yet, for events that the bridge may be about to see. */
  readonly #early = new Map<number, Observed<'request'>>();
  /** Requests whose yes alone justified a StartRequest before they were answered. */
  readonly #postedOn = new Map<number, string>();
  readonly #posts = new Map<number, readonly string[]>();
  /** By event: when a document showed first that it had started although a hold was confirmed. */
  readonly startedUnderHold = new Map<string, number>();
  /** StartRequests that the process knows to be accepted, by event: for approval.submitted. */
  readonly accepted = new Map<string, number>();
  /** Whose yes may have been taken, by event. */
  readonly voters = new Map<string, Set<string>>();

  constructor(name: string, settings: Settings, report: Report) {
    this.#name = name;
    this.#settings = settings;
    this.#report = report;
  }

  /** @param open the events that the bridge knows, after a document was read */
  see(each: Observation, open: ReadonlyMap<string, OpenEvent>): unknown {
    switch (each.kind) {
      case 'begun':
        this.#settings = each.settings;
        this.#document = null;
        this.#coming = null;
        return this.#disturbed();
      case 'settings':
        this.#coming = each.outcome === 'asked' ? each.settings : null;
        if (each.outcome === 'applied') {
          const before = this.#settings;
          this.#before = { settings: before, untilMs: each.atMs };
          this.#settings = each.settings;
          for (const one of this.#cases.values()) {
            if (!this.#holdsBy(one.heldBySink)) one.heldBySink = null;
            one.usesBudget = false;
            one.carriedMs = this.#carriedOver(one, this.#ruledSince(one, before, each));
            one.doubtVotes();
          }
        }
        return this.#disturbed();
      case 'document':
        return this.#read(each, open);
      case 'request':
        return this.#asked(each);
      case 'reply':
        return this.#replied(each);
      case 'told':
        if (each.act === 'approve')
          this.#toldMs.set(keyOf(each.event), this.#toldMs.get(keyOf(each.event)) ?? each.atMs);
        if (each.act === 'approve') this.#mayVote(keyOf(each.event), 'desk');
        if (each.act === 'approve') this.#messages.set(each.message, keyOf(each.event));
        if (each.act === 'hold') this.#mayBeHeld.add(keyOf(each.event));
        return this.#disturbed(keyOf(each.event));
      case 'settled':
        return this.#settled(each);
      case 'prepared':
        return this.#ended.set(each.id, each.sink);
      case 'receipt':
        return this.#prepared(each);
      case 'posted':
        this.#posts.set(each.post, each.eventIds);
        for (const eventId of each.eventIds) this.#posted(keyOf(eventId), each);
        return null;
      case 'accepted':
        for (const eventId of each.eventIds) {
          const one = this.#cases.get(keyOf(eventId));
          if (one !== undefined) one.acceptedMs ??= each.atMs;
        }
        return null;
      case 'answered':
        return this.#answered(each);
      case 'gone':
        // A process that lives on keeps in memory what it could not store.
        for (const one of this.#cases.values())
          if ((one.submittedMs ?? 0) > each.atMs - STORED_MS || this.#failedMs >= (one.submittedMs ?? 0))
            one.submittedMs = null;
        return this.#disturbed();
      case 'commit-failed':
        this.#failedMs = each.atMs;
        return this.#disturbed();
      case 'jumped':
        this.#parked.clear();
        for (const one of this.#cases.values()) one.hasJumped = true;
        this.#jumpedMs = each.atMs;
        return this.#disturbed();
      case 'thawed':
        this.#thawedMs = each.atMs;
        return this.#disturbed();
      case 'frozen':
      case 'disk':
        return this.#disturbed();
      default:
        return null;
    }
  }

  /** @param key of the only event that is; default: all */
  #disturbed(key?: string): void {
    for (const [each, one] of this.#cases) if (key === undefined || each === key) one.freeMs = null;
  }

  #read({ text, atMs, wallMs }: Observed<'document'>, open: ReadonlyMap<string, OpenEvent>): void {
    if (text === null || atMs - (this.#document?.atMs ?? atMs) > STEADY_MS) this.#disturbed();
    if (text === null) return;
    for (const one of this.#cases.values()) this.#lookAtTerms(one, atMs, wallMs);
    this.#last = this.#document;
    this.#document = { read: readDocument(text), atMs };
    for (const [key, { occurrence, event }] of open) {
      let one = this.#cases.get(key);
      if (one?.occurrence !== occurrence) {
        one = new ApprovalCase(occurrence, event, atMs);
        if (event.EventStatus === 'Scheduled') one.heldBySink = this.#holdingSink(event);
        this.#cases.set(key, one);
        if (atMs - (this.#parked.get(key) ?? Number.NEGATIVE_INFINITY) < PARKED_MS) one.votedByTopic('desk');
        this.#parked.delete(key);
      } else {
        const holding = this.#holdingSink(event);
        const ruledMs = this.#ruledSince(one, this.#settings, { atMs, wallMs });
        const hasChanged = event !== one.event;
        // What it prepared for is worse now, so it holds the event again.
        if (one.seen(event).some((approver) => approver === holding)) one.heldBySink = holding;
        if (hasChanged) one.carriedMs = this.#carriedOver(one, ruledMs);
      }
      // The bridge may handle them after this document.
      for (const early of this.#early.values()) if (keyOf(early.event) === key) one.vote(early.as, true, early.request);
      if (event.EventStatus === 'Started' && one.holders.size > 0 && one.acceptedMs === null)
        if (!this.startedUnderHold.has(key)) this.startedUnderHold.set(key, atMs);
      this.#look(one, atMs, wallMs);
    }
    for (const [key, one] of this.#cases) {
      if (open.has(key)) continue;
      this.#endedUses.push({ key, event: one.event, endedMs: atMs, isSure: one.isInUse });
      this.#cases.delete(key);
    }
    for (const one of this.#cases.values()) this.#lookAtTerms(one, atMs, wallMs);
  }

  /** Between two documents too: has a window been open? */
  #lookAtTerms(one: ApprovalCase, atMs: number, wallMs: number): void {
    const ruling = rulingOf(this.#settings.approvals, one.event);
    one.openMs ??= openSince(one, ruling, atMs, wallMs);
  }

  /** Without a store nothing is taken back. At a thaw, the document may be new. */
  #mayFit(one: ApprovalCase, ruling: Ruling, atMs: number): boolean {
    return atMs === this.#thawedMs || atMs - this.#failedMs < FRESH_MS || this.#isWithin(one, ruling, atMs);
  }

  /** Whether the bridge may believe that no budget is exceeded. */
  #isWithin(one: ApprovalCase, { budgets }: Ruling, atMs: number): boolean {
    if (budgets.length === 0) return true;
    const open = [...this.#cases.values()].filter((other) => other !== one && other.isInUse).map(useOf);
    const hasJumped = atMs - this.#jumpedMs < LONGEST_REST_MS;
    const ended = hasJumped ? [] : this.#endedUses.filter(({ isSure }) => isSure);
    return exceeded(budgets, one.event, [...open, ...ended], atMs, -ENDED_WITHIN_MS) === null;
  }

  /** Whether no budget is exceeded, whatever the others came to. */
  #isSurelyWithin(one: ApprovalCase, { budgets }: Ruling, atMs: number): boolean {
    if (budgets.length === 0) return true;
    if (atMs - this.#jumpedMs < LONGEST_REST_MS) return false;
    const open = [...this.#cases.values()].filter((other) => other !== one).map(useOf);
    return exceeded(budgets, one.event, [...open, ...this.#endedUses], atMs, ENDED_WITHIN_MS) === null;
  }

  /** At a document: has a deadline been reached, and must this have been posted? */
  #look(one: ApprovalCase, atMs: number, wallMs: number): void {
    const ruling = rulingOf(this.#settings.approvals, one.event);
    if (isDue(ruling, one.event, wallMs)) one.wasDue = true;
    if (this.#settings.approvals.dryRun) one.wasDry = true;
    if (!this.#isFree(one, ruling, atMs, wallMs)) one.freeMs = null;
    else one.freeMs ??= atMs;
    if (one.freeMs !== null && atMs - one.freeMs > POSTED_MS) {
      this.#report('lost', atMs, `${one.event.EventId} must be approved since ${one.freeMs} ms, and was not posted`);
      one.wasPosted = true;
    }
  }

  /** Whether a rule or a quorum approves it and nothing is in the way. */
  #isFree(one: ApprovalCase, ruling: Ruling, atMs: number, wallMs: number): boolean {
    if (one.wasPosted || one.wasDry || one.event.EventStatus !== 'Scheduled') return false;
    const listed = this.#document?.read.events.find(({ EventId }) => EventId === one.event.EventId);
    if (listed?.EventStatus !== 'Scheduled' || this.#mayBeStopped(one)) return false;
    return this.#isSurelyVoted(one, ruling) || this.#isFreeByRule(one, ruling, atMs, wallMs);
  }

  #mayBeStopped(one: ApprovalCase): boolean {
    if (this.#holdOfAll.isPossible || one.holders.size > 0 || one.heldBySink !== null) return true;
    return this.#mayBeHeld.has(keyOf(one.event.EventId)) || this.#holdingSink(one.event) !== null;
  }

  #isFreeByRule(one: ApprovalCase, ruling: Ruling, atMs: number, wallMs: number): boolean {
    const { then: verdict, during } = ruling;
    if (verdict !== 'approve' || !this.#isSurelyWithin(one, ruling, atMs)) return false;
    if (during !== null && (one.hasJumped || !isOpen(ruling, wallMs) || !isAhead(one.event, wallMs))) return false;
    return this.#settings.approvals.group.submit === 'every' || rankOf(one.event, this.#name) === 0;
  }

  /**
   * A quorum that this bridge has stored. Neither windows nor budgets delay it, and the group does not if all of it was
   * said at its own endpoint.
   */
  #isSurelyVoted(one: ApprovalCase, ruling: Ruling): boolean {
    const isEnough = (votes: ApprovalCase['votes']) =>
      isQuorum(
        this.#settings.approvals,
        ruling,
        one.event,
        votes.map(({ approver }) => approver),
      );
    const sure = one.votes.filter(({ isSure }) => isSure);
    if (ruling.then === 'never' || !isEnough(sure)) return false;
    const isFirst = this.#settings.approvals.group.submit === 'every' || rankOf(one.event, this.#name) === 0;
    return isFirst || isEnough(sure.filter(({ isOwn }) => isOwn));
  }

  #asked(request: Observed<'request'>): void {
    this.#requests.set(request.request, request);
    if (request.event === '*') {
      this.#holdOfAll.asked(request.request);
      this.#disturbed();
      return;
    }
    const one = this.#cases.get(keyOf(request.event));
    if (request.act === 'approve') {
      this.#mayVote(keyOf(request.event), request.as);
      one?.vote(request.as, true, request.request);
      this.#early.set(request.request, request);
    }
    if (one === undefined) return;
    one.freeMs = null;
    if (request.act === 'hold') return;
    // An admin may release the holds of others, those of sinks too.
    const isOfAll = request.act === 'release' && this.#settings.approvals.approvers[request.as]?.admin === true;
    if (request.act === 'release') one.holders.delete(request.as);
    if (isOfAll) one.holders.clear();
    if (isOfAll || one.heldBySink === request.as) one.heldBySink = null;
  }

  #replied({ request, status, atMs }: Observed<'reply'>): void {
    const asked = this.#requests.get(request);
    this.#early.delete(request);
    const key = this.#postedOn.get(request);
    if (key !== undefined && status === NOT_STORED)
      this.#report('forbidden', atMs, `StartRequest for ${key}: the only yes was answered ${status}`);
    const one = asked && this.#cases.get(keyOf(asked.event));
    if (asked?.event === '*') this.#holdOfAll.replied(request, asked.act, status);
    if (asked?.event === '*') this.#disturbed();
    if (asked === undefined || one === undefined) return;
    const isRefused = status !== null && ((status >= 400 && status < 500) || status === NOT_STORED);
    if (asked.act === 'approve' && isRefused) one.refused(request);
    if (asked.act === 'approve' && (status === 200 || status === 202)) one.recorded(request);
    if (asked.act === 'hold' && status === 201) this.#confirmed(one, asked, atMs);
    else if (asked.act === 'hold' && (status === null || status >= 500)) this.#mayBeHeld.add(keyOf(asked.event));
    if (asked.act === 'hold') one.freeMs = null;
  }

  /** A hold that is confirmed stops the event: no StartRequest for it may have been accepted before. */
  #confirmed(one: ApprovalCase, { as, event }: Observed<'request'>, atMs: number): void {
    one.holders.add(as);
    if (one.acceptedMs !== null && !one.hasJumped)
      this.#report('forbidden', atMs, `${as} holds ${event}, which was accepted at ${one.acceptedMs} ms already`);
  }

  /** The yes of the topic is stored: with its event, or until the bridge reads that. */
  #settled({ message, atMs }: Observed<'settled'>): void {
    const key = this.#messages.get(message);
    if (key === undefined) return;
    const one = this.#cases.get(key);
    if (one === undefined) this.#parked.set(key, atMs);
    else one.votedByTopic('desk');
    this.#disturbed(key);
  }

  /** A yes counts from the moment at which the bridge is told that the program has ended. */
  #prepared({ sink, ids }: Observed<'receipt'>): void {
    for (const id of ids) {
      const approver = this.#settings.sinks[sink]?.approve;
      const key = id.slice(0, id.indexOf(':'));
      if (approver === undefined || this.#ended.get(id) !== sink) continue;
      const one = this.#cases.get(key);
      this.#mayVote(key, approver);
      // It prepared for what the event was before, and may have to hold it again.
      if (one !== undefined && !one.isToldBy(id)) this.#mayBeHeld.add(key);
      one?.vote(approver, true, null, true);
      if (one?.heldBySink === approver) one.heldBySink = null;
    }
  }

  #posted(key: string, { atMs, wallMs }: Observed<'posted'>): void {
    const wrong = (why: string) => this.#report('forbidden', atMs, `StartRequest for ${key}: ${why}`);
    const one = this.#cases.get(key);
    if (one === undefined) {
      wrong('this bridge knows no such event');
      return;
    }
    one.wasPosted = true;
    const listed = this.#listed(key, atMs);
    if (this.#document === null || atMs - this.#document.atMs > FRESH_MS) wrong('no good document of the last 10 s');
    if (listed?.EventStatus !== 'Scheduled') wrong('the last document does not list it as Scheduled');
    if (this.#holdOfAll.isCertain) wrong('an operator holds everything');
    if (one.holders.size > 0) wrong(`${[...one.holders].join(', ')} holds it`);
    if (one.heldBySink !== null && this.#holdsBy(one.heldBySink)) wrong('a sink holds it until it is prepared');
    if (one.submittedMs !== null)
      this.#report('twice', atMs, `${key} was accepted at ${one.submittedMs} ms, and posted again`);
    const old = this.#before?.untilMs === atMs ? [this.#before.settings] : [];
    const settings = [this.#settings, ...old, ...(this.#coming === null ? [] : [this.#coming])];
    // While nothing can be stored, what was stored last counts.
    const events = [listed ?? one.event, ...(atMs - this.#failedMs < FRESH_MS ? [one.event] : [])];
    const reasons = settings.flatMap((each) =>
      events.map((event) => this.#reasonAgainst(one, each, event, atMs, wallMs)),
    );
    if (!reasons.includes(null)) wrong(reasons[0] ?? '');
    this.#restsOn(one, key, () =>
      settings.some((each) => events.some((event) => this.#reasonAgainst(one, each, event, atMs, wallMs) === null)),
    );
    const ruling = rulingOf(this.#settings.approvals, one.event);
    one.usesBudget = ruling.budgets.length > 0 && !this.#isVoted(one, this.#settings, ruling, one.event);
    if (one.usesBudget && settings.length === 1) this.#checkTogether(one, ruling, atMs, wrong);
    one.mayBeAccepted = true;
  }

  /** As the last document has it; in the moment of a thaw, as the one before it, if that was Scheduled. */
  #listed(key: string, atMs: number): ListedEvent | undefined {
    const documents = atMs === this.#thawedMs ? [this.#document, this.#last] : [this.#document];
    const found = documents.flatMap((each) => each?.read.events.find(({ EventId }) => keyOf(EventId) === key) ?? []);
    return found.find(({ EventStatus }) => EventStatus === 'Scheduled') ?? found[0];
  }

  /** Those that rules have posted within a budget share it, whichever was decided first. */
  #checkTogether(one: ApprovalCase, { budgets }: Ruling, atMs: number, wrong: (why: string) => void): void {
    const others = [...this.#cases.values()].filter((other) => other !== one && other.usesBudget && other.isInUse);
    if (exceeded(budgets, one.event, others.map(useOf), atMs) !== null)
      wrong(`a budget is exceeded together with ${others.map(({ event }) => event.EventId).join(', ')}`);
  }

  #isVoted(one: ApprovalCase, { approvals }: Settings, ruling: Ruling, event: ListedEvent): boolean {
    const own = one.votes.map(({ approver }) => approver);
    return isQuorum(approvals, ruling, event, this.#toldMs.has(keyOf(event.EventId)) ? [...own, 'desk'] : own);
  }

  /** If only a yes that is not answered yet justifies the StartRequest, its answer must not be a refusal. */
  #restsOn(one: ApprovalCase, key: string, isJustified: () => boolean): void {
    const open = one.votes.filter(({ request }) => request !== null && this.#early.has(request));
    if (open.length !== 1 || !isJustified()) return;
    const { votes } = one;
    one.votes = votes.filter((vote) => !open.includes(vote));
    if (!isJustified()) this.#postedOn.set(open[0]?.request ?? -1, key);
    one.votes = votes;
  }

  /** Null if something justifies it under these settings. */
  #reasonAgainst(
    one: ApprovalCase,
    settings: Settings,
    event: ListedEvent,
    atMs: number,
    wallMs: number,
  ): string | null {
    const { approvals } = settings;
    if (approvals.dryRun) return 'this is a dry run';
    const ruling = rulingOf(approvals, event);
    if (ruling.then === 'never') return 'the rule says never';
    const own = one.votes.map(({ approver }) => approver);
    const toldMs = this.#toldMs.get(keyOf(event.EventId));
    const voters = toldMs === undefined ? own : [...own, 'desk'];
    const isVoted = this.#isVoted(one, settings, ruling, event);
    if (isVoted && one.votes.some(({ isOwn }) => isOwn)) return null;
    const byRule = this.#ruleSince(one, ruling, event, atMs, wallMs);
    const since = [
      ...(typeof byRule === 'number' ? [byRule] : []),
      ...(isVoted ? [Math.max(one.firstMs, toldMs ?? 0), one.carriedMs ?? Number.POSITIVE_INFINITY] : []),
    ];
    if (since.length === 0)
      return `no rule, deadline or quorum approves it: ${byRule}, and no quorum (${voters.join(', ') || 'nobody'} said yes)`;
    const { submit, failoverAfter = '10s' } = approvals.group;
    if (submit === 'every') return null;
    const rank = rankOf(event, this.#name);
    if (rank === null) return 'in this group only machines that the event names submit';
    const turnMs = Math.min(...since) + rank * secondsOf(failoverAfter) * 1000;
    return one.hasJumped || atMs >= turnMs ? null : `the turn of rank ${rank} comes at ${turnMs} ms`;
  }

  #ruledSince(
    one: ApprovalCase,
    { approvals }: Settings,
    { atMs, wallMs }: Pick<Observation, 'atMs' | 'wallMs'>,
  ): number | null {
    const since = this.#ruleSince(one, rulingOf(approvals, one.event), one.event, atMs, wallMs);
    return typeof since === 'number' ? since : null;
  }

  /** A decision of a rule stands without a break if approvers have decided when the rule no longer does. */
  #carriedOver(one: ApprovalCase, ruledMs: number | null): number | null {
    const isVoted = this.#isVoted(one, this.#settings, rulingOf(this.#settings.approvals, one.event), one.event);
    return isVoted ? (ruledMs ?? one.carriedMs) : null;
  }

  /** Since when its rule, or the deadline of that, approves it; or why it does not. */
  #ruleSince(one: ApprovalCase, ruling: Ruling, event: ListedEvent, atMs: number, wallMs: number): number | string {
    const isByDeadline = one.wasDue || isDue(ruling, event, wallMs);
    const openMs = ruling.then === 'approve' ? (one.openMs ?? openSince(one, ruling, atMs, wallMs)) : null;
    if (ruling.then !== 'approve' && !isByDeadline) return 'its rule does not approve';
    if (ruling.during !== null && !isByDeadline) {
      if (openMs === null) return 'no window of its rule has opened before NotBefore';
      if (!isOpen(ruling, wallMs)) return 'no window of its rule is open';
    }
    if (!this.#mayFit(one, ruling, atMs)) return 'a budget of its rule is exceeded';
    return ruling.during === null || isByDeadline ? one.firstMs : Math.max(one.firstMs, openMs ?? one.firstMs);
  }

  #answered({ post, status, atMs }: Observed<'answered'>): void {
    for (const eventId of this.#posts.get(post) ?? []) {
      const key = keyOf(eventId);
      const one = this.#cases.get(key);
      if (one !== undefined && status !== null && status !== 200) one.mayBeAccepted = false;
      // Whatever is neither accepted nor tried again is not in use any more.
      if (one !== undefined && status !== null && status >= 400 && status < 500) one.usesBudget = false;
      if (status !== 200) continue;
      this.accepted.set(key, (this.accepted.get(key) ?? 0) + 1);
      if (one !== undefined) one.submittedMs = atMs;
    }
  }

  #mayVote(key: string, approver: string): void {
    const voters = this.voters.get(key) ?? new Set();
    this.voters.set(key, voters.add(approver));
  }

  /** The approver for whom a sink holds the events that it is sent; such sinks filter by `changes` alone. */
  #holdingSink(event: ListedEvent): string | null {
    const { publish, sinks } = this.#settings;
    const isOwn = event.Resources.some((name) => name.toLowerCase() === this.#name.toLowerCase());
    if (publish.resources === 'own' && !isOwn) return null;
    return Object.values(sinks).find(({ hold, approve }) => hold === true && approve !== undefined)?.approve ?? null;
  }

  #holdsBy(approver: string | null): boolean {
    return Object.values(this.#settings.sinks).some(({ hold, approve }) => hold === true && approve === approver);
  }
}

function useOf({ event }: ApprovalCase): Use {
  return { key: keyOf(event.EventId), event, endedMs: null };
}

function isOpen({ during }: Ruling, wallMs: number): boolean {
  return during === null || during.some((window) => openingAt(window, wallMs) !== null);
}

function isAhead(event: ListedEvent, wallMs: number): boolean {
  const notBefore = notBeforeOf(event);
  return notBefore === null || wallMs < Date.parse(notBefore);
}

/** Since when a window has been open that is open now, in virtual time; null if none is, or NotBefore has passed. */
function openSince(one: ApprovalCase, { during }: Ruling, atMs: number, wallMs: number): number | null {
  const openings = (during ?? []).flatMap((window) => openingAt(window, wallMs) ?? []);
  if (openings.length === 0) return null;
  const fromMs = Math.min(...openings.map((opening) => opening.fromMs));
  const notBefore = notBeforeOf(one.event);
  if (notBefore !== null && fromMs >= Date.parse(notBefore)) return null;
  return Math.max(one.firstMs, atMs - (wallMs - fromMs));
}

function isDue(
  { then: verdict, approvedBeforeMs, during, otherwiseWaits }: Ruling,
  event: ListedEvent,
  wallMs: number,
): boolean {
  const notBefore = notBeforeOf(event);
  const endMs = notBefore === null ? wallMs : Date.parse(notBefore);
  const isLeftToDeadline = otherwiseWaits && !(during ?? []).some((window) => opensWithin(window, wallMs, endMs));
  return (
    (verdict === 'wait' || isLeftToDeadline) &&
    approvedBeforeMs !== null &&
    notBefore !== null &&
    wallMs >= Date.parse(notBefore) - approvedBeforeMs
  );
}
