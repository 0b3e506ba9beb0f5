// A service and a bridge that fail and restart → no event ended that the service still has.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { EventStatus, ScheduledEventsDocument } from '../../../src/model/events.ts';
import { documentOf, START_MS } from '../../support/events.ts';
import { Watcher } from './watcher.ts';

const SETTLE_MS = 5 * 60_000;
const IDS = ['a', 'b', 'c', 'd'];

type Happening = 'poll' | 'error' | 'empty' | 'epoch' | 'silence' | 'version' | 'restart';
type Act =
  | { readonly kind: Happening }
  | { readonly kind: 'schedule' | 'start' | 'end' | 'spoil'; readonly id: string }
  | { readonly kind: 'jump'; readonly ms: number };

const kinds = (...all: readonly Happening[]) => fc.constantFrom(...all).map((kind): Act => ({ kind }));
const onEvent = fc.record({
  kind: fc.constantFrom('schedule' as const, 'start' as const, 'end' as const, 'spoil' as const),
  id: fc.constantFrom(...IDS),
});
const jump = fc.constantFrom(3_600_000, -3_600_000).map((ms): Act => ({ kind: 'jump', ms }));

/**
 * Our restarts and the wall clock's jumps are not mixed: how long a process was away is known by the wall clock alone.
 */
const common = [
  { weight: 6, arbitrary: onEvent },
  { weight: 8, arbitrary: kinds('poll') },
  { weight: 4, arbitrary: kinds('error', 'empty', 'epoch', 'silence', 'version') },
];
const acts = fc.oneof(
  fc.array(fc.oneof(...common, { weight: 1, arbitrary: kinds('restart') }), { maxLength: 60, size: 'max' }),
  fc.array(fc.oneof(...common, { weight: 1, arbitrary: jump }), { maxLength: 60, size: 'max' }),
);

/**
 * The service, seen by one bridge. In a new epoch it lists what it has only bit by bit, until the settle time has
 * passed; in a row of epochs, until three have.
 */
class Service {
  readonly watcher = new Watcher();
  readonly ended: string[] = [];
  readonly #events = new Map<string, EventStatus>();
  readonly #hidden = new Set<string>();
  readonly #spoilt = new Set<string>();
  #elapsedMs = 0;
  #wallOffsetMs = 0;
  #incarnation = 2 ** 50;
  #apiVersion = '2020-07-01';
  #warmUntilMs = 0;
  #epochStartedMs = 0;
  /** When the first epoch of a row began whose epochs follow each other before they are warm. */
  #rowStartedMs = 0;
  #emptyAnswers = 0;

  pass(ms: number): void {
    this.#elapsedMs += ms;
  }

  act(act: Act, draw: number): void {
    if ('id' in act) this.#change(act.kind, act.id);
    else if (act.kind === 'jump') this.#wallOffsetMs += act.ms;
    else if (act.kind === 'restart') this.watcher.restart();
    else if (act.kind === 'error') this.#fail();
    else if (act.kind === 'empty') this.#answerEmpty();
    else if (act.kind === 'poll') this.#answer(draw);
    else this.#beginEpoch(act.kind, draw);
  }

  has(key: string): boolean {
    return this.#events.has(key);
  }

  #change(kind: string, id: string): void {
    this.#spoilt.clear();
    if (kind === 'spoil') return void this.#spoilt.add(id);
    this.#incarnation++;
    if (kind === 'end') this.#events.delete(id);
    else if (kind === 'start') this.#events.set(id, 'Started');
    else if (!this.#events.has(id)) this.#events.set(id, 'Scheduled');
  }

