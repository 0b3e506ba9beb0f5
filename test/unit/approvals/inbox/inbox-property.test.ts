// Any order of messages, repeats, crashes, failing stores → one effect for each, none too much.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ApprovalMessage } from '../../../../adapters/approval-source.ts';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { EventApproval } from '../../../../src/model/approvals.ts';
import { hasWorsened } from '../../../../src/model/worsened.ts';
import { ApprovalsFixture, startRequests } from '../../../virtual/approvals-fixture.ts';
import { letter } from '../../../virtual/inbox-fixture.ts';

const IDS = ['A', 'B'];
const IMPACTS = ['Freeze', 'Reboot', 'Terminate'];
const id = fc.constantFrom(...IDS);

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('send'), ids: fc.uniqueArray(id, { minLength: 1 }), source: fc.nat(2) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat'), message: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('list'), id, impact: fc.constantFrom(...IMPACTS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('start', 'end'), id }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('crash', 'poll', 'full', 'room') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(1, 1000, 7000, 61_000) }) },
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

const SOURCES = [
  { source: 'topic', approver: 'orders', canGiveBack: false },
  { source: 'other', approver: 'billing', canGiveBack: false },
  { source: 'queue', approver: 'orders', canGiveBack: true },
] as const;

interface Sent {
  readonly message: ApprovalMessage;
  readonly origin: (typeof SOURCES)[number];
  /** What each take of it said that was not an error. */
  readonly verdicts: string[];
}

/** The model, and what may be expected of it whatever happens. */
class InboxModel {
  readonly fixture = new ApprovalsFixture();
  readonly sent: Sent[] = [];
  readonly #pending: Promise<unknown>[] = [];
  readonly #opened: Approvals[] = [];
  /** Null while the disk is too full for a start. */
  #approvals: Approvals | null = null;

  constructor() {
    this.#start();
  }

  async perform(given: Command): Promise<void> {
    const { fixture } = this;
    if (given.kind === 'send' && 'ids' in given) {
      const origin = SOURCES[given.source] ?? SOURCES[0];
      this.sent.push({ message: letter(fixture, startRequests(...given.ids)), origin, verdicts: [] });
      await this.#take(this.sent.length - 1);
    } else if (given.kind === 'repeat' && 'message' in given)
      await this.#take(given.message % Math.max(1, this.sent.length));
    else if (given.kind === 'wait' && 'ms' in given) await fixture.time.advance(given.ms);
    else if (given.kind === 'crash') this.#crash();
    else if (given.kind === 'full') fixture.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    else if (given.kind === 'room') fixture.store.fault = null;
    else this.#see(given);
    this.#check();
  }

  /** Everything comes to rest: the disk has room, what was not settled comes again, and time passes. */
  async end(): Promise<void> {
    await this.perform({ kind: 'room' });
    await this.perform({ kind: 'poll' });
    for (const index of this.sent.keys()) await this.#take(index);
    for (let round = 0; round < 8; round++) {
      await this.fixture.time.advance(10_000);
      this.fixture.poll();
    }
    await Promise.all(this.#pending);
    this.#check();
  }

  async close(): Promise<void> {
    const closed = this.#opened.map((approvals) => approvals[Symbol.asyncDispose]());
    await this.fixture.time.advance(6000);
    await Promise.all(closed);
  }

  #crash(): void {
    this.fixture.forgetReading();
    this.#start();
  }

