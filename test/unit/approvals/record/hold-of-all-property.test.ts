// Random documents, yeses, kills → nothing posted under a hold of everything, all due after it.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { isOfAll } from '../../../../src/model/hold-owner.ts';
import {
  ACCEPTED,
  type ApprovalSettings,
  ApprovalsFixture,
  again,
  caller,
  LOST,
  REFUSED,
  RULES,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const RUNS = Number(process.env['HOLD_OF_ALL_RUNS'] ?? 400);
const SEED = Number(process.env['HOLD_OF_ALL_SEED'] ?? 30);
const SECOND_MS = 1000;
const KEYS = ['event-1', 'event-2', 'event-3', 'drill-00000000-0000-4000-8000-000000000004'] as const;
const ADMINS = ['ops', 'chief'] as const;
const APPROVERS = { orders: {}, billing: {}, ops: { admin: true }, chief: { admin: true } };

const AT_DEADLINE: PolicyRule = {
  when: { impacts: ['Redeploy'] },
  then: 'wait',
  deadline: { beforeMs: 60 * SECOND_MS, then: 'approve' },
};
const BY_RULE: PolicyRule = { when: { impacts: ['Freeze'] }, then: 'approve' };
const SETTINGS: readonly ApprovalSettings[] = [
  { approvers: APPROVERS, policy: [BY_RULE, AT_DEADLINE] },
  { approvers: APPROVERS, required: 2, policy: [AT_DEADLINE] },
  { approvers: APPROVERS, policy: [{ when: {}, then: 'approve' }] },
  { approvers: { orders: {}, chief: { admin: true } }, policy: [BY_RULE] },
  { approvers: APPROVERS, policy: [BY_RULE], dryRun: true },
  { approvers: APPROVERS, policy: [{ when: { impacts: ['Reboot'] }, then: 'never' }, BY_RULE] },
];

const key = fc.constantFrom(...KEYS);
const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('list' as const),
      key,
      eventType: fc.constantFrom('Freeze', 'Redeploy', 'Reboot'),
      noticeS: fc.integer({ min: 30, max: 600 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('start' as const, 'end' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('yes' as const, 'message' as const),
      key,
      by: fc.constantFrom('orders', 'billing'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('hold' as const, 'release' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('hold all' as const, 'release all' as const),
      by: fc.constantFrom(...ADMINS),
      reason: fc.constantFrom('one', 'two'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('restart' as const, 'reload' as const),
      which: fc.nat({ max: SETTINGS.length - 1 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 90_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('answers' as const),
      answers: fc.array(fc.constantFrom(ACCEPTED, REFUSED, again(700), LOST), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('full' as const, 'away' as const), isOn: fc.boolean() }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** Polls each second of virtual time, and knows by its own bookkeeping whether the hold stands. */
class Play {
  readonly fixture = new ApprovalsFixture();
  settings: ApprovalSettings = SETTINGS[0] ?? {};
  approvals: Approvals;
  stands = false;
  messages = 0;
  /** StartRequests and accepted drills so far. */
  seen = 0;

  constructor() {
    this.approvals = this.fixture.open(this.settings);
  }

  get count(): number {
    return this.fixture.posts.length + this.fixture.drillsApproved.length;
  }

  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= SECOND_MS) {
      await this.fixture.time.advance(Math.min(leftMs, SECOND_MS));
      this.poll();
      await settle();
      this.check();
    }
  }

  poll(): void {
    if (!this.fixture.isAway && this.fixture.store.fault === null) this.fixture.poll();
  }

  check(): void {
    if (this.stands) assert.equal(this.count, this.seen, 'posted under a hold of everything');
    this.seen = this.count;
    const { holdOfAll } = this.approvals;
    assert.equal(holdOfAll !== null, this.stands, 'it stands as long as nobody releases it');
  }

  /** What a command does at once may be posted in the turn before a hold, never after. */
  async run(given: Command): Promise<void> {
    const { fixture, approvals } = this;
    if (given.kind === 'list') this.#list(given);
    if (given.kind === 'start' && fixture.service.has(given.key))
      fixture.list(given.key, { eventStatus: 'Started', notBefore: null });
    if (given.kind === 'end') fixture.end(given.key);
    if (given.kind === 'list' || given.kind === 'start' || given.kind === 'end') this.poll();
    if (given.kind === 'yes') approvals.request(caller(given.by), startRequests(given.key)).catch(() => {});
    if (given.kind === 'message') this.#send(given);
    if (given.kind === 'hold') this.#try(() => approvals.hold(caller('billing'), { EventId: given.key }));
    if (given.kind === 'release') this.#try(() => approvals.release(caller('billing'), given.key, null));
    if (given.kind === 'hold all') this.#holdAll(given.by, given.reason);
    if (given.kind === 'release all') this.#releaseAll(given.by);
    if (given.kind === 'restart') this.#restart(given.which);
    if (given.kind === 'reload') this.#reload(given.which);
    if (given.kind === 'answers') fixture.answers = [...given.answers];
    if (given.kind === 'away') fixture.isAway = given.isOn;
    if (given.kind === 'full')
      fixture.store.fault = given.isOn ? new BridgeError('BRIDGE_STORE_FULL', 'the disk is full') : null;
    if (given.kind === 'wait') await this.pass(given.ms);
    await settle();
    this.check();
  }

  #list({ key, eventType, noticeS }: Command & { kind: 'list' }): void {
    const notBefore = new Date(this.fixture.time.wallMs() + noticeS * SECOND_MS).toISOString();
    this.fixture.list(key, { eventType, notBefore, eventStatus: 'Scheduled' });
  }

  #send({ key, by }: Command & { kind: 'yes' | 'message' }): void {
    const body = new TextEncoder().encode(JSON.stringify(startRequests(key)));
    const message = { id: `${this.messages++}`, place: {}, body, sentMs: this.fixture.time.wallMs() };
    this.approvals.take({ source: 'topic', approver: by, canGiveBack: false }, message).catch(() => {});
  }

  #holdAll(by: string, reason: string): void {
    const isAdmin = by in (this.settings.approvers ?? {});
    const isChange = this.approvals.holdOfAll?.by !== by || this.approvals.holdOfAll.reason !== reason;
    this.approvals.holdAll(caller(by), reason).catch(() => {});
    if (isAdmin && (this.fixture.store.fault === null || !isChange)) this.stands = true;
    // What was posted in the same turn before it was on its way already.
    this.seen = this.count;
  }

  #releaseAll(by: string): void {
    const isAdmin = by in (this.settings.approvers ?? {});
    this.#try(() => this.approvals.releaseAll(caller(by), null));
    if (isAdmin && this.fixture.store.fault === null) this.stands = false;
  }

  #restart(which: number): void {
    this.fixture.store.fault = null;
    this.settings = SETTINGS[which] ?? {};
    this.approvals = this.fixture.open(this.settings);
    this.fixture.forgetReading();
  }

  #reload(which: number): void {
    const settings = SETTINGS[which] ?? {};
    const isStored = this.#try(() => this.approvals.reload({ ...RULES, ...settings }));
    if (isStored) this.settings = settings;
  }

  #try(work: () => unknown): boolean {
    try {
      work();
      return true;
    } catch (error) {
      assert.ok(error instanceof BridgeError, String(error));
      return false;
    }
  }

  /** The disk has room, the service answers, the hold ends: all that is decided is posted within seconds. */
  async finish(): Promise<void> {
    this.fixture.store.fault = null;
    this.fixture.isAway = false;
    this.fixture.answers = [];
    await this.pass(5 * SECOND_MS);
    const before = new Map(KEYS.map((each) => [each, this.#stored(each)]));
    this.approvals.reload({ ...RULES, ...this.settings, approvers: APPROVERS });
    this.#releaseAllForced();
    await this.pass(5 * SECOND_MS);
    // A refused decision is made again each minute, perhaps just now.
    if (KEYS.some((each) => this.#stored(each)?.state === 'submitting')) await this.pass(3 * SECOND_MS);
    for (const each of KEYS) {
      const approval = this.#stored(each);
      const known = this.fixture.known(each);
      assert.ok(!approval?.holds.some(isOfAll) || known?.event.eventStatus === 'Started', `${each} is still held`);
      if (known?.event.eventStatus !== 'Scheduled' || approval === undefined) continue;
      assert.notEqual(approval.state, 'submitting', `${each} is decided and was not posted`);
      const wasDue = before.get(each)?.decision?.by != null && approval.decision?.by != null && !approval.isDryRun;
      const isOpen = approval.state === 'waiting' || (approval.state === 'held' && approval.holds.length === 0);
      assert.ok(!(wasDue && isOpen), `${each} was due and is ${approval.state}`);
      if (
        this.#isByRule(known.event.eventType) &&
        approval.holds.length === 0 &&
        !approval.isDryRun &&
        !spent(approval)
      )
        assert.ok(['submitted', 'confirmed', 'unknown'].includes(approval.state), `${each} is ${approval.state}`);
    }
  }

  #releaseAllForced(): void {
    if (this.approvals.holdOfAll !== null) this.approvals.releaseAll(caller('chief'), null);
    this.stands = false;
  }

  #isByRule(eventType: string): boolean {
    if (this.settings.dryRun === true) return false;
    const { policy } = this.settings;
    const rules = Array.isArray(policy) ? (policy as readonly PolicyRule[]) : [];
    return rules.find(({ when }) => when.impacts?.includes(eventType) ?? true)?.then === 'approve';
  }

  #stored(each: string) {
    const known = this.fixture.known(each);
    return known && this.fixture.store.stored(each, known.occurrence);
  }
}

function spent({ decision }: { readonly decision: { readonly isSpent: boolean } | null }): boolean {
  return decision?.isSpent === true;
}

test('no order of events, approvals, kills and reloads posts anything under a hold of everything', async () => {
  let held = 0;
  let posts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 40, size: 'max' }), async (commands) => {
      const play = new Play();
      for (const each of commands) {
        await play.run(each);
        held += Number(play.stands);
      }
      await play.finish();
      posts += play.count;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  assert.ok(held > RUNS && posts > RUNS, `only ${held} commands under a hold, and ${posts} StartRequests`);
});
