// CloudEvents with every kind of field → the variables of a program, as texts, and no others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventVariables, ownVariables, searchPath } from '../../../../adapters/command/run-environment.ts';
import { Secret } from '../../../../src/secrets/secret.ts';

const EVENT = {
  specversion: '1.0',
  id: 'c7061bac:ended',
  source: '/subscriptions/s',
  type: 'io.github.scheduled-events-bridge.ended.v1',
  subject: 'scheduledevents/c7061bac',
  time: '2026-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: 'https://example.com/change.v1.json',
  partitionkey: 'c7061bac',
  severitynumber: 9,
  outcome: 'completed',
  data: {
    eventId: 'C7061BAC',
    eventType: 'Freeze',
    eventStatus: 'Ended',
    previousStatus: null,
    resources: ['WestNO_0', 'WestNO_1'],
    notBefore: '2026-01-01T00:10:00Z',
    description: 'not told',
    eventSource: 'Platform',
    durationInSeconds: 5,
    outcome: 'completed',
    observer: { name: 'WestNO_0', affected: true },
  },
};

function variablesOf(event: unknown, change = 'ended') {
  return eventVariables({ bytes: Buffer.from(JSON.stringify(event)), change });
}

test('attributes are CE_*, members of data EVENT_*, and that is all', () => {
  const { variables, leftOut, notBeforeMs } = variablesOf(EVENT);
  assert.deepEqual(variables, {
    CE_ID: 'c7061bac:ended',
    CE_SOURCE: '/subscriptions/s',
    CE_TYPE: 'io.github.scheduled-events-bridge.ended.v1',
    CE_SUBJECT: 'scheduledevents/c7061bac',
    CE_TIME: '2026-01-01T00:00:00.000Z',
    CE_PARTITIONKEY: 'c7061bac',
    CE_SEVERITYNUMBER: '9',
    CE_OUTCOME: 'completed',
    EVENT_ID: 'C7061BAC',
    EVENT_TYPE: 'Freeze',
    EVENT_STATUS: 'Ended',
    EVENT_SOURCE: 'Platform',
    EVENT_RESOURCES: '["WestNO_0","WestNO_1"]',
    EVENT_NOT_BEFORE: '2026-01-01T00:10:00Z',
    EVENT_DURATION: '5',
    EVENT_CHANGE: 'ended',
    EVENT_AFFECTED: 'true',
    EVENT_OUTCOME: 'completed',
  });
  assert.deepEqual([leftOut, notBeforeMs], [[], Date.UTC(2026, 0, 1, 0, 10)]);
});

test('what is null or unset is absent; false is not', () => {
  const { outcome: _, ...rest } = EVENT.data;
  const { variables, notBeforeMs } = variablesOf({
    ...EVENT,
    outcome: null,
    data: { ...rest, notBefore: null, observer: { affected: null } },
  });
  for (const name of ['CE_OUTCOME', 'EVENT_OUTCOME', 'EVENT_NOT_BEFORE', 'EVENT_AFFECTED'])
    assert.ok(!(name in variables), name);
  assert.equal(notBeforeMs, null);
  assert.equal(variablesOf({ ...EVENT, data: { observer: { affected: false } } }).variables['EVENT_AFFECTED'], 'false');
});

test('an event of the bridge itself, whose data tells of no event, has its attributes and its change', () => {
  const { variables } = variablesOf(
    { ...EVENT, outcome: undefined, data: { since: 'x', observer: { name: null } } },
    'source.blind',
  );
  assert.deepEqual(
    Object.keys(variables).filter((name) => name.startsWith('EVENT_')),
    ['EVENT_CHANGE'],
  );
});

test('a field with NUL or over 32 KiB is left out by name, one of exactly 32 KiB is not', () => {
  const data = {
    ...EVENT.data,
    eventSource: 'a\0b',
    resources: ['x'.repeat(32 * 1024)],
    eventType: 'é'.repeat(16 * 1024),
  };
  const { variables, leftOut } = variablesOf({ ...EVENT, data });
  assert.deepEqual(leftOut, ['EVENT_SOURCE', 'EVENT_RESOURCES']);
  assert.equal(variables['EVENT_TYPE']?.length, 16 * 1024);
});

test('of the environment of the bridge four variables are handed on, its BRIDGE_* are not, and env comes last', () => {
  const own = {
    PATH: '/bin',
    HOME: '/root',
    LANG: 'C',
    TZ: 'UTC',
    BRIDGE_TOKEN: 'secret',
    NODE_OPTIONS: '--x',
    USER: 'root',
  };
  const token = new Secret({ env: 'TOKEN' });
  token.open('t');
  const given = (home: string | null) => ownVariables(own, { LANG: 'de', TOKEN: token }, { home, platform: 'linux' });
  assert.deepEqual(given(null), { PATH: '/bin', HOME: '/root', LANG: 'de', TZ: 'UTC', TOKEN: 't' });
  assert.equal(given('/home/postgres')['HOME'], '/home/postgres');
  assert.deepEqual(ownVariables({}, {}, { home: null, platform: 'linux' }), {});
});

test('Windows programs get what they cannot start without', () => {
  const own = { PATH: 'C:\\Windows', SystemRoot: 'C:\\Windows', SECRET: 'x', TEMP: 'C:\\T' };
  assert.deepEqual(ownVariables(own, {}, { home: null, platform: 'win32' }), {
    PATH: 'C:\\Windows',
    SystemRoot: 'C:\\Windows',
    TEMP: 'C:\\T',
  });
});

test('PATH is searched in its order, by the separator of the platform', () => {
  assert.deepEqual(searchPath({ PATH: '/a::/b' }, 'linux'), ['/a', '/b']);
  assert.deepEqual(searchPath({ PATH: 'C:\\a;D:\\b' }, 'win32'), ['C:\\a', 'D:\\b']);
  assert.ok(searchPath({}, 'linux').includes('/usr/bin'));
});

test('a program is told of a drill', () => {
  assert.equal(variablesOf({ ...EVENT, drill: true }).variables['CE_DRILL'], 'true');
  assert.equal('CE_DRILL' in variablesOf(EVENT).variables, false);
});