  /**
   * As the bridge does: where it fails, nobody takes messages or polls, and the next poll tries again with another one.
   */
  #start(): void {
    this.#approvals = null;
    try {
      this.#approvals = this.fixture.open({ required: 'all' });
      this.#opened.push(this.#approvals);
    } catch (error) {
      assert.equal(error, this.fixture.store.fault);
    }
  }

  #see(given: Command): void {
    const { fixture } = this;
    const before = 'id' in given ? fixture.service.get(given.id.toLowerCase()) : undefined;
    if (given.kind === 'list' && 'impact' in given)
      fixture.list(given.id, { eventType: given.impact, eventStatus: 'Scheduled' });
    if (given.kind === 'start' && 'id' in given && before) fixture.list(given.id, { eventStatus: 'Started' });
    if (given.kind === 'end' && 'id' in given) fixture.end(given.id);
    if (this.#approvals === null) this.#start();
    if (this.#approvals === null) return;
    try {
      fixture.poll();
    } catch (error) {
      assert.ok(fixture.store.fault, String(error));
    }
  }

  async #take(index: number): Promise<void> {
    const sent = this.sent[index];
    if (sent === undefined || this.#approvals === null) return;
    const { message, origin, verdicts } = sent;
    const said = this.#approvals.take(origin, message).then(
      (verdict) => verdicts.push(typeof verdict === 'object' ? verdict.reason : verdict),
      () => {},
    );
    this.#pending.push(said);
    await this.fixture.time.advance(0);
  }

  #check(): void {
    for (const approval of this.fixture.store.approvals.open())
      if (approval.state !== 'moot') this.#checkVotes(approval);
  }

  /** No vote stands for an event that is worse than when it was recorded, or by messages of an occurrence before. */
  #checkVotes({ key, occurrence, votes, state }: EventApproval): void {
    const { fixture } = this;
    const known = fixture.known(key);
    if (known?.occurrence !== occurrence) return;
    for (const vote of votes) {
      const isJudged = fixture.store.fault === null && state === 'waiting';
      if (isJudged) assert.ok(!hasWorsened(vote.event, known.event), `${vote.approver} approved a milder ${key}`);
      const endedMs = fixture.store.known.lastEndedMs(key);
      const meant = this.sent.filter(
        ({ message, origin }) => origin.approver === vote.approver && namesOf(message).includes(key),
      );
      assert.ok(
        meant.some(({ message }) => endedMs === null || message.sentMs >= endedMs),
        `${key} is approved by messages of an earlier occurrence`,
      );
    }
  }
}

function namesOf({ body }: ApprovalMessage): readonly string[] {
  const { StartRequests: list } = JSON.parse(new TextDecoder().decode(body ?? undefined)) as {
    StartRequests: { EventId: string }[];
  };
  return list.map(({ EventId }) => EventId.toLowerCase());
}

test('for any interleaving each message has exactly one effect, and no approval stands for what it was not given for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
      const model = new InboxModel();
      const { fixture, sent } = model;
      try {
        for (const each of commands) await model.perform(each);
        await model.end();
        const count = (...results: readonly string[]) =>
          fixture.messages.filter((told) => results.some((result) => told.endsWith(` ${result}`))).length;
        const final = sent.filter(({ verdicts }) => verdicts.some((verdict) => verdict !== 'giveBack'));
        assert.equal(count('settled', 'refused'), final.length, 'each message that was dealt with was so once');
        assert.equal(fixture.store.messages.parked().length, 0, 'nothing waits for ever');
        for (const { verdicts, origin } of sent) {
          const told = new Set(verdicts.filter((verdict) => verdict !== 'giveBack'));
          assert.ok(
            told.size <= 1 || (told.size === 2 && told.has('settle') && !origin.canGiveBack),
            [...told].join(' '),
          );
          if (!origin.canGiveBack) assert.ok(verdicts.length > 0, 'a message without a verdict');
        }
        const refusals = fixture.store.published.filter(
          ({ phase, reason }) => phase === 'failed' && reason !== 'changed',
        );
        assert.equal(refusals.length, count('refused'));
      } finally {
        await model.close();
      }
    }),
    { numRuns: 300 },
  );
});

test('for any crashes one message approves one event once, and it is submitted once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Command['kind']>('crash', 'repeat', 'poll'), { maxLength: 30 }),
      async (kinds) => {
        const fixture = new ApprovalsFixture();
        const opened = [fixture.open()];
        const origin = SOURCES[0];
        const message = letter(fixture, startRequests('A'));
        fixture.list('A');
        fixture.poll();
        for (const kind of ['repeat', ...kinds]) {
          if (kind === 'crash') {
            await fixture.time.advance(0);
            fixture.forgetReading();
            opened.push(fixture.open());
          }
          if (kind === 'poll') fixture.poll();
          if (kind === 'repeat') assert.equal(await opened.at(-1)?.take(origin, message), 'settle');
        }
        fixture.poll();
        await fixture.time.advance(20_000);
        assert.deepEqual(
          fixture.store.told.filter((told) => told === 'approval.recorded orders'),
          ['approval.recorded orders'],
        );
        assert.deepEqual(
          fixture.store.told.filter((told) => told === 'approval.submitted orders'),
          ['approval.submitted orders'],
        );
        const closed = opened.map((approvals) => approvals[Symbol.asyncDispose]());
        await fixture.time.advance(6000);
        await Promise.all(closed);
      },
    ),
    { numRuns: 100 },
  );
});
