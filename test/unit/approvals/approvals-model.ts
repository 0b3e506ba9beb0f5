// Commands of a service, approvers, a disk → Approvals in virtual time, and the oracle beside them.
import assert from 'node:assert/strict';
import type { ApprovalTransaction } from '../../../src/approvals/store.ts';
import { BridgeError } from '../../../src/errors.ts';
import { RequestRate, type Room } from '../../../src/metadata/request-rate.ts';
import type { EventApproval, PostResult } from '../../../src/model/approvals.ts';
import type {
  ApprovalChange,
  EventChange,
  Instant,
  KnownEvent,
  Phase,
  ScheduledEvent,
} from '../../../src/model/events.ts';
import type { NextStep } from '../../../src/model/next-step.ts';
import { now } from '../../../src/time/clock.ts';
import { scheduledEvent } from '../../support/events.ts';
import { MemoryApprovalStore } from '../../virtual/memory-approval-store.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { Oracle, type OracleCommand, type OracleEntry } from './approvals-oracle.ts';
import type { OracleConfig } from './approvals-oracle-rules.ts';
import {
  type Answer,
  answerOf,
  ask,
  type Channel,
  killed,
  type Process,
  processOf,
  send,
} from './approvals-process.ts';

/** Where the next transaction that the model begins kills the process: before it is on disk, or right after. */
export type Kill = 'before' | 'after';

/** A message that waits for the answer to a StartRequest. */
interface Waiting {
  readonly command: OracleCommand;
  readonly id: string;
  readonly process: Process;
  readonly untilMs: number;
}

/** No deadline, a whole second, ever falls due at the moment of another command. */
const START_MS = Date.UTC(2026, 0, 1) + 500;

export class ApprovalsModel {
  readonly time = new VirtualTime({ startMs: START_MS });
  readonly store = new MemoryApprovalStore();
  readonly oracle = new Oracle();
  readonly faults: string[] = [];
  /** StartRequests that the service accepted. */
  accepted = 0;
  posts = 0;
  /** Each StartRequest for one event, in order. */
  readonly posted: { readonly key: string; readonly atMs: number }[] = [];
  /** Events in one request. */
  most = 0;
  answers: Answer[] = [];
  isAway = false;
  /** The service takes one StartRequest at a time. */
  isCrowded = false;
  kill: Kill | null = null;
  readonly #service = new Map<string, { readonly event: ScheduledEvent; readonly isListed: boolean }>();
  readonly #rate = new RequestRate({ pollIntervalMs: 1000, elapsedMs: this.time.elapsedMs });
  readonly #steps = new Map<number, string>();
  readonly #seenIds: string[] = [];
  #known: ReadonlyMap<string, KnownEvent> = new Map();
  #readAt: Instant | null = null;
  /** The last document could not be stored. */
  #isBehind = false;
  #goodAt: Instant | null = null;
  #occurrences = 0;
  #voided = 0;
  #takenAlong = 0;
  /**
   * By occurrence: its approvals were `submitting`, and no answer to a StartRequest will come any more: one was surely
   * made, or perhaps.
   */
  readonly #unanswered = new Map<number, { readonly key: string; readonly wasMade: boolean }>();
  #messages = 0;
  readonly #waiting = new Set<Waiting>();
  /** By a StartRequest, whose answer may be away. */
  readonly #startedByPost = new Set<string>();
  /** Documents that a process read beside its polls, and how many they were when an event was last posted. */
  #reads = 0;
  readonly #readsAt = new Map<string, number>();
  #phase: 'commands' | 'judges' | null = null;
  #process: Process;

  constructor(config: OracleConfig) {
    this.oracle.acceptance = (occurrence) => this.#acceptance(occurrence);
    this.oracle.isHeld = (key, approver) => this.#isHeld(key, approver);
    this.oracle.isUnknownSince = (occurrence, sinceMs) => this.#isUnknownSince(occurrence, sinceMs);
    this.#process = this.#open(config);
  }

  get config(): OracleConfig {
    return this.#process.config;
  }

  get seenIds(): readonly string[] {
    return this.#seenIds;
  }

  nextStep(eventId: string): NextStep {
    return this.#process.approvals.nextStep(eventId.toLowerCase()).nextStep;
  }

  event(eventId: string): ScheduledEvent | undefined {
    return this.#service.get(eventId.toLowerCase())?.event;
  }

