// EventIds, phases, contents and observers → ids, by their recipe (behaviour 3.5).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import {
  approvalChangeId,
  eidOf,
  eventChangeId,
  isUpdateId,
  ruleId,
  sightChangeId,
  unusedId,
} from '../../../src/model/ids.ts';
import { scheduledEvent } from '../../support/events.ts';

const EID = 'c7061bac-afdc-4513-b24b-aa5f13a16123';

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

test('a short plain EventId is its own eid, and any other one is hashed', () => {
  for (const key of [EID, 'a', 'under_score-1', 'x'.repeat(64)]) assert.equal(eidOf(key), key);
  for (const key of ['x'.repeat(65), 'a b', 'a:b', 'a.b', 'ü'])
    assert.equal(eidOf(key), `h${sha256(key).slice(0, 32)}`);
});

test('the id of a change is eid and phase, and that of an update has the hash of its content', () => {
  const event = scheduledEvent();
  assert.deepEqual(
    (['scheduled', 'started', 'ended', 'updated'] as const).map((phase) => eventChangeId(phase, event)),
    [`${EID}:scheduled`, `${EID}:started`, `${EID}:ended`, `${EID}:updated:6870c4a0950f67c0`],
  );
});

test('the id of an update is recognized at any occurrence, and only for its own event', () => {
  const id = eventChangeId('updated', scheduledEvent());
  for (const update of [id, `${id}:r2`, `${id}:r10`]) assert.equal(isUpdateId(update, EID), true, update);
  for (const other of [`${EID}:scheduled`, `${id}0`, `${id}:r`, `${id}:r0`, `x${id}`, id.toUpperCase()])
    assert.equal(isUpdateId(other, EID), false, other);
  assert.equal(isUpdateId(id, EID.slice(0, -1)), false);
  assert.equal(isUpdateId(`${eidOf('a b')}:updated:0123456789abcdef`, 'a b'), true);
});

test('the id of an approval’s CloudEvent has the hash of its approver and observer', () => {
  const hash = sha256('{"approver":"orders","observer":"westno_0"}').slice(0, 16);
  assert.equal(approvalChangeId('recorded', EID, 'orders', 'westno_0'), `${EID}:approval-recorded:${hash}`);
  const nobody = sha256('{"approver":"","observer":"westno_0"}').slice(0, 16);
  assert.equal(approvalChangeId('submitted', EID, null, 'westno_0'), `${EID}:approval-submitted:${nobody}`);
  assert.match(approvalChangeId('failed', 'a b', null, 'westno_0'), /^h[0-9a-f]{32}:approval-failed:[0-9a-f]{16}$/);
});

test('the id of a blindness has the hash of its observer and since', () => {
  const hash = sha256('{"observer":"westno_0","since":"2022-04-11T22:26:58Z"}').slice(0, 16);
  assert.equal(sightChangeId('blind', 'westno_0', '2022-04-11T22:26:58Z'), `source-blind:${hash}`);
  assert.equal(sightChangeId('restored', 'westno_0', '2022-04-11T22:26:58Z'), `source-restored:${hash}`);
});

test('a rule is named by what it says: not by the order of its keys or lists, and by every value', () => {
  const rule = { when: { impacts: ['Freeze', 'Reboot'] }, then: 'wait', deadline: { beforeMs: 1000, then: 'approve' } };
  const sorted = '{"deadline":{"beforeMs":1000,"then":"approve"},"then":"wait","when":{"impacts":["Freeze","Reboot"]}}';
  assert.equal(ruleId(rule), sha256(sorted).slice(0, 16));
  assert.equal(
    ruleId({ deadline: rule.deadline, then: 'wait', when: { impacts: ['Reboot', 'Freeze'] } }),
    ruleId(rule),
  );
  for (const other of [
    { ...rule, then: 'never' },
    { ...rule, required: 2 },
    { ...rule, during: ['nights'] },
    { ...rule, otherwise: 'wait' },
    { ...rule, budgets: ['databases'] },
    { ...rule, when: { impacts: ['Freeze'] } },
    { ...rule, when: { ...rule.when, resources: ['web_*'] } },
    { ...rule, deadline: { ...rule.deadline, beforeMs: 1001 } },
  ])
    assert.notEqual(ruleId(other), ruleId(rule), JSON.stringify(other));
});

test('a used id gets the first repeat number that is unused', () => {
  const used = new Set(['a', 'a:r2', 'a:r4']);
  assert.equal(
    unusedId('b', (id) => used.has(id)),
    'b',
  );
  assert.equal(
    unusedId('a', (id) => used.has(id)),
    'a:r3',
  );
});

test('for an id that was used any number of times, few look-ups find the next one, and it is the first that is free', () => {
  for (const count of [1, 2, 15, 16, 17, 18, 31, 32, 33, 100, 1000, 123_456]) {
    let asked = 0;
    const isUsed = (id: string) => {
      asked++;
      return id === 'a' || Number(/^a:r(\d+)$/.exec(id)?.[1]) <= count;
    };
    assert.equal(unusedId('a', isUsed), `a:r${count + 1}`, String(count));
    assert.ok(asked < 60, `${asked} questions`);
  }
});
