// Any documents in any order → changes that add up to the state; ids are unique, all VMs agree.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type EventContext, toCloudEvent } from '../../../src/cloudevents/event.ts';
import type { EventChange, KnownState, ScheduledEvent, ScheduledEventsDocument } from '../../../src/model/events.ts';
import { contentJson } from '../../../src/model/ids.ts';
import { START_MS } from '../../support/events.ts';
import { anySteps, oneVersionSteps, plainSteps, type Step, shuffled } from './documents.ts';
import { Watcher } from './watcher.ts';

const RUNS = { numRuns: 300 };

interface Way {
  /** How far the VM's wall clock is off. */
  readonly skewMs?: number;
  /** What becomes of the n-th document before it is seen. */
  readonly as?: (document: ScheduledEventsDocument, n: number) => ScheduledEventsDocument;
}

/** Lets `watcher` see the steps one by one, each when the next result is asked for; gives the changes of each. */
function* run(watcher: Watcher, steps: readonly Step[], { skewMs = 0, as = (document) => document }: Way = {}) {
  let elapsedMs = 0;
  for (const [n, { afterMs, document }] of steps.entries()) {
    elapsedMs += afterMs;
    if (document === null) watcher.fail();
    yield document === null ? [] : watcher.see(as(document, n), { wallMs: START_MS + elapsedMs + skewMs, elapsedMs });
  }
}

type Content = (event: ScheduledEvent) => string;

/** The fields that every api-version of the steps has. */
const sharedContent: Content = (event) =>
  contentJson({ ...event, description: '', eventSource: '', durationInSeconds: -1 });

function apply(contents: Map<string, string>, changes: readonly EventChange[], content: Content): void {
  for (const { phase, key, event } of changes) {
    if (phase === 'ended') contents.delete(key);
    else contents.set(key, content(event));
  }
}

function known(state: KnownState, content: Content): Map<string, string> {
  return new Map([...state.events].map(([key, { event }]) => [key, content(event)]));
}

for (const [which, anyOfThem, content] of [
  ['documents of one api-version', oneVersionSteps, contentJson],
  ['documents of several api-versions, as far as all have a field', anySteps, sharedContent],
] as const) {
  test(`applying the changes to the events known before gives those known after: ${which}`, () => {
    fc.assert(
      fc.property(anyOfThem, (steps) => {
        const watcher = new Watcher();
        const contents = new Map<string, string>();
        for (const changes of run(watcher, steps)) {
          apply(contents, changes, content);
          assert.deepEqual(contents, known(watcher.state, content));
        }
      }),
      RUNS,
    );
  });
}

test('after a document of a running service, the known state equals that document', () => {
  fc.assert(
    fc.property(plainSteps, (steps) => {
      const watcher = new Watcher();
      let n = 0;
      for (const _changes of run(watcher, steps)) {
        const listed = steps[n++]?.document.events.map(
          (event) => [event.eventId.toLowerCase(), contentJson(event)] as const,
        );
        assert.deepEqual(known(watcher.state, contentJson), new Map(listed));
      }
    }),
    RUNS,
  );
});

test('no id is used twice, and no event changes twice in one document', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const changes = [...run(new Watcher(), steps)];
      const ids = changes.flat().map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
      for (const ofOne of changes) assert.equal(new Set(ofOne.map(({ key }) => key)).size, ofOne.length);
    }),
    RUNS,
  );
});

test('without news the known events are unchanged, and with news something differs', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const watcher = new Watcher();
      let elapsedMs = 0;
      for (const { afterMs, document } of steps) {
        elapsedMs += afterMs;
        if (document === null) continue;
        const before = stored(watcher.state);
        const changes = watcher.see(document, elapsedMs);
        assert.equal(
          watcher.news,
          changes.length > 0 || JSON.stringify(stored(watcher.state)) !== JSON.stringify(before),
        );
      }
    }),
    RUNS,
  );
});

/** All of a state that is stored, but for the time of the last good document. */
function stored({ lastGoodAt: _lastGoodAt, emptyRow: _emptyRow, document: _document, ...state }: KnownState): unknown {
  return { ...state, events: [...state.events] };
}

test('the order of entries and names and the letter case of ids change nothing but the order of the changes', () => {
  const facts = (changes: readonly EventChange[]) =>
    changes
      .map(({ event, occurrence: _, ...change }) => JSON.stringify({ ...change, event: contentJson(event) }))
      .toSorted();
  fc.assert(
    fc.property(anySteps, fc.nat(1000), (steps, seed) => {
      const plain = [...run(new Watcher(), steps)].map(facts);
      const other = [...run(new Watcher(), steps, { as: (document, n) => shuffled(document, seed + n) })].map(facts);
      assert.deepEqual(other, plain);
    }),
    RUNS,
  );
});

const context = (name: string): EventContext => ({
  source: '/subscriptions/s/resourcegroups/g',
  typePrefix: 'io.github.scheduled-events-bridge',
  observer: { name, id: name.toLowerCase() },
  approval: () => null,
});

/** A CloudEvent without what may differ between two VMs that see the same. */
function shared(change: EventChange, name: string): unknown {
  const { time, data, ...attributes } = toCloudEvent(change, context(name));
  assert.ok(time && data && 'observer' in data);
  return { ...attributes, data: { ...data, observer: null } };
}

test('two VMs make the same CloudEvents from the same documents, except time and data.observer', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: -5000, max: 5000 }), (steps, skewMs) => {
      const one = [...run(new Watcher(), steps)].flat();
      const other = [...run(new Watcher(), steps, { skewMs })].flat();
      assert.deepEqual(
        other.map((change) => shared(change, 'WestNO_1')),
        one.map((change) => shared(change, 'WestNO_0')),
      );
    }),
    RUNS,
  );
});

test('a VM that starts late makes CloudEvents of the same type, subject and content, with ids that differ only in :rN', () => {
  const alike = (changes: readonly EventChange[]) =>
    changes
      .map(({ id, phase, key, event }) => `${phase} ${key} ${id.replace(/:r\d+$/, '')} ${contentJson(event)}`)
      .toSorted();
  fc.assert(
    fc.property(plainSteps, fc.nat(11), (steps, missed) => {
      const early = [...run(new Watcher(), steps)].slice(missed + 1).map(alike);
      const late = [...run(new Watcher(), steps.slice(missed))].slice(1).map(alike);
      assert.deepEqual(late, early);
    }),
    RUNS,
  );
});
