// Changes → which of them Azure says never happen (protocol 10.3).
import assert from 'node:assert/strict';
import test from 'node:test';
import { stepBackOf } from '../../../src/changes/compare.ts';
import type { DocumentEvent } from '../../../src/model/events.ts';
import { documentOf } from '../../support/events.ts';
import { Watcher } from './watcher.ts';

type Step = readonly Partial<DocumentEvent>[];

const scheduled: Step = [{}];
const started: Step = [{ eventStatus: 'Started', notBefore: null }];
const gone: Step = [];

/** The step back of each change, in the order of the changes. */
function stepsBack(...documents: readonly Step[]): (string | null)[] {
  const watcher = new Watcher();
  return documents.flatMap((events, index) =>
    watcher
      .see(documentOf(index + 1, events), index * 1000)
      .map((change) => stepBackOf(change, (id) => watcher.usedIds.has(id))),
  );
}

test('changes in the normal order have no step back', () => {
  assert.deepEqual(stepsBack(gone, scheduled, [{ durationInSeconds: 9 }], started, gone), [null, null, null, null]);
  assert.deepEqual(stepsBack(gone, started, gone), [null, null]);
});

test('from Started to Scheduled is a step back, and later changes are not', () => {
  assert.deepEqual(stepsBack(scheduled, started, scheduled, started, gone), [null, null, 'unstarted', null, null]);
});

test('an update of a started event is not a step back', () => {
  assert.deepEqual(stepsBack(started, [{ eventStatus: 'Started', notBefore: null, durationInSeconds: 9 }]), [
    null,
    null,
  ]);
});

test('an event that comes back after its end is a step back, in any status', () => {
  assert.deepEqual(stepsBack(scheduled, gone, scheduled, gone), [null, null, 'returned', null]);
  assert.deepEqual(stepsBack(scheduled, gone, started, gone), [null, null, 'returned', null]);
  assert.deepEqual(stepsBack(started, gone, scheduled), [null, null, 'returned']);
});
