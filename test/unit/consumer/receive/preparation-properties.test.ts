// CloudEvents of one event in any order, repeats, crashes → the calls that a naive oracle expects.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { readStructured } from '../../../../src/consumer/read-event.ts';
import { dispatcherOn } from '../../../../src/consumer/receive/dispatcher.ts';
import { memoryHandledStore } from '../../../../src/consumer/receive/handled-store.ts';
import { preparationOn } from '../../../../src/consumer/receive/preparation.ts';
import { fileState, type PreparedState, type StoredEvent } from '../../../../src/consumer/receive/prepared-state.ts';
import { momentAt, START_MS } from '../../../support/events.ts';
import { folderOf } from '../../../support/folder.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf, lifeOf } from '../deliveries.ts';

const MINUTE = 60_000;

/** One CloudEvent. `number` is that of `:rN`. */
interface Told {
  readonly change: 'scheduled' | 'updated' | 'started' | 'ended';
  readonly number: number;
  readonly observer: 'a' | 'b' | null;
  /** Minutes after START_MS. */
  readonly at: number;
  /** Minutes after START_MS. */
  readonly notBefore: number;
  /** A longer one is worse. */
  readonly duration: number;
}

/** How the handler's call ends: the process may die in it. */
type Fate = 'well' | 'throws' | 'dies';
type Step = { readonly told: Told; readonly fate: Fate } | { readonly restart: true } | { readonly pass: number };

const told: fc.Arbitrary<Told> = fc.record({
  change: fc.constantFrom('scheduled', 'updated', 'started', 'ended'),
  number: fc.constantFrom(1, 1, 2, 3),
  observer: fc.constantFrom('a', 'a', 'b', null),
  at: fc.nat(5),
  notBefore: fc.constantFrom(2, 15, 60),
  duration: fc.nat(2),
});

/** Few CloudEvents, each of them sent several times. */
const steps = fc.array(told, { minLength: 3, maxLength: 8 }).chain((all) =>
  fc.array(
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc.record({
          told: fc.constantFrom(...all),
          fate: fc.constantFrom<Fate[]>('well', 'well', 'well', 'throws', 'dies'),
        }),
      },
      { weight: 2, arbitrary: fc.constant({ restart: true as const }) },
      { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(8, 30, 8 * 24 * 60) }) },
    ) as fc.Arbitrary<Step>,
    { minLength: 4, maxLength: 25 },
  ),
);

function idOf({ change, number, observer, at, notBefore, duration }: Told): string {
  const phase = change === 'updated' ? `updated:${observer}-${at}-${notBefore}-${duration}` : change;
  return `e:${phase}${number === 1 ? '' : `:r${number}`}`;
}

function cloudEventOf(event: Told) {
  const now = {
    eventId: 'e',
    durationInSeconds: event.duration,
    notBefore: new Date(START_MS + event.notBefore * MINUTE).toISOString(),
  };
  const life = lifeOf(now);
  const change =
    event.change === 'updated' ? life.updated({}) : event.change === 'ended' ? life.ended() : life[event.change];
  const made = JSON.parse(
    Buffer.from(deliveryOf({ ...change, id: idOf(event), at: momentAt(event.at * MINUTE) }).bytes).toString(),
  );
  made.data.observer.name = event.observer;
  return readStructured(made);
}

/** The rules, from all that happened before. It stores nothing but what happened. */
class Oracle {
  /** Ends that were taken, with the time of this machine. */
  readonly #ends: { readonly end: Told; readonly atMs: number }[] = [];
  #begun = false;
  #prepared: { readonly seen: Told; isReady: boolean; readonly isAgain: boolean } | null = null;
  /** Ids that this process has handled. */
  readonly #handled = new Set<string>();

  restart(): void {
    this.#handled.clear();
  }

  take(event: Told, fate: Fate, nowMs: number): string[] {
    if (this.#handled.has(idOf(event))) return [];
    const calls = event.change === 'ended' ? this.#end(event, fate, nowMs) : this.#notice(event, fate, nowMs);
    if (calls.length === 0 || fate === 'well') this.#handled.add(idOf(event));
    return calls;
  }

  #end(event: Told, fate: Fate, nowMs: number): string[] {
    const last = this.#lastEnd(nowMs);
    if (last !== null && !isNewer(event, last)) return [];
    const calls = this.#prepared === null ? [] : ['recover'];
    if (calls.length > 0 && fate !== 'well') return calls;
    this.#prepared = null;
    this.#begun = false;
    this.#ends.push({ end: event, atMs: nowMs });
    return calls;
  }

  #notice(event: Told, fate: Fate, nowMs: number): string[] {
    const last = this.#lastEnd(nowMs);
    if (last !== null) {
      const isUpdate = event.change === 'updated';
      if (isUpdate && (!this.#begun || (event.observer === last.observer && event.at < last.at))) return [];
      if (!isUpdate && !isNewer(event, last)) return [];
    }
    this.#begun = true;
    const isStarted = event.change === 'started';
    if (!isStarted && nowMs > START_MS + (event.notBefore + 10) * MINUTE) return [];
    const before = this.#prepared;
    if (before?.isReady && (isStarted || !isWorse(before.seen, event))) return [];
    const isAgain = before !== null && (before.isReady || before.isAgain);
    this.#prepared = { seen: event, isReady: fate === 'well', isAgain };
    return [`prepare${isAgain ? ' again' : ''}${before === null && isStarted ? ' unnoticed' : ''}`];
  }

  #lastEnd(nowMs: number): Told | null {
    const last = this.#ends.at(-1);
    return last !== undefined && nowMs - last.atMs < 7 * 24 * 60 * MINUTE ? last.end : null;
  }
}

