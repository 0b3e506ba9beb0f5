// Any interleaving of messages, repeats, documents, crashes and failures of the store → each message has one effect, and none approves too much.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ApprovalMessage } from '../../../../adapters/adapter.ts';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { BridgeError } from '../../../../src/errors.ts';
import type { EventApproval } from '../../../../src/model/approvals.ts';
import { worse } from '../../../../src/model/worsened.ts';
import { ApprovalBench, startRequests } from '../../../virtual/approvals-fixture.ts';
import { letter } from '../../../virtual/inbox-fixture.ts';

const IDS = ['A', 'B'];
const IMPACTS = ['Freeze', 'Reboot', 'Terminate'];
const id = fc.constantFrom(...IDS);

const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send'), ids: fc.uniqueArray(id, { minLength: 1 }), source: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat'), message: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('list'), id, impact: fc.constantFrom(...IMPACTS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('start', 'end'), id }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('crash', 'poll', 'full', 'room') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(1, 1000, 7000, 61_000) }) },
);
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

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

/** The world, and what may be expected of it whatever happens. */
class World {
  readonly bench = new ApprovalBench();
  readonly sent: Sent[] = [];
  readonly #pending: Promise<unknown>[] = [];
  readonly #opened: Approvals[] = [];
  #approvals: Approvals;

  constructor() {
    this.#approvals = this.#open();
  }

  async act(given: Act): Promise<void> {
    const { bench } = this;
    if (given.kind === 'send' && 'ids' in given) {
      const origin = SOURCES[given.source] ?? SOURCES[0];
      this.sent.push({ message: letter(bench, startRequests(...given.ids)), origin, verdicts: [] });
      await this.#take(this.sent.length - 1);
    } else if (given.kind === 'repeat' && 'message' in given) await this.#take(given.message % Math.max(1, this.sent.length));
    else if (given.kind === 'wait' && 'ms' in given) await bench.time.advance(given.ms);
    else if (given.kind === 'crash') this.#crash();
    else if (given.kind === 'full') bench.store.fault = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    else if (given.kind === 'room') bench.store.fault = null;
    else this.#see(given);
    this.#check();
  }

  /** Everything comes to rest: the disk has room, what was not settled comes again, and time passes. */
  async end(): Promise<void> {
    await this.act({ kind: 'room' });
    await this.act({ kind: 'poll' });
    for (const index of this.sent.keys()) await this.#take(index);
    for (let round = 0; round < 8; round++) {
      await this.bench.time.advance(10_000);
      this.bench.poll();
    }
    await Promise.all(this.#pending);
    this.#check();
  }

  async close(): Promise<void> {
    const closed = this.#opened.map((approvals) => approvals[Symbol.asyncDispose]());
    await this.bench.time.advance(6000);
    await Promise.all(closed);
  }

  #open(): Approvals {
    const approvals = this.bench.open({ required: 'all' });
    this.#opened.push(approvals);
    return approvals;
  }

