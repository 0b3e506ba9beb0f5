// What one machine was told and what it posted → StartRequests that it must not or must have sent.
import type { Settings } from '../history.ts';
import type { Observation, Observed } from '../observation.ts';
import { ApprovalCase, type Holds } from './approval-case.ts';
import { BudgetUses } from './budget-uses.ts';
import { EarlierViews, type View } from './earlier-views.ts';
import type { Report } from './finding.ts';
import { Grounds } from './grounds.ts';
import { HoldOfAll } from './hold-of-all.ts';
import { isWorse, keyOf, type ListedEvent, type ReadDocument, readDocument } from './listed-event.ts';
import { MustPost } from './must-post.ts';
import { rulingOf } from './policy.ts';
import { type StartRequestParts, verdictOn } from './start-request.ts';
import { isDue, openSince } from './terms.ts';

/** A kill so soon after the answer may come before it is stored. */
const STORED_MS = 1000;
/** The answer if nothing could be recorded. A StartRequest that the service refused is answered 502. */
const NOT_STORED = 503;
/** Documents that are further apart than this count as trouble. */
const STEADY_MS = 7000;
/** A message for an event that no document lists waits for 60 s. */
const PARKED_MS = 50_000;

export interface OpenEvent {
  readonly occurrence: number;
  /** It names this machine, or did in this occurrence. */
  readonly isOwn: boolean;
  readonly event: ListedEvent;
}