function isNewer(event: Told, end: Told): boolean {
  return event.number > end.number || (event.observer === end.observer && event.at > end.at);
}

/** A started event has no NotBefore, so none is earlier. */
function isWorse(seen: Told, now: Told): boolean {
  return now.duration > seen.duration || (seen.change !== 'started' && now.notBefore < seen.notBefore);
}

/** One machine: its processes share the state. */
class Consumer {
  readonly clock = new VirtualTime({ startMs: START_MS });
  readonly #stateOf: () => PreparedState;
  #process: ReturnType<Consumer['start']>;

  constructor(stateOf: () => PreparedState) {
    this.#stateOf = stateOf;
    this.#process = this.start();
  }

  restart(): void {
    this.#process = this.start();
  }

  async take(event: Told, fate: Fate): Promise<string[]> {
    const { calls, plan, dispatcher } = this.#process;
    plan.fate = fate;
    await dispatcher.handle(cloudEventOf(event)).catch((error: Error) => assert.equal(error.message, 'as planned'));
    const made = calls.splice(0);
    if (made.length > 0 && fate === 'dies') this.restart();
    return made;
  }

  private start() {
    const calls: string[] = [];
    const plan = { fate: 'well' as Fate };
    const call = (name: string) => {
      calls.push(name);
      if (plan.fate !== 'well') throw new Error('as planned');
    };
    const handlers = preparationOn(
      {
        state: this.#stateOf(),
        prepare: (_, { again, noticed }) => call(`prepare${again ? ' again' : ''}${noticed ? '' : ' unnoticed'}`),
        recover: () => call('recover'),
      },
      this.clock,
    );
    return { calls, plan, dispatcher: dispatcherOn(handlers, memoryHandledStore({}, this.clock)) };
  }
}

async function followsOracle(consumer: Consumer, all: readonly Step[]): Promise<void> {
  const oracle = new Oracle();
  for (const [place, step] of all.entries()) {
    if ('pass' in step) consumer.clock.jumpWall(step.pass * MINUTE);
    if ('restart' in step) {
      consumer.restart();
      oracle.restart();
    }
    if (!('told' in step)) continue;
    const expected = oracle.take(step.told, step.fate, consumer.clock.wallMs());
    assert.deepEqual(await consumer.take(step.told, step.fate), expected, `step ${place}: ${JSON.stringify(step)}`);
    if (expected.length > 0 && step.fate === 'dies') oracle.restart();
  }
}

/** A state of the user's own, with the three functions alone. It keeps what was stored as texts. */
function textState(): () => PreparedState {
  const rows = new Map<string, string>();
  const state: PreparedState = {
    get: async (key) => {
      const row = rows.get(key);
      return row === undefined ? undefined : (JSON.parse(row) as StoredEvent);
    },
    set: async (key, event) => void rows.set(key, JSON.stringify(event)),
    delete: async (key) => void rows.delete(key),
  };
  return () => state;
}

test('in any order, with repeats, failures and crashes, prepare and recover are called as the rules say', () =>
  fc.assert(
    fc.asyncProperty(steps, (all) => followsOracle(new Consumer(textState()), all)),
    { numRuns: 1500 },
  ));

test('the same with a file, which each process reads again', async (t) => {
  let files = 0;
  const folder = folderOf(t);
  const check = (all: readonly Step[]) => {
    const path = join(folder, `${++files}.json`);
    return followsOracle(new Consumer(() => fileState(path)), all);
  };
  await fc.assert(fc.asyncProperty(steps, check), { numRuns: 60 });
});

/** The life of one event as one bridge tells it, over one to three occurrences. */
const life = fc.integer({ min: 1, max: 3 }).map((occurrences) =>
  Array.from({ length: occurrences }, (_, occurrence) =>
    (['scheduled', 'updated', 'started', 'ended'] as const).map((change, place) => ({
      ...{
        change,
        number: occurrence + 1,
        observer: 'a' as const,
        at: occurrence * 4 + place,
        notBefore: 60,
        duration: place,
      },
    })),
  ).flat(),
);
const shuffledLife = life.chain((all) =>
  fc.tuple(fc.constant(all), fc.array(fc.constantFrom(...all), { maxLength: 30 }), fc.boolean()),
);

test('after the newest end nothing is prepared any more, whatever comes in whatever order', () =>
  fc.assert(
    fc.asyncProperty(shuffledLife, async ([all, others, isRestarted]) => {
      const consumer = new Consumer(textState());
      const newest = all.at(-1) ?? assert.fail();
      for (const event of [...others, newest]) await consumer.take(event, 'well');
      if (isRestarted) consumer.restart();
      for (const event of [...all, ...others, ...all.toReversed()])
        assert.deepEqual(await consumer.take(event, 'well'), []);
    }),
    { numRuns: 300 },
  ));