  /** The service lists it so from now on. */
  list(eventId: string, fields: Partial<ScheduledEvent>): void {
    const before = this.event(eventId) ?? scheduledEvent({ eventId });
    this.#service.set(eventId.toLowerCase(), { event: { ...before, ...fields }, isListed: true });
  }

  /** Left out of documents, which in a new epoch proves nothing; not while a refused StartRequest is looked into. */
  hide(eventId: string, isListed: boolean): void {
    const key = eventId.toLowerCase();
    const listed = this.#service.get(key);
    const entry = this.oracle.entries.get(key);
    const isAsked = entry && (this.#process.posting.has(entry.occurrence) || entry.outcome === 'refused');
    if (listed && !isAsked) this.#service.set(key, { ...listed, isListed });
  }

  end(eventId: string): void {
    this.#service.delete(eventId.toLowerCase());
  }

  goBlind(): void {
    this.isAway = true;
    this.oracle.isBlind = true;
  }

  fill(isFull: boolean): void {
    this.store.fault = isFull ? new BridgeError('BRIDGE_STORE_FULL', 'the disk is full') : null;
    this.oracle.full(isFull);
  }

  /** One good document, handled as the pipeline does; nothing where there is none or it cannot be stored. */
  poll(): void {
    if (this.isAway) return;
    this.tick();
    const { approvals } = this.#process;
    const at = now(this.time);
    const next = new Map<string, KnownEvent>();
    const changes: EventChange[] = [];
    for (const [key, { event, isListed }] of this.#service) {
      const before = this.#known.get(key);
      if (before === undefined && !isListed) continue;
      const occurrence = before?.occurrence ?? ++this.#occurrences;
      const known = {
        key,
        occurrence,
        apiVersion: '2020-07-01',
        epoch: 1,
        listed: isListed,
        lastListedAt: null,
        missing: null,
      };
      next.set(key, { ...known, event: isListed || before === undefined ? event : before.event });
      if (isListed && before?.event !== event)
        changes.push(changeOf(before ? phaseOf(event) : 'scheduled', key, occurrence, event, at));
    }
    for (const [key, { occurrence, event }] of this.#known)
      if (!next.has(key)) changes.push(changeOf('ended', key, occurrence, event, at));
    const commits: (() => void)[] = [];
    const isStored = this.#during('judges', () => {
      const sinks = [...this.config.holdingSinks.keys()];
      const firstSent = ({ phase }: EventChange) => (phase === 'scheduled' ? sinks : []);
      this.#transact((transaction) => commits.push(approvals.observe(transaction, changes, firstSent)));
    });
    this.#isBehind = !isStored && changes.length > 0;
    if (!isStored) {
      this.#reopened();
      return;
    }
    this.#known = next;
    this.#readAt = at;
    this.#goodAt = { ...at, elapsedMs: null };
    for (const change of changes) this.#committed(change, at);
    for (const [key, { listed }] of next) this.#markListed(key, listed);
    if (this.#reopened()) return;
    this.oracle.isBlind = false;
    for (const commit of commits) commit();
    approvals.documentHandled();
    this.oracle.documentHandled(at.wallMs);
  }

  /** A yes, a hold or a release, by somebody whose name is proven; the answer is the one that the oracle gives. */
  async perform(channel: Channel, command: OracleCommand, seen: string | undefined): Promise<void> {
    const { oracle } = this;
    this.tick();
    const isAwaited = [...command.holds, ...command.releases].some((key) =>
      this.#isOnItsWay(this.#known.get(key)?.occurrence ?? 0),
    );
    // What a queue's reader does not know goes back after a pause; other tests look at that.
    const isGivenBack = !oracle.hasRead || isAwaited || ['unknown', 'ended'].includes(oracle.verdictOf(command) ?? '');
    // No message comes through a source for an approver that it may not act for.
    if (
      (channel === 'queue' && isGivenBack) ||
      (channel === 'topic' && this.config.unauthorized.includes(command.approver))
    )
      return;
    if (channel === 'topic' && isAwaited && oracle.hasRead) return this.#sendLater(command, seen);
    const said: string[] = [];
    const isStored = this.#during('commands', () => {
      if (channel === 'http') ask(this.#process, command, seen, said);
      else void send(this.#process, command, { source: channel, id: `message ${this.#messages++}`, seen });
    });
    const verdict = oracle.verdictOf(command);
    if (isStored) {
      if (channel !== 'http') oracle.message(command, this.time.wallMs());
      else if (verdict === null) oracle.apply(command, this.time.wallMs());
    }
    this.#reopened();
    await this.time.advance(0);
    if (channel === 'http' && isStored) this.#compareAnswer(verdict, said);
  }

  /** A message that holds or releases what is on its way: judged by the answer, 2 s later at the latest. */
  #sendLater(command: OracleCommand, seen: string | undefined): void {
    const id = `message ${this.#messages++}`;
    const waiting: Waiting = { command, id, process: this.#process, untilMs: this.time.wallMs() + 2000 };
    this.#waiting.add(waiting);
    send(this.#process, command, { source: 'topic', id, seen }).catch(() => this.#waiting.delete(waiting));
  }

  /** What a transaction has made of messages that waited for an answer. */
  #judgeWaiting(): void {
    for (const waiting of this.#waiting) {
      const { command, id, process } = waiting;
      const state = this.store.messages.find('topic', id);
      if (process.isDead) this.#waiting.delete(waiting);
      if (process.isDead || state === null) continue;
      this.#waiting.delete(waiting);
      const verdict = this.oracle.verdictOf(command);
      const refusal = state.kind === 'handled' ? (state.refusal?.reason ?? null) : verdict;
      if (refusal !== verdict) this.faults.push(`${id} was ${refusal ?? 'settled'} and not ${verdict ?? 'settled'}`);
      this.oracle.message(command, this.time.wallMs());
    }
  }

  /** Stored, or released by now by a message that was tried in the same turn. */
  #isHeld(key: string, approver: string): boolean {
    const occurrence = this.#known.get(key)?.occurrence ?? 0;
    const isOwn = (each: { approver: string | null; via: string | null }) =>
      each.approver === approver && !each.via?.startsWith('sink:');
    const { steps } = this.store.approvals.record(occurrence, { after: 0, limit: 1_000_000 });
    const isSetNow = steps.some((each) => each.step === 'held' && each.atMs === this.time.wallMs() && isOwn(each));
    return isSetNow || (this.store.stored(key, occurrence)?.holds.some(isOwn) ?? false);
  }