  #fail(): void {
    this.#emptyAnswers = 0;
    this.watcher.fail();
  }

  /** Never three in a row while it has events: that is how the service says that it has none. */
  #answerEmpty(): void {
    if (++this.#emptyAnswers > 2 && this.#events.size > 0) this.#fail();
    else this.#see(documentOf(null, [], { apiVersion: this.#apiVersion }));
  }

  #beginEpoch(kind: 'epoch' | 'silence' | 'version', draw: number): void {
    // A new incarnation is always a smaller one: without that nobody could tell that the service began anew.
    if (kind === 'epoch') this.#incarnation = Math.floor(this.#incarnation / 2);
    if (kind === 'silence') this.#elapsedMs += 25 * 3_600_000;
    if (kind === 'version') this.#apiVersion = this.#apiVersion === '2020-07-01' ? '2019-08-01' : '2020-07-01';
    if (this.#elapsedMs >= this.#epochStartedMs + SETTLE_MS) this.#rowStartedMs = this.#elapsedMs;
    this.#epochStartedMs = this.#elapsedMs;
    this.#warmUntilMs = Math.min(this.#elapsedMs + SETTLE_MS, this.#rowStartedMs + 3 * SETTLE_MS);
    if (this.#elapsedMs < this.#warmUntilMs) for (const id of this.#events.keys()) this.#hidden.add(id);
    this.#answer(draw);
  }

  #answer(draw: number): void {
    this.#emptyAnswers = 0;
    if (this.#elapsedMs >= this.#warmUntilMs) this.#hidden.clear();
    for (const id of [...this.#hidden].slice(0, draw)) this.#hidden.delete(id);
    const visible = [...this.#events].filter(([id]) => !this.#hidden.has(id));
    const listed = visible.filter(([id]) => !this.#spoilt.has(id));
    this.#see(
      documentOf(
        this.#incarnation,
        listed.map(([eventId, eventStatus]) => ({ eventId, eventStatus })),
        this.#spoiltParts(
          visible.map(([id]) => id),
          draw,
        ),
      ),
    );
  }

  /** A spoilt entry is listed with an unusable status or without a usable EventId. */
  #spoiltParts(visible: readonly string[], draw: number): Partial<ScheduledEventsDocument> {
    const spoilt = visible.filter((id) => this.#spoilt.has(id));
    return {
      apiVersion: this.#apiVersion,
      ...(draw % 2 === 0 ? { statusless: spoilt } : { complete: spoilt.length === 0 }),
    };
  }

  #see(document: ScheduledEventsDocument): void {
    const at = { wallMs: START_MS + this.#elapsedMs + this.#wallOffsetMs, elapsedMs: this.#elapsedMs };
    for (const { phase, key } of this.watcher.see(document, at)) if (phase === 'ended') this.ended.push(key);
  }
}

test('errors, gaps, epochs, restarts and clock jumps at random never end an event that the service still has', () => {
  const steps = acts.chain((list) =>
    fc.tuple(...list.map((act) => fc.tuple(fc.constant(act), fc.nat(3), fc.constantFrom(1000, 9000, 61_000)))),
  );
  let ends = 0;
  fc.assert(
    fc.property(steps, (all) => {
      const service = new Service();
      for (const [act, draw, pauseMs] of all) {
        service.pass(pauseMs);
        const before = service.ended.length;
        service.act(act, draw);
        for (const key of service.ended.slice(before)) assert.ok(!service.has(key), `${key} was ended by ${act.kind}`);
      }
      ends += service.ended.length;
    }),
    { numRuns: 300 },
  );
  assert.ok(ends > 0, 'true ends were told among them');
});

test('an event that the service no longer has ends once the epoch has settled, after any history', () => {
  const steps = acts.chain((list) => fc.tuple(...list.map((act) => fc.tuple(fc.constant(act), fc.nat(3)))));
  fc.assert(
    fc.property(steps, (all) => {
      const service = new Service();
      for (const [act, draw] of all) {
        service.pass(1000);
        service.act(act, draw);
      }
      for (const id of IDS) service.act({ kind: 'end', id }, 0);
      service.act({ kind: 'poll' }, 0);
      service.pass(SETTLE_MS);
      service.act({ kind: 'poll' }, 0);
      assert.equal(service.watcher.state.events.size, 0);
    }),
    { numRuns: 200 },
  );
});
