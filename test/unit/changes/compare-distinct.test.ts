// A stream of documents → those that may tell something, beside what a commit left behind.
import assert from 'node:assert/strict';
import test from 'node:test';
import { from } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { distinctByIncarnation } from '../../../src/changes/compare.ts';
import type { DocumentEvent, KnownState } from '../../../src/model/events.ts';
import { documentEvent, documentOf, momentAt } from '../../support/events.ts';
import { Watcher } from './watcher.ts';

const one = { document: documentOf(1, [{}]), at: momentAt(0) };
const two = { document: documentOf(2), at: momentAt(1000) };

test('an unchanged document is dropped, and its time is kept', () => {
  new TestScheduler(assert.deepEqual).run(({ cold, expectObservable, flush }) => {
    const watcher = new Watcher();
    watcher.see(one.document, 0);
    const unchanged: unknown[] = [];
    const again = { document: one.document, at: momentAt(500) };
    const seen$ = cold('a-b-a|', { a: again, b: two }).pipe(
      distinctByIncarnation(
        () => watcher.state,
        (state) => unchanged.push(state.lastGoodAt),
      ),
    );
    expectObservable(seen$).toBe('--b--|', { b: two });
    flush();
    assert.deepEqual(unchanged, [momentAt(500), momentAt(500)]);
  });
});

test('a repeated document is not compared', () => {
  const watcher = new Watcher();
  let isOpen = true;
  const document = {
    ...documentOf(2),
    get events(): readonly DocumentEvent[] {
      assert.ok(isOpen, 'the events of an unchanged document were read');
      return [documentEvent()];
    },
  };
  watcher.see(document, 0);
  const { events } = watcher.state;
  isOpen = false;
  const keep = (state: KnownState) => {
    watcher.state = state;
  };
  const seen$ = from([{ document, at: momentAt(1000) }]).pipe(distinctByIncarnation(() => watcher.state, keep));
  seen$.subscribe(() => assert.fail('an unchanged document was passed'));
  assert.equal(watcher.state.events, events);
  assert.deepEqual(watcher.state.lastGoodAt, momentAt(1000));
});

test('a document is emitted again until its commit succeeds', () => {
  const watcher = new Watcher();
  const seen: string[] = [];
  const seen$ = from([one, one, one, one]).pipe(
    distinctByIncarnation(
      () => watcher.state,
      () => seen.push('unchanged'),
    ),
  );
  seen$.subscribe(({ document, at }) => {
    seen.push('changed');
    if (seen.length === 2) watcher.see(document, at);
  });
  assert.deepEqual(seen, ['changed', 'changed', 'unchanged', 'unchanged']);
});

test('an unchanged document passes while a missing event is undecided', () => {
  new TestScheduler(assert.deepEqual).run(({ cold, expectObservable }) => {
    const watcher = new Watcher();
    watcher.see(documentOf(9, [{}]), 0);
    watcher.see(two.document, 1000);
    const seen$ = cold('b-b|', { b: two }).pipe(
      distinctByIncarnation(
        () => watcher.state,
        () => assert.fail('an event not listed in a new epoch waits for its end'),
      ),
    );
    expectObservable(seen$).toBe('b-b|', { b: two });
  });
});
