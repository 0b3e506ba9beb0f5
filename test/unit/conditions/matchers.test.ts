// eventMatchers: each condition against an event.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reach } from '../../../src/conditions/globs.ts';
import { eventMatchers } from '../../../src/conditions/matchers.ts';
import type { EventConditions } from '../../../src/conditions/options.ts';
import type { ScheduledEvent } from '../../../src/model/events.ts';
import { START_MS, scheduledEvent } from '../../support/events.ts';

/** The conditions that the event does not meet. */
function failed(conditions: EventConditions, fields: Partial<ScheduledEvent> = {}, reach: Reach = 'any'): string[] {
  const event = scheduledEvent(fields);
  return eventMatchers(conditions, reach).flatMap(({ condition, matches }) =>
    matches(event, START_MS) ? [] : [condition],
  );
}

test('what asks nothing matches everything', () => {
  for (const conditions of [{}, { notice: {} }, { duration: {} }, { impacts: undefined }]) {
    assert.equal(eventMatchers(conditions, 'every').length, 0, JSON.stringify(conditions));
  }
});

test('each condition is judged for itself', () => {
  const conditions = {
    impacts: ['reboot'],
    initiators: ['USER'],
    resources: ['db_*'],
    notice: { belowMs: 60_000 },
    duration: { belowMs: 5000 },
  };
  assert.deepEqual(failed(conditions), ['impacts', 'initiators', 'resources', 'notice', 'duration']);
  const met = { eventType: 'REBOOT', eventSource: 'User', resources: ['DB_0'], notBefore: null, durationInSeconds: 4 };
  assert.deepEqual(failed(conditions, met), []);
});

test('any name is enough, or every one of at least one', () => {
  const conditions = { resources: ['westno_0'] };
  assert.deepEqual([failed(conditions, {}, 'any'), failed(conditions, {}, 'every')], [[], ['resources']]);
  assert.deepEqual(failed({ resources: ['WESTNO_?'] }, {}, 'every'), []);
  for (const reach of ['any', 'every'] as const)
    assert.deepEqual(failed({ resources: ['*'] }, { resources: [] }, reach), ['resources']);
});

test('a duration is at least min and less than below', () => {
  const duration = { minMs: 0, belowMs: 9000 };
  for (const durationInSeconds of [0, 8, 8.5])
    assert.deepEqual(failed({ duration }, { durationInSeconds }), [], String(durationInSeconds));
  for (const durationInSeconds of [-1, 9, 600]) {
    assert.deepEqual(failed({ duration }, { durationInSeconds }), ['duration'], String(durationInSeconds));
  }
  assert.deepEqual(failed({ duration: { minMs: 9000 } }, { durationInSeconds: 9 }), []);
});

test('an unknown duration matches no condition', () => {
  for (const duration of [{ minMs: 0 }, { belowMs: 1e12 }])
    assert.deepEqual(failed({ duration }, { durationInSeconds: -1 }), ['duration']);
});

test('notice is the remaining time, strictly between its limits, and 0 if NotBefore has passed or is missing', () => {
  const leftMs = Date.parse('2022-04-11T22:26:58Z') - START_MS;
  assert.deepEqual(failed({ notice: { aboveMs: leftMs - 1, belowMs: leftMs + 1 } }), []);
  assert.deepEqual(failed({ notice: { aboveMs: leftMs } }), ['notice']);
  assert.deepEqual(failed({ notice: { belowMs: leftMs } }), ['notice']);
  for (const notBefore of [null, '2022-04-11T21:00:00Z']) {
    assert.deepEqual(failed({ notice: { belowMs: 1 } }, { notBefore }), []);
    assert.deepEqual(failed({ notice: { aboveMs: 0 } }, { notBefore }), ['notice']);
  }
});
