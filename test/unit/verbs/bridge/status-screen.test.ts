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
  ...{
    vm: { name: 'web_0', source: '/subscriptions/6b1c/resourcegroups/web' },
    version: '1.2.3',
    dryRun: false,
    heldAll: null,
    clock: { offsetSeconds: 0.2 },
    certificates: [],
  },
  ...{ ready: true, reasons: [], isRunning: true, from: 'bridge', state: 'watching', documentIncarnation: 7 },
  ...{
    observedAt: '2025-12-31T23:59:59Z',
    documentAgeSeconds: 1,
    events: [EVENT],
    sinks: [SINK],
    sinkStates: { hooks: 'delivering' },
  },
  ...{ deadLetters: 0, configuration: { since: '2025-12-31T00:00:00Z', refused: null } },
};

const textOf = (view: Partial<StatusView>) => statusScreen({ ...VIEW, ...view }, NOW).map(({ text }) => text);

test('lines without a problem have no colour, and the columns of a table are aligned', () => {
  const other = { ...EVENT, eventType: 'Freeze', eventStatus: 'Started', eventId: 'B', resources: ['db'] };
  assert.deepEqual(textOf({ events: [EVENT, other] }), [
    'ready',
    'machine        web_0, /subscriptions/6b1c/resourcegroups/web, version 1.2.3',
    'sight          watching, last document 1s ago (2025-12-31T23:59:59Z), incarnation 7',
    'configuration  in force since 2025-12-31T00:00:00Z',
    'events         2',
    '  Freeze  Started    under way  db            B  no approval',
    '  Reboot  Scheduled  in 12m 5s  web_0, web_1  A  no approval',
    'sinks          1',
    '  hooks  webhook  delivering  0 queued  0 dead  no error',
    'dead letters   0',
  ]);
});

test('a hold of everything comes before everything else, in red', () => {
  const heldAll = { by: 'ops', at: '2025-12-31T23:00:00.000Z', reason: 'a release' };
  const [first, second, third] = statusScreen({ ...VIEW, heldAll }, NOW);
  assert.deepEqual(
    [first, second?.text.trim(), third?.text],
    [
      { text: 'EVERYTHING IS HELD by ops since 2025-12-31T23:00:00.000Z: a release', colour: 'red' },
      'nothing is submitted to Azure until `release --all`',
      'ready',
    ],
  );
  assert.match(
    statusScreen({ ...VIEW, heldAll: { ...heldAll, reason: null } }, NOW)[0]?.text ?? '',
    /^EVERYTHING IS HELD by ops since 2025-12-31T23:00:00.000Z$/,
  );
});

test('the line of a drill says "a drill"', () => {
  const eventId = 'drill-b7cf3c25-632b-4924-809d-3fb64afebede';
  assert.match(textOf({ events: [{ ...EVENT, eventId }] })[5] ?? '', /^ {2}Reboot \(a drill\) {2}Scheduled /);
});

