// A fleet and a size → the lines of the screen: nothing wider, nothing cut that decides.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { columnsOf } from '../../../../src/verbs/top/cells.ts';
import { mergedEvents } from '../../../../src/verbs/top/fleet-event.ts';
import { drawn, type Panel, type ScreenView } from '../../../../src/verbs/top/screen.ts';
import type { WatchedBridge } from '../../../../src/verbs/top/watched-bridge.ts';
import { bridgeOf, eventOf } from './fleet-fixture.ts';

const WALL_MS = Date.parse('2026-01-01T00:00:00Z');

function viewOf(bridges: readonly WatchedBridge[], more: Partial<ScreenView> = {}): ScreenView {
  const events = mergedEvents(bridges);
  return {
    ...{ columns: 80, rows: 24, wallMs: WALL_MS, elapsedMs: bridges[0]?.faultSinceMs ?? 0, bridges, events },
    ...{ total: events.length, filter: '', chosen: events.length > 0 ? 0 : -1, top: 0, message: '' },
    panel: { kind: 'details' },
    ...more,
  };
}

const textOf = (view: ScreenView) => drawn(view).lines.map(({ text }) => text);

test('on 80×24: what runs, who is waited for, what happens next, bridges and sinks in trouble', () => {
  const holds = [{ approver: 'ops', reason: 'backup' }];
  const approval = { state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'], holds: [] };
  const nextStep = { action: 'start', at: '2026-01-01T00:15:00Z', by: null };
  const rule = { policy: 'policy[0]', then: 'wait', waitingFor: ['billing'] };
  const own = { ...rule, waitingFor: [] };
  const bridge = bridgeOf(
    'web_0',
    [
      eventOf('a', { approval, nextStep, rule, resources: ['web_0', 'web_1', 'web_2', 'web_3'] }),
      eventOf('b', { eventStatus: 'Started', notBefore: null, eventType: 'Freeze', durationInSeconds: 5 }),
      eventOf('c', { approval: { ...approval, state: 'held', holds, waitingFor: [] }, nextStep, rule: own }),
    ],
    {
      heldAll: 'everything is held by ops: release day',
      sinks: [{ name: 'audit', state: 'probing', queued: 5, deadLetters: 2, error: 'cannot be reached' }],
    },
  );
  const away = bridgeOf('web_9', [], { fault: 'connect ECONNREFUSED' });
  const lines = textOf(viewOf([bridge, away], { chosen: 1 }));
  assert.equal(lines.length, 24);
  assert.deepEqual(lines.slice(0, 6), [
    'scheduled-events-bridge top: 2 bridges, 1 not reached                  00:00:00Z',
    'HOLD: web_0: everything is held by ops: release day',
    '  TYPE        WHEN       MACHINES            NEXT            3 events, 1 running',
    '  Freeze      RUNNING    web_0               interrupts for 5s',
    '> Reboot      in 15m 0s  web_0, web_1 +2     waits for billing; Azure starts it',
    '  Reboot      in 15m 0s  web_0               HELD by ops; Azure starts it',
  ]);
  assert.match(lines.join('\n'), /^! web_9 .*: not reached for \d+s: connect ECONNREFUSED$/m);
  assert.match(lines.join('\n'), /^! web_0: sink audit probing, 5 queued, 2 dead letters: cannot be reached$/m);
  assert.match(
    lines.join('\n').replaceAll('\n', ' '),
    /approved by orders; waits for: billing; if nobody acts: left to Azure, which starts it at 2026-01-01T00:15:00Z/,
  );
});

test('no screen is too small for a question, and none has a line that is too wide', () => {
  const events = Array.from({ length: 40 }, (_, index) =>
    eventOf(`e${index}`, { resources: [`web_${index}`, '東京\u001b[2J'] }),
  );
  const bridge = bridgeOf('web_0', events, { isDryRun: true, reasons: ['no good document yet'] });
  const panels: readonly Panel[] = [
    { kind: 'details' },
    { kind: 'typing', label: 'filter', text: 'x'.repeat(200) },
    { kind: 'page', title: 'EventId', text: ['a', 'b'.repeat(300)], top: 3 },
    { kind: 'question', text: ['APPROVE?', 'Reboot of web_0', 'y does it; any other key does not'] },
  ];
  const sizes = fc.record({ columns: fc.integer({ min: 20, max: 200 }), rows: fc.integer({ min: 6, max: 80 }) });
  fc.assert(
    fc.property(sizes, fc.constantFrom(...panels), fc.nat(39), fc.nat(60), (size, panel, chosen, top) => {
      const view = viewOf([bridge], { ...size, panel, chosen, top });
      const { lines, listed, top: first } = drawn(view);
      assert.ok(lines.length <= size.rows, `${lines.length} lines`);
      for (const { text } of lines) assert.ok(columnsOf(text) <= size.columns, text);
      if (listed > 0) assert.ok(first <= chosen && chosen < first + listed, 'the chosen event is on the screen');
      if (panel.kind === 'question' && size.columns >= 40)
        assert.ok(lines.some(({ text }) => text.includes('APPROVE?')) && lines.at(-1)?.text.includes('y does it'));
    }),
  );
});

test('an empty list says why it is empty', () => {
  const connecting = bridgeOf('web_0', [], { fault: 'connecting' });
  assert.match(textOf(viewOf([connecting])).join('\n'), /no bridge has answered yet/);
  assert.match(textOf(viewOf([bridgeOf('web_0', [])])).join('\n'), /no scheduled events/);
  const filtered = viewOf([bridgeOf('web_0', [eventOf('a')])], { events: [], filter: 'x', chosen: -1 });
  assert.match(textOf(filtered).join('\n'), /no event fits the filter/);
});

test('with one bridge, * marks the events of its machine', () => {
  const bridge = bridgeOf('web_0', [eventOf('a'), eventOf('b', { observer: { affected: false } })]);
  const lines = textOf(viewOf([bridge], { chosen: 1 }));
  assert.match(lines[2] ?? '', /^ \*Reboot/);
  assert.match(lines[3] ?? '', /^> Reboot/);
});