export class Approvals {
  readonly #report: Report;
  #settings: Settings;
  /** Those before a reload count in its moment, too. */
  #before: { readonly settings: Settings; readonly untilMs: number } | null = null;
  /** A reload of these has begun, and no outcome of it is known yet. */
  #coming: Settings | null = null;
  #document: { readonly read: ReadDocument; readonly atMs: number } | null = null;
  readonly #earlier = new EarlierViews();
  readonly #cases = new Map<string, ApprovalCase>();
  /** Somebody may hold it whose hold was not confirmed, or came by the topic. */
  readonly #mayBeHeld = new Set<string>();
  readonly #holdOfAll = new HoldOfAll();
  readonly #budgets = new BudgetUses(this.#cases);
  readonly #grounds: Grounds;
  readonly #mustPost: MustPost;
  /** Programs that have ended well, before the bridge knows it. */
  readonly #ended = new Map<string, string>();
  /** Approvals of the topic: their events, as the bridge knew them when it was told. */
  readonly #messages = new Map<string, { readonly key: string; readonly event: ListedEvent | null }>();
  /** Events that the bridge did not know when it settled their approval. */
  readonly #parked = new Map<string, number>();
  readonly #requests = new Map<number, Observed<'request'>>();
  /** Requests without an answer yet, for events that the bridge may be about to see. */
  readonly #early = new Map<number, Observed<'request'>>();
  /** Holds that a release may have ended, by its request, until it is answered. */
  readonly #released = new Map<number, { readonly one: ApprovalCase; readonly holds: Holds }>();
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
    this.#settings = settings;
    this.#report = report;
    this.#grounds = new Grounds(name, this.#budgets);
    this.#mustPost = new MustPost(name, this.#budgets, report);
  }

  /** @param open the events that the bridge knows, after a document was read */
  see(each: Observation, open: ReadonlyMap<string, OpenEvent>): unknown {
    switch (each.kind) {
      case 'begun':
        this.#settings = each.settings;
        this.#document = null;
        this.#earlier.forget();
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
            one.carriedMs = this.#grounds.carriedOver(one, each.settings, this.#grounds.ruledSince(one, before, each));
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
        return this.#told(each);
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
          if ((one.submittedMs ?? 0) > each.atMs - STORED_MS || this.#grounds.hasFailedSince(one.submittedMs ?? 0))
            one.submittedMs = null;
        return this.#disturbed();
      case 'commit-failed':
        this.#grounds.commitFailed(each.atMs);
        return this.#disturbed();
      case 'jumped':
        this.#parked.clear();
        for (const one of this.#cases.values()) one.hasJumped = true;
        this.#budgets.jumped(each.atMs);
        return this.#disturbed();
      case 'thawed':
        this.#earlier.thawed(each.atMs);
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
    this.#earlier.keep({ document: this.#document, cases: this.#cases }, atMs);
    this.#document = { read: readDocument(text), atMs };
    for (const [key, { occurrence, event, isOwn }] of open) {
      const holding = this.#holdingSink(isOwn);
      let one = this.#cases.get(key);
      if (one?.occurrence !== occurrence) {
        one = new ApprovalCase(occurrence, event, atMs);
        if (event.EventStatus === 'Scheduled') one.heldBySink = holding;
        this.#cases.set(key, one);
        if (atMs - (this.#parked.get(key) ?? Number.NEGATIVE_INFINITY) < PARKED_MS) this.#voteByTopic(one);
        this.#parked.delete(key);
      } else {
        const ruledMs = this.#grounds.ruledSince(one, this.#settings, { atMs, wallMs });
        const hasChanged = event !== one.event;
        const isUnprepared = one.seen(event).get(holding ?? '');
        // What it prepared for is worse now, so it holds the event again.
        if (isUnprepared === true) one.heldBySink = holding;
        if (isUnprepared === false) this.#mayBeHeld.add(key);
        if (hasChanged) one.carriedMs = this.#grounds.carriedOver(one, this.#settings, ruledMs);
      }
      one.isOwn = isOwn;
      // The bridge may handle them after this document.
      for (const early of this.#early.values()) if (keyOf(early.event) === key) this.#mayCount(early, one);
      if (event.EventStatus === 'Started' && one.holders.size > 0 && one.acceptedMs === null)
        if (!this.startedUnderHold.has(key)) this.startedUnderHold.set(key, atMs);
      this.#look(one, atMs, wallMs);
    }
    for (const [key, one] of this.#cases) {
      if (open.has(key)) continue;
      this.#budgets.ended(key, one, atMs);
      this.#cases.delete(key);
    }
    for (const one of this.#cases.values()) this.#lookAtTerms(one, atMs, wallMs);
  }

  /** Between two documents too: has a window been open? */
  #lookAtTerms(one: ApprovalCase, atMs: number, wallMs: number): void {
    const ruling = rulingOf(this.#settings.approvals, one.event);
    one.openMs ??= openSince(one, ruling, atMs, wallMs);
    this.#grounds.carry(one, this.#settings, { atMs, wallMs });
  }

  /** At a document: has a deadline been reached, and must this have been posted? */
  #look(one: ApprovalCase, atMs: number, wallMs: number): void {
    if (isDue(rulingOf(this.#settings.approvals, one.event), one.event, wallMs)) one.wasDue = true;
    if (this.#settings.approvals.dryRun) one.wasDry = true;
    const listed = this.#document?.read.events.find(({ EventId }) => EventId === one.event.EventId);
    const isStopped = listed?.EventStatus !== 'Scheduled' || this.#mayBeStopped(one);
    this.#mustPost.look(one, this.#settings, isStopped, { atMs, wallMs });
  }

  #mayBeStopped(one: ApprovalCase): boolean {
    if (this.#holdOfAll.isPossible || one.holders.size > 0 || one.heldBySink !== null) return true;
    return this.#mayBeHeld.has(keyOf(one.event.EventId)) || this.#holdingSink(one.isOwn) !== null;
  }

  #told({ act, event, message, atMs, wallMs }: Observed<'told'>): void {
    const key = keyOf(event);
    if (act === 'approve') {
      const one = this.#cases.get(key);
      this.#grounds.told(key, atMs);
      this.#mayVote(key, 'desk');
      this.#messages.set(message, { key, event: one?.event ?? null });
      if (one !== undefined) this.#grounds.carry(one, this.#settings, { atMs, wallMs });
    }
    if (act === 'hold') this.#mayBeHeld.add(key);
    this.#disturbed(key);
  }

  #asked(request: Observed<'request'>): void {
    this.#requests.set(request.request, request);
    if (request.event === '*') {
      this.#holdOfAll.asked(request.request);
      this.#disturbed();
      return;
    }
    const one = this.#cases.get(keyOf(request.event));
    if (request.act === 'approve') this.#mayVote(keyOf(request.event), request.as);
    if (request.act !== 'hold') this.#early.set(request.request, request);
    if (one === undefined) return;
    if (request.act !== 'hold') this.#mayCount(request, one);
    one.freeMs = null;
  }

  /** From now on, the bridge may handle this yes or release of the event. */
  #mayCount(request: Observed<'request'>, one: ApprovalCase): void {
    if (request.act === 'approve') {
      one.vote(request.as, true, request.request);
      this.#grounds.carry(one, this.#settings, request);
    }
    if (request.act === 'release') this.#mayRelease(request, one);
  }

  /** Until it is answered, it may be handled after each document. */
  #mayRelease({ request, as }: Observed<'request'>, one: ApprovalCase): void {
    const before = this.#released.get(request);
    // An admin may release the holds of others, those of sinks too.
    const isOfAll = this.#settings.approvals.approvers[as]?.admin === true;
    const { holders, heldBySink } = one.release(isOfAll ? null : as);
    const earlier = before?.one === one ? before.holds : null;
    this.#released.set(request, {
      one,
      holds: {
        holders: [...(earlier?.holders ?? []), ...holders],
        heldBySink: earlier?.heldBySink ?? heldBySink,
      },
    });
  }

  /**
   * A release that is refused ends no hold. Without a clear answer, it may have ended it. An admin who holds the event
   * releases only the own hold (docs/approve/approvals.md#holding).
   */
  #repliedToRelease({ request, event, as }: Observed<'request'>, isRefused: boolean, isClear: boolean): void {
    const { one, holds } = this.#released.get(request) ?? {};
    this.#released.delete(request);
    if (one === undefined || holds === undefined) return;
    const held = [...holds.holders, ...(holds.heldBySink === null ? [] : [holds.heldBySink])];
    const isInDoubt = isClear ? holds.holders.includes(as) && held.length > 1 : held.length > 0;
    if (isRefused) one.holdAgain(holds);
    else if (isInDoubt) this.#mayBeHeld.add(keyOf(event));
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
    if (asked.act === 'release') this.#repliedToRelease(asked, isRefused, status === 204);
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

  /**
   * The yes of the topic is stored: with its event, or until the bridge reads that. A process that has ended may have
   * stored it, too, before the event got worse.
   */
  #settled({ message, atMs }: Observed<'settled'>): void {
    const told = this.#messages.get(message);
    if (told === undefined) return;
    const one = this.#cases.get(told.key);
    if (one === undefined) this.#parked.set(told.key, atMs);
    else if (told.event === null || !isWorse(told.event, one.event)) this.#voteByTopic(one);
    this.#disturbed(told.key);
  }

  /** A yes that the rule of the event forbids is refused, and does not count later either. */
  #voteByTopic(one: ApprovalCase): void {
    if (rulingOf(this.#settings.approvals, one.event).then !== 'never') one.votedByTopic('desk');
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

  #posted(key: string, at: Observed<'posted'>): void {
    const { atMs } = at;
    const verdicts = this.#views(atMs).map((view) => verdictOn(key, view, at, this.#startRequestParts(atMs)));
    const possible = verdicts.filter(({ wrongs }) => wrongs.length === 0);
    const [newest] = verdicts;
    if (possible.length === 0) for (const { fault, what } of newest?.wrongs ?? []) this.#report(fault, atMs, what);
    const [first] = possible;
    if (first?.restsOn != null && possible.every(({ restsOn }) => restsOn === first.restsOn))
      this.#postedOn.set(first.restsOn, key);
    for (const { one, usesBudget } of verdicts) if (one !== undefined) one.usesBudget = usesBudget;
    const one = newest?.one;
    if (one === undefined) return;
    one.wasPosted = true;
    one.postedMs = atMs;
    // What was posted for the event of before is judged again once the bridge knows how it has changed.
    if (possible.some((verdict) => verdict.one?.event !== one.event)) one.usesBudget = false;
    one.mayBeAccepted = true;
  }

  /** The newest first. */
  #views(atMs: number): readonly View[] {
    return [{ document: this.#document, cases: this.#cases }, ...this.#earlier.at(atMs)];
  }

  #startRequestParts(atMs: number): StartRequestParts {
    const old = this.#before?.untilMs === atMs ? [this.#before.settings] : [];
    return {
      grounds: this.#grounds,
      budgets: this.#budgets,
      settings: [this.#settings, ...old, ...(this.#coming === null ? [] : [this.#coming])],
      isAllHeld: this.#holdOfAll.isCertain,
      isHeldBySink: ({ heldBySink }) => heldBySink !== null && this.#holdsBy(heldBySink),
      isOpen: (request) => this.#early.has(request),
    };
  }

  #answered({ post, status, atMs }: Observed<'answered'>): void {
    for (const eventId of this.#posts.get(post) ?? []) {
      const key = keyOf(eventId);
      if (status === 200) this.accepted.set(key, (this.accepted.get(key) ?? 0) + 1);
      for (const { cases } of this.#views(atMs)) {
        const one = cases.get(key);
        if (one === undefined) continue;
        if (status !== null && status !== 200) one.mayBeAccepted = false;
        // Whatever is neither accepted nor tried again is not in use any more.
        if (status !== null && status >= 400 && status < 500) one.usesBudget = false;
        if (status === 200) one.submittedMs = atMs;
      }
    }
  }

  #mayVote(key: string, approver: string): void {
    const voters = this.voters.get(key) ?? new Set();
    this.voters.set(key, voters.add(approver));
  }

  /**
   * The approver for whom a sink holds the events that it is sent; such sinks filter by `changes` alone.
   * @param isOwn whether the event names this machine, or has
   */
  #holdingSink(isOwn: boolean): string | null {
    const { publish, sinks } = this.#settings;
    if (publish.resources === 'own' && !isOwn) return null;
    return Object.values(sinks).find(({ hold, approve }) => hold === true && approve !== undefined)?.approve ?? null;
  }

  #holdsBy(approver: string | null): boolean {
    return Object.values(this.#settings.sinks).some(({ hold, approve }) => hold === true && approve === approver);
  }
}