test('an event shows its approvals, missing approvers and holds, and its time: overdue, or none', () => {
  const approval = { state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'], holds: [{ approver: 'ops' }] };
  const lines = textOf({
    events: [
      { ...EVENT, approval },
      { ...EVENT, notBefore: null },
      { ...EVENT, notBefore: '2025-12-30T22:00:00Z' },
    ],
  });
  assert.match(lines[7] ?? '', /approval waiting \(approved by orders; waiting for billing; held by ops\)$/);
  assert.match(lines[5] ?? '', / at any time /);
  assert.match(lines[6] ?? '', / due for 1d 2h /);
});

test('a second line says what happens to an event if nobody acts', () => {
  const nextStep = { action: 'start', at: '2026-01-01T00:12:05Z', by: null } as const;
  const rule = { policy: 'policy[0]', then: 'never', waitingFor: [] } as const;
  const lines = textOf({ events: [{ ...EVENT, nextStep, rule }, EVENT] });
  assert.deepEqual(lines.slice(5, 8), [
    '  Reboot  Scheduled  in 12m 5s  web_0, web_1  A',
    '    never approved by this bridge (policy[0]); left to Azure, which starts it at 2026-01-01T00:12:05Z',
    '  Reboot  Scheduled  in 12m 5s  web_0, web_1  A  no approval',
  ]);
});

test('the second line names the window and the budgets that an event waits for', () => {
  const window = { name: 'nights', opensAt: '2026-01-01T21:00:00Z', closesAt: '2026-01-02T04:00:00Z' };
  const rule = { policy: 'policy[0]', then: 'approve', waitingFor: ['orders'], window } as const;
  const nextStep = { action: 'approve', at: window.opensAt, by: 'policy[0]' } as const;
  const waits = { ...EVENT, nextStep, rule, heldBackBy: [] };
  const lines = textOf({
    events: [waits, { ...waits, nextStep: { ...nextStep, at: null }, heldBackBy: ['databases'] }],
  });
  assert.equal(
    lines[6],
    '    waits for the window nights; if nobody acts: approved by policy[0] at 2026-01-01T21:00:00Z',
  );
  assert.match(
    lines[8] ?? '',
    /^ {4}held back by the budget databases; if nobody acts: approved by policy\[0\] as soon as/,
  );
});

test('a backlog, an error, dead letters and a rejected reload are yellow', () => {
  const lastError = { code: 'BRIDGE_SINK_UNAVAILABLE', message: 'answered\n503', at: '2025-12-31T23:00:00Z' };
  const sink = { ...SINK, state: 'retrying', queued: 3, oldestAt: '2025-12-31T23:58:00Z', lastError, deadLetters: 2 };
  const refused = { at: '2025-12-31T12:00:00Z', by: 'SIGHUP', faults: [{ path: 'sinks', message: 'is missing' }] };
  const view = { ...VIEW, sinks: [sink], deadLetters: 2, configuration: { since: '2025-12-31T00:00:00Z', refused } };
  const yellow = statusScreen(view, NOW).filter(({ colour }) => colour === 'yellow');
  assert.deepEqual(
    yellow.map(({ text }) => text),
    [
      '  the reload of 2025-12-31T12:00:00Z by SIGHUP was rejected: sinks: is missing',
      '  hooks  webhook  retrying  3 queued, the oldest for 2m 0s  2 dead  last error 2025-12-31T23:00:00Z BRIDGE_SINK_UNAVAILABLE: answered\\n503',
      'dead letters   2',
    ],
  );
});

test('without a token it shows only public data; from the store it says so; without either it shows one line', () => {
  const hidden = { from: null, state: null, observedAt: null, events: null, sinks: null, deadLetters: null };
  assert.deepEqual(textOf(hidden).slice(-3), [
    'events         hidden: give the token of a reader with --token-env',
    'sinks          1',
    '  hooks  delivering',
  ]);
  assert.equal(textOf({ from: 'store' })[2], 'the following lines are from the store');
  const gone = {
    ...hidden,
    ready: false,
    reasons: ['no bridge answers'],
    isRunning: false,
    sinkStates: null,
    configuration: null,
  };
  assert.deepEqual(textOf(gone), ['not ready: no bridge answers']);
});

test('a certificate that expires soon is yellow, below the machine', () => {
  const certificates = [
    { usedBy: 'sink', name: 'sinks.hooks.tls.ca', subject: 'CN=authority', expiresAt: '2026-01-20T00:00:00Z' },
  ] as const;
  assert.deepEqual(statusScreen({ ...VIEW, certificates }, NOW)[2], {
    text: 'certificate    sinks.hooks.tls.ca: the certificate expires in 19 days, at 2026-01-20T00:00:00Z: renew the file, which the bridge then reads again without a restart (CN=authority)',
    colour: 'yellow',
  });
});

test('a dry run, a clock that is off and an event of this machine are named; what is unknown is left out', () => {
  const lines = textOf({
    dryRun: true,
    clock: { offsetSeconds: 86_399 },
    events: [{ ...EVENT, observer: { affected: true } }],
  });
  assert.match(lines[2] ?? '', /^dry run {8}approvals are recorded, and no StartRequest is sent$/);
  assert.match(lines[3] ?? '', /^clock {10}this machine's clock is 86399 s behind the clock of the metadata service/);
  assert.match(lines[7] ?? '', / web_0, web_1 \(this machine\) /);
  const unknown = textOf({ vm: { name: null, source: null }, version: null, dryRun: null, clock: null });
  assert.match(unknown[1] ?? '', /^sight /);
});

test('what a sink works on stands below it: since when, which attempt, and what it waits for', () => {
  const since = '2025-12-31T23:59:35Z';
  const drain = {
    ...{ ...SINK, name: 'drain', type: 'command' },
    running: [
      { eventId: 'A', since, attempt: 2, last: 'connections \u001b left: 3' },
      { eventId: 'B', since, attempt: 1, last: null },
    ],
  };
  const last = 'web/db-0 (429, disruption budget web/db-pdb)';
  const node = { ...SINK, name: 'node', type: 'kubernetes', running: [{ eventId: null, since, attempt: 1, last }] };
  assert.deepEqual(textOf({ sinks: [drain, node] }).slice(-6, -1), [
    '  drain  command     delivering  0 queued  0 dead  no error',
    '    A  running for 25s (attempt 2), last line: connections \\u001b left: 3',
    '    B  running for 25s (attempt 1)',
    '  node   kubernetes  delivering  0 queued  0 dead  no error',
    '    source  running for 25s (attempt 1), waits for web/db-0 (429, disruption budget web/db-pdb)',
  ]);
});

test('what runs comes first, then the events of this machine, then the others by NotBefore', () => {
  const event = (eventId: string, more: Partial<ShownEvent>) => ({ ...EVENT, eventId, ...more });
  const lines = textOf({
    events: [
      event('later', { notBefore: '2026-01-01T00:20:00Z' }),
      event('sooner', { notBefore: '2026-01-01T00:10:00Z' }),
      event('own', { notBefore: '2026-01-01T00:30:00Z', observer: { affected: true } }),
      event('running', { eventStatus: 'Started', notBefore: null }),
      event('own-running', { eventStatus: 'Started', notBefore: null, observer: { affected: true } }),
    ],
  });
  const ids = lines.slice(5, 10).map((line) => line.match(/(own-running|running|own|sooner|later) /)?.[1]);
  assert.deepEqual(ids, ['own-running', 'running', 'own', 'sooner', 'later']);
});

test('the advice at the end of a long error is not cut, and sinks in trouble come first', () => {
  const message = `${'the certificate is of an authority that this machine does not trust; '.repeat(5)}give its file in tls.ca`;
  const lastError = { code: 'BRIDGE_SINK_UNAVAILABLE', message, at: '2025-12-31T23:00:00Z' };
  const lines = textOf({ sinks: [SINK, { ...SINK, name: 'bad', state: 'misconfigured', lastError }] });
  const first = lines[lines.indexOf('sinks          2 (1 in trouble)') + 1] ?? '';
  assert.match(first, /^ {2}bad .*give its file in tls\.ca$/);
});

test('the count of sinks says how many are in trouble and what runs; after the former, what runs comes first', () => {
  const running = [{ eventId: 'A', since: '2026-01-01T00:00:00.000Z', attempt: 1, last: null }];
  const sinks = [
    { ...SINK, name: 'audit' },
    { ...SINK, name: 'drain', running },
    { ...SINK, name: 'pager', state: 'probing' },
  ];
  const lines = textOf({ sinks });
  assert.ok(lines.includes('sinks          3 (1 in trouble, 1 running)'), lines.join('\n'));
  const names = lines.map((line) => line.match(/^ {2}(pager|drain|audit) /)?.[1]).filter(Boolean);
  assert.deepEqual(names, ['pager', 'drain', 'audit']);
});
