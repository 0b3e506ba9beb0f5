// Views of `status` → their lines: what is due, who has to agree, what is wrong.
import assert from 'node:assert/strict';
import test from 'node:test';
import { statusScreen } from '../../../../src/verbs/bridge/status-screen.ts';
import type { ShownEvent, ShownSink, StatusView } from '../../../../src/verbs/bridge/status-view.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const EVENT: ShownEvent = {
  ...{ eventId: 'A', eventType: 'Reboot', eventStatus: 'Scheduled', resources: ['web_0', 'web_1'] },
  ...{ notBefore: '2026-01-01T00:12:05Z', approval: null },
};

const SINK: ShownSink = {
  ...{ name: 'hooks', type: 'webhook', state: 'delivering', queued: 0, oldestAt: null },
  ...{ lastAcceptedAt: null, lastError: null, deadLetters: 0 },
};

const VIEW: StatusView = {
  ...{ ready: true, reasons: [], isRunning: true, from: 'bridge', state: 'watching', documentIncarnation: 7 },
  ...{ observedAt: '2025-12-31T23:59:59Z', documentAgeSeconds: 1, events: [EVENT], sinks: [SINK], sinkStates: { hooks: 'delivering' } },
  ...{ deadLetters: 0, configuration: { since: '2025-12-31T00:00:00Z', refused: null } },
};

const wordsOf = (view: Partial<StatusView>) => statusScreen({ ...VIEW, ...view }, NOW).map(({ words }) => words);

test('what is well is plain, and every column of a table begins at one place', () => {
  const other = { ...EVENT, eventType: 'Freeze', eventStatus: 'Started', eventId: 'B', resources: ['db'] };
  assert.deepEqual(wordsOf({ events: [EVENT, other] }), [
    'ready',
    'sight          watching, last document 1s ago (2025-12-31T23:59:59Z), incarnation 7',
    'configuration  in force since 2025-12-31T00:00:00Z',
    'events         2',
    '  Reboot  Scheduled  in 12m 5s  web_0, web_1  A  no approval',
    '  Freeze  Started    under way  db            B  no approval',
    'sinks          1',
    '  hooks  webhook  delivering  0 queued  0 dead  no error',
    'dead letters   0',
  ]);
});

test('a drill says that it is one', () => {
  const eventId = 'drill-b7cf3c25-632b-4924-809d-3fb64afebede';
  assert.match(wordsOf({ events: [{ ...EVENT, eventId }] })[4] ?? '', /^ {2}Reboot \(a drill\) {2}Scheduled /);
});

test('an event says who agreed, who has still to, and who holds it; what is past due, and what has no time', () => {
  const approval = { state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'], holds: [{ approver: 'ops' }] };
  const words = wordsOf({
    events: [
      { ...EVENT, approval },
      { ...EVENT, notBefore: null },
      { ...EVENT, notBefore: '2025-12-30T22:00:00Z' },
    ],
  });
  assert.match(words[4] ?? '', /approval waiting \(yes of orders; waiting for billing; held by ops\)$/);
  assert.match(words[5] ?? '', / at any time /);
  assert.match(words[6] ?? '', / due for 1d 2h /);
});

test('a sink that is behind, an error, dead letters and a refused reload are said, in yellow', () => {
  const lastError = { code: 'BRIDGE_WEBHOOK_STATUS', message: 'answered\n503', at: '2025-12-31T23:00:00Z' };
  const sink = { ...SINK, state: 'retrying', queued: 3, oldestAt: '2025-12-31T23:58:00Z', lastError, deadLetters: 2 };
  const refused = { at: '2025-12-31T12:00:00Z', by: 'SIGHUP', faults: [{ path: 'sinks', message: 'is missing' }] };
  const view = { ...VIEW, sinks: [sink], deadLetters: 2, configuration: { since: '2025-12-31T00:00:00Z', refused } };
  const yellow = statusScreen(view, NOW).filter(({ colour }) => colour === 'yellow');
  assert.deepEqual(
    yellow.map(({ words }) => words),
    [
      '  the reload of 2025-12-31T12:00:00Z by SIGHUP was refused: sinks: is missing',
      '  hooks  webhook  retrying  3 queued, the oldest for 2m 0s  2 dead  last error 2025-12-31T23:00:00Z BRIDGE_WEBHOOK_STATUS: answered\\n503',
      'dead letters   2',
    ],
  );
});

test('without rights it shows what everybody is told, from the store that it is from there, without either one line', () => {
  const hidden = { from: null, state: null, observedAt: null, events: null, sinks: null, deadLetters: null };
  assert.deepEqual(wordsOf(hidden).slice(-3), [
    'events         only a reader may see them: --token-env',
    'sinks          1',
    '  hooks  delivering',
  ]);
  assert.equal(wordsOf({ from: 'store' })[1], 'what follows is what the store knows');
  const gone = { ...hidden, ready: false, reasons: ['no bridge answers'], isRunning: false, sinkStates: null, configuration: null };
  assert.deepEqual(wordsOf(gone), ['not ready: no bridge answers']);
});