  #crash(): void {
    this.bench.forgetReading();
    this.#approvals = this.#open();
  }

  #see(given: Act): void {
    const { bench } = this;
    const before = 'id' in given ? bench.service.get(given.id.toLowerCase()) : undefined;
    if (given.kind === 'list' && 'impact' in given) bench.list(given.id, { eventType: given.impact, eventStatus: 'Scheduled' });
    if (given.kind === 'start' && 'id' in given && before) bench.list(given.id, { eventStatus: 'Started' });
    if (given.kind === 'end' && 'id' in given) bench.end(given.id);
    try {
      bench.poll();
    } catch (error) {
      assert.ok(bench.store.fault, String(error));
    }
  }

  async #take(index: number): Promise<void> {
    const sent = this.sent[index];
    if (sent === undefined) return;
    const { message, origin, verdicts } = sent;
    const said = this.#approvals.take(origin, message).then(
      (verdict) => verdicts.push(typeof verdict === 'object' ? verdict.reason : verdict),
      () => {},
    );
    this.#pending.push(said);
    await this.bench.time.advance(0);
  }

  #check(): void {
    for (const approval of this.bench.store.approvals.open()) if (approval.state !== 'moot') this.#checkVotes(approval);
  }

  /** No vote stands for an event that is worse than when it was recorded, or by messages of an occurrence before. */
  #checkVotes({ key, occurrence, votes, state }: EventApproval): void {
    const { bench } = this;
    const known = bench.known(key);
    if (known?.occurrence !== occurrence) return;
    for (const vote of votes) {
      const isJudged = bench.store.fault === null && state === 'waiting';
      if (isJudged) assert.ok(!worse(vote.event, known.event), `${vote.approver} approved a milder ${key}`);
      const endedMs = bench.store.known.lastEndedMs(key);
      const meant = this.sent.filter(({ message, origin }) => origin.approver === vote.approver && namesOf(message).includes(key));
      assert.ok(
        meant.some(({ message }) => endedMs === null || message.sentMs >= endedMs),
        `${key} is approved by messages of an earlier occurrence`,
      );
    }
  }
}

function namesOf({ body }: ApprovalMessage): readonly string[] {
  const { StartRequests: list } = JSON.parse(new TextDecoder().decode(body ?? undefined)) as { StartRequests: { EventId: string }[] };
  return list.map(({ EventId }) => EventId.toLowerCase());
}

test('for any interleaving each message has exactly one effect, and no approval stands for what it was not given for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
      const world = new World();
      const { bench, sent } = world;
      try {
        for (const each of acts) await world.act(each);
        await world.end();
        const count = (...results: readonly string[]) =>
          bench.messages.filter((told) => results.some((result) => told.endsWith(` ${result}`))).length;
        const final = sent.filter(({ verdicts }) => verdicts.some((verdict) => verdict !== 'giveBack'));
        assert.equal(count('settled', 'refused'), final.length, 'each message that was dealt with was so once');
        assert.equal(bench.store.messages.parked().length, 0, 'nothing waits for ever');
        for (const { verdicts, origin } of sent) {
          const told = new Set(verdicts.filter((verdict) => verdict !== 'giveBack'));
          assert.ok(told.size <= 1 || (told.size === 2 && told.has('settle') && !origin.canGiveBack), [...told].join(' '));
          if (!origin.canGiveBack) assert.ok(verdicts.length > 0, 'a message without a verdict');
        }
        const refusals = bench.store.published.filter(({ phase, reason }) => phase === 'failed' && reason !== 'changed');
        assert.equal(refusals.length, count('refused'));
      } finally {
        await world.close();
      }
    }),
    { numRuns: 300 },
  );
});

test('for any crashes one message approves one event once, and it is submitted once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom<Act['kind']>('crash', 'repeat', 'poll'), { maxLength: 30 }), async (kinds) => {
      const bench = new ApprovalBench();
      const opened = [bench.open()];
      const origin = SOURCES[0];
      const message = letter(bench, startRequests('A'));
      bench.list('A');
      bench.poll();
      for (const kind of ['repeat', ...kinds]) {
        if (kind === 'crash') {
          await bench.time.advance(0);
          bench.forgetReading();
          opened.push(bench.open());
        }
        if (kind === 'poll') bench.poll();
        if (kind === 'repeat') assert.equal(await opened.at(-1)?.take(origin, message), 'settle');
      }
      bench.poll();
      await bench.time.advance(20_000);
      assert.deepEqual(
        bench.store.told.filter((told) => told === 'approval.recorded orders'),
        ['approval.recorded orders'],
      );
      assert.deepEqual(
        bench.store.told.filter((told) => told === 'approval.submitted orders'),
        ['approval.submitted orders'],
      );
      const closed = opened.map((approvals) => approvals[Symbol.asyncDispose]());
      await bench.time.advance(6000);
      await Promise.all(closed);
    }),
    { numRuns: 100 },
  );
});