  #isUnknownSince(occurrence: number, sinceMs: number): boolean {
    const { steps } = this.store.approvals.record(occurrence, { after: 0, limit: 1_000_000 });
    return this.#isOnItsWay(occurrence) || steps.some(({ step, atMs }) => step === 'unknown' && atMs >= sinceMs);
  }

  #isOnItsWay(occurrence: number): boolean {
    const { posting, accepted } = this.#process;
    const state = this.store.approvals.of(occurrence)?.state ?? 'none';
    return posting.has(occurrence) || (accepted.has(occurrence) && !['submitted', 'confirmed'].includes(state));
  }

  #acceptance(occurrence: number): 'no' | 'perhaps' | 'surely' {
    if (this.#isOnItsWay(occurrence) || this.#process.lost.has(occurrence)) return 'surely';
    return this.#unanswered.has(occurrence) ? 'perhaps' : 'no';
  }

  /** A sink's delivery of this CloudEvent has gone well: it is stored with the yes of its approver, or both are not. */
  async prepare(sink: string, approver: string, seenId: string): Promise<void> {
    const seen = this.store.journal.seen(seenId);
    if (seen === null) return;
    this.tick();
    const before = this.store.settled.length;
    const starts = [{ key: seen.key, seen }];
    const command = { approver, isShared: false, via: null, sentMs: null, holds: [], releases: [], starts };
    const verdict = this.oracle.sinkVerdictOf(sink, command);
    const failed = () =>
      this.store.published.filter(({ phase, reason }) => phase === 'failed' && reason === verdict).length;
    const failedBefore = failed();
    const isStored = this.#during('commands', () => {
      const { approvals } = this.#process;
      approvals.settle(
        { sink, approver },
        [{ seq: ++this.#messages, result: 'accepted', approves: seenId }],
        this.time.wallMs(),
      );
    });
    if (isStored && verdict === null) this.oracle.prepared(sink, command, this.time.wallMs());
    assert.equal(this.store.settled.length - before, Number(isStored), 'the delivery is stored with what it says');
    if (verdict !== null) assert.equal(failed() - failedBefore, Number(isStored), 'a refused yes is told');
    this.#reopened();
    await this.time.advance(0);
  }

  /** A process ends, by kill -9 or in order, and one with this configuration begins. */
  async restart(config: OracleConfig, inOrder: boolean): Promise<void> {
    this.tick();
    this.oracle.stop();
    const { approvals } = this.#process;
    if (inOrder) {
      void approvals[Symbol.asyncDispose]();
      await this.time.advance(6000);
    }
    this.fill(false);
    this.#process = this.#open(config);
  }

  /**
   * These rules from now on, or those before where it cannot be stored. A process that is killed meanwhile is followed
   * by one of the new rules.
   */
  async reload(config: OracleConfig): Promise<void> {
    this.tick();
    const process = this.#process;
    const before = process.config;
    const next = { ...config, ownName: before.ownName };
    process.config = next;
    let isApplied = false;
    const isStored = this.#during('judges', () => {
      process.approvals.reload({ ...next, windows: {}, budgets: {} });
      isApplied = true;
    });
    if (isApplied || isStored) this.oracle.reload(next, this.time.wallMs());
    else if (!process.isDead) process.config = before;
    this.#reopened();
    await this.time.advance(0);
  }

  /** What fell due up to now. */
  tick(): void {
    this.oracle.catchUp(this.time.wallMs());
  }

  async wait(ms: number): Promise<void> {
    await this.time.advance(ms);
    this.tick();
  }

  /** Memory, disk and oracle say the same, and records only grow. */
  check(): void {
    this.tick();
    for (const { id, untilMs, process } of this.#waiting)
      if (!process.isDead && this.time.wallMs() > untilMs) this.faults.push(`${id} waits for more than 2 s`);
    assert.deepEqual(this.faults, []);
    for (const { key, occurrence } of this.#known.values()) this.#compare(key, occurrence);
    this.#checkUnknown();
    const told = (phase: string) => this.store.published.filter((change) => change.phase === phase);
    assert.equal(told('recorded').length, this.oracle.recorded, 'approval.recorded once for each vote');
    assert.equal(this.#voided, this.oracle.voided, 'approval.failed once for each vote that became void');
    assert.equal(
      this.#takenAlong,
      this.oracle.takenAlong,
      'approval.failed once for each vote that a dry run took along',
    );
    const submitted = told('submitted').map(({ occurrence }) => occurrence);
    assert.equal(new Set(submitted).size, submitted.length, 'approval.submitted once for each occurrence');
    assert.ok(submitted.length <= this.accepted, 'approval.submitted without an accepted StartRequest');
  }

  /** Everything that has been decided and this bridge's turn for `graceMs` since then has been posted. */
  checkComplete(sinceMs: number, graceMs: number): void {
    for (const entry of this.oracle.entries.values()) {
      const dueSinceMs = this.oracle.dueSince(entry);
      const isMissing = dueSinceMs !== null && this.time.wallMs() - Math.max(dueSinceMs, sinceMs) > graceMs;
      assert.ok(!isMissing, `no StartRequest for ${entry.key}, which ${entry.by} decided`);
      const stored = this.store.stored(entry.key, entry.occurrence);
      if (entry.event.eventStatus === 'Started')
        assert.notEqual(stored?.state, 'submitted', `${entry.key} is Started, but not confirmed`);
    }
  }

  /**
   * What may have been accepted is never said to be moot, nor refused or part of a dry run at its end; nothing else is
   * said to be unknown.
   */
  #checkUnknown(): void {
    for (const [occurrence, { key, wasMade }] of this.#unanswered) {
      const state = this.store.stored(key, occurrence)?.state ?? 'none';
      const isOver = this.oracle.entries.get(key)?.occurrence !== occurrence;
      const isDenied = state === 'moot' || (isOver && ['failed', 'dry-run'].includes(state));
      assert.ok(!wasMade || !isDenied, `${key} is ${state}, though nobody knows what became of its StartRequest`);
      if (!['unknown', 'submitted', 'confirmed'].includes(state)) continue;
      this.#unanswered.set(occurrence, { key, wasMade: false });
      this.#process.lost.delete(occurrence);
    }
    const unknown = this.store.approvals.open().filter(({ state }) => state === 'unknown');
    for (const { key, occurrence } of unknown) {
      const isInDoubt = this.#unanswered.has(occurrence) || this.#process.posting.has(occurrence);
      assert.ok(isInDoubt, `${key} is unknown for no reason`);
    }
  }

  /**
   * Of a process that is dead, or ends. The next one knows whether it was this bridge's turn to post as long as the
   * group is the same. The record tells it of one that was on its way when its approval became void, held, or part of a
   * dry run.
   */
  #abandon(process: Process, next: OracleConfig): void {
    for (const { key, occurrence, state } of this.store.approvals.open()) {
      const isPosting = process.posting.has(occurrence);
      const isKnown =
        isPosting && (state === 'submitting' ? process.posting.get(occurrence) === groupOf(next) : state !== 'unknown');
      const wasMade = isKnown || this.#unanswered.get(occurrence)?.wasMade === true;
      if (state === 'submitting' || isPosting) this.#unanswered.set(occurrence, { key, wasMade });
    }
  }

  #room(reads: number): Room {
    const { posts, inMs } = this.#rate.room(reads);
    return { posts: this.isCrowded ? Math.min(posts, 1) : posts, inMs };
  }

  #read(): void {
    this.#rate.sent('GET');
    this.#reads++;
    this.poll();
  }

  #compareAnswer(verdict: string | null, said: readonly string[]): void {
    const late = ['changed', 'refused'];
    if (verdict === null)
      assert.ok(
        said.every((type) => late.includes(type)),
        `refused as ${said.join()}`,
      );
    else assert.deepEqual(said, [verdict]);
  }

  /** Whether what is begun here is on disk, or needed no disk. */
  #during(phase: 'commands' | 'judges', work: () => void): boolean {
    this.#phase = phase;
    const kill = this.kill;
    try {
      work();
    } catch (error) {
      if (!this.#process?.isDead && !this.store.fault) throw error;
    } finally {
      this.#phase = null;
    }
    const isKilled = kill !== null && this.kill === null;
    return isKilled ? kill === 'after' : this.store.fault === null;
  }

  #transact<T>(work: (transaction: ApprovalTransaction) => T): T {
    const { kill, store } = this;
    if (kill !== null && this.#phase !== null && store.fault === null) {
      this.kill = null;
      if (kill === 'after') this.#written(() => store.commit(work));
      if (this.#process) this.#process.isDead = true;
      throw killed();
    }
    return this.#written(() => store.commit(work));
  }

  #written<T>(transact: () => T): T {
    const before = this.store.published.length;
    const failedBefore = new Set([...this.oracle.entries.values()].filter((entry) => this.#hasFailed(entry)));
    const result = transact();
    for (const change of this.store.published.slice(before)) this.#told(change);
    this.#judgeWaiting();
    for (const entry of this.oracle.entries.values())
      if (this.#hasFailed(entry) && !failedBefore.has(entry)) this.#refused(entry);
    return result;
  }

  #told({ phase, key, reason, occurrence }: ApprovalChange): void {
    const entry = this.oracle.entries.get(key);
    const isOfEntry = entry?.occurrence === occurrence;
    if (phase === 'failed' && reason === 'changed' && this.#phase === 'judges') this.#voided++;
    if (phase === 'failed' && reason === 'dry-run') this.#takenAlong++;
    if (phase === 'failed' && reason === 'refused' && isOfEntry) {
      if (entry.holds.size > 0 || entry.by === null)
        this.faults.push(`${key} was told failed, though nothing was to be posted any more`);
    }
    if (phase !== 'submitted' || !isOfEntry) return;
    if (!this.#process.accepted.has(entry.occurrence))
      this.faults.push(`${key} was told submitted, which nobody accepted`);
    this.#mustNotBeHeld(key, occurrence);
    this.oracle.concluded(entry, 'submitted', this.time.wallMs());
  }

  /** A hold that was confirmed holds; what a sink sets by itself was confirmed to nobody. */
  #mustNotBeHeld(key: string, occurrence: number | null): void {
    const holds = this.store.stored(key, occurrence ?? 0)?.holds ?? [];
    for (const { approver, via } of holds)
      if (!via.startsWith('sink:')) this.faults.push(`${key} was accepted under a hold of ${approver}`);
  }

  #hasFailed({ key, occurrence }: OracleEntry): boolean {
    return this.store.stored(key, occurrence)?.state === 'failed';
  }

  /** Told once, though a rule's decision is refused each minute. */
  #refused(entry: OracleEntry): void {
    const isTold = this.store.published.some(
      ({ phase, reason, occurrence }) => phase === 'failed' && reason === 'refused' && occurrence === entry.occurrence,
    );
    if (!isTold) this.faults.push(`${entry.key} failed, and nobody was told`);
    this.oracle.concluded(entry, 'failed', this.time.wallMs());
  }

  #committed({ phase, id, key, occurrence, event }: EventChange, { wallMs }: Instant): void {
    if (phase === 'ended') {
      this.store.end(key, occurrence, wallMs);
      this.oracle.ended(key, wallMs);
      return;
    }
    this.oracle.changed(key, occurrence, event, wallMs);
    if (phase === 'started' && this.#startedByPost.delete(key)) this.#mustNotBeHeld(key, occurrence);
    if (phase === 'started') return;
    this.store.seenEvents.set(id, { change: phase, key, occurrence, event });
    this.#seenIds.push(id);
  }

  #markListed(key: string, isListed: boolean): void {
    const entry = this.oracle.entries.get(key);
    if (entry) entry.isListed = isListed;
  }

  /** A process that was killed is followed by one of the same configuration. */
  #reopened(): boolean {
    if (!this.#process.isDead) return false;
    this.#forgetTies();
    this.oracle.stop();
    this.#process = this.#open(this.#process.config);
    return true;
  }

  /** Of deadlines that fell due in the very millisecond of the kill, those count that the process came to. */
  #forgetTies(): void {
    for (const entry of this.oracle.entries.values()) {
      const isTie = entry.fellDue?.dueMs === this.time.wallMs();
      if (isTie && !this.store.stored(entry.key, entry.occurrence)?.decision)
        Object.assign(entry, { by: null, sinceMs: null, fellDue: null });
    }
  }

  #open(config: OracleConfig): Process {
    if (this.#process) {
      this.#process.isDead = true;
      this.#abandon(this.#process, config);
    }
    this.#readAt = null;
    this.#isBehind = false;
    const process = processOf(config, this.store, this.time, {
      events: () => this.#known,
      lastReadAt: () => this.#readAt,
      lastGoodAt: () => this.#goodAt,
      isBehind: () => this.#isBehind,
      room: (reads) => this.#room(reads),
      isBlind: () => this.oracle.isBlind,
      poll: () => this.#read(),
      post: (from, eventIds) => this.#post(from, eventIds),
      commit: (work) => this.#transact(work),
    });
    this.#process = process;
    const isStored = this.#during('judges', () => process.approvals.start());
    if (isStored) this.oracle.start(config, this.time.wallMs());
    return process.isDead ? this.#open(config) : process;
  }

  async #post(process: Process, eventIds: readonly string[]): Promise<PostResult> {
    this.#rate.sent('POST');
    const named = eventIds.map((eventId) => this.#judgePost(process, eventId));
    this.posts += named.length;
    for (const { key } of named) this.posted.push({ key, atMs: this.time.wallMs() });
    this.most = Math.max(this.most, named.length);
    for (const { occurrence } of named) process.posting.set(occurrence, groupOf(process.config));
    const answer = this.isAway ? 'again' : (this.answers.shift() ?? 'accepted');
    for (const eventId of answer.endsWith('starts') ? eventIds : [])
      if (this.event(eventId)) {
        this.list(eventId, { eventStatus: 'Started', notBefore: null });
        this.#startedByPost.add(eventId.toLowerCase());
      }
    const result = await answerOf(this.time, answer);
    if (process.isDead) return result;
    for (const { occurrence } of named) process.posting.delete(occurrence);
    this.tick();
    for (const { key, occurrence } of named) this.#answered(process, result, key, occurrence, named.length);
    return result;
  }

  #answered(process: Process, result: PostResult, key: string, occurrence: number, together: number): void {
    if (result.kind === 'again' && result.mayHaveArrived) {
      this.#unanswered.set(occurrence, { key, wasMade: true });
      process.lost.add(occurrence);
    }
    if (result.kind === 'accepted') {
      this.accepted++;
      process.accepted.add(occurrence);
    }
    // Of several it may be another one that is to blame.
    if (result.kind !== 'refused' || (result.status === 400 && together > 1)) return;
    const entry = this.oracle.entries.get(key);
    // What became void or held meanwhile, or part of a dry run, was not to be posted any more.
    const isWanted = entry?.occurrence === occurrence && entry.sinceMs !== null && !entry.isDry;
    if (isWanted && entry.outcome === 'open') entry.outcome = 'refused';
  }

  #judgePost({ accepted, posting }: Process, eventId: string): { readonly key: string; readonly occurrence: number } {
    this.tick();
    const key = eventId.toLowerCase();
    const occurrence = this.#known.get(key)?.occurrence ?? 0;
    const readAgoMs = this.#readAt === null ? Number.POSITIVE_INFINITY : this.time.wallMs() - this.#readAt.wallMs;
    const fault = this.oracle.posted(key, this.time.wallMs());
    const isProtected = this.oracle.isProtected(key);
    const faults = [
      fault,
      eventId === this.#known.get(key)?.event.eventId ? null : 'it is not written as the service does',
      readAgoMs <= 10_000 ? null : 'the document is too old',
      isProtected && this.#reads === this.#readsAt.get(key) ? 'the document was not read anew' : null,
      isProtected && readAgoMs > 0 ? 'the document was read some time ago' : null,
      accepted.has(occurrence) ? 'the service has accepted it' : null,
      posting.has(occurrence) ? 'another one is under way' : null,
    ].filter((each) => each !== null);
    this.#readsAt.set(key, this.#reads);
    if (faults.length > 0) this.faults.push(`a StartRequest for ${key}, though ${faults.join(', and ')}`);
    return { key, occurrence };
  }

  #compare(key: string, occurrence: number): void {
    const stored = this.store.stored(key, occurrence);
    const entry = this.oracle.entries.get(key);
    assert.equal(entry?.occurrence, occurrence);
    const memory = this.#process.approvals.approvalOf(key, occurrence);
    if (memory !== null) assert.deepEqual(onDisk(memory), stored && onDisk(stored), `${key} in memory and on disk`);
    assert.deepEqual(
      (stored?.holds ?? []).map(({ approver }) => approver).sort(),
      [...entry.holds.values()].map(({ approver }) => approver).sort(),
      `holds of ${key}`,
    );
    const isPlain =
      stored !== undefined && !['moot', 'unknown'].includes(stored.state) && stored.isDryRun === this.config.dryRun;
    const votes = stored?.votes.map(({ approver, isShared }) => `${approver} ${isShared}`);
    if (isPlain)
      assert.deepEqual(
        votes,
        entry.votes.map(({ approver, isShared }) => `${approver} ${isShared}`),
        `votes for ${key}`,
      );
    const wasPassedBy = stored !== undefined && ['moot', 'unknown'].includes(stored.state);
    const isSaid = wasPassedBy && stored.votes.length + stored.holds.length > 0;
    const { state, approvedBy } = this.#process.approvals.summary(key) ?? {};
    if (isSaid && entry.ruling !== null && entry.ruling.then !== 'never')
      assert.deepEqual(
        [state, approvedBy],
        [entry.holds.size > 0 ? 'held' : 'waiting', []],
        `${key} is Scheduled again`,
      );
    const steps = JSON.stringify(this.store.approvals.record(occurrence, { after: 0, limit: 1_000_000 }).steps).slice(
      0,
      -1,
    );
    assert.ok(steps.startsWith(this.#steps.get(occurrence) ?? ''), `the record of ${key} only grows`);
    this.#steps.set(occurrence, steps);
  }
}

function groupOf({ group, ownName }: OracleConfig): string {
  return JSON.stringify([group, ownName]);
}

let changes = 0;

function changeOf(phase: Phase, key: string, occurrence: number, event: ScheduledEvent, at: Instant): EventChange {
  return {
    ...{ kind: 'event', phase, id: `${key}:${phase}:${++changes}`, key, occurrence, event, at },
    ...{ previousStatus: null, changedFields: [], outcome: null, withoutNotice: false, incarnation: 1 },
  };
}

function phaseOf({ eventStatus }: ScheduledEvent): Phase {
  return eventStatus === 'Started' ? 'started' : 'updated';
}

/** Without what only this process knows. */
function onDisk(approval: EventApproval): unknown {
  return JSON.parse(JSON.stringify(approval, (name, value: unknown) => (name === 'elapsedMs' ? undefined : value)));
}
