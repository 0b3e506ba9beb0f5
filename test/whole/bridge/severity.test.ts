// Events that are Started at first sight → the severity of their CloudEvents (behaviour 3.8, 3.10).
import assert from 'node:assert/strict';
import test from 'node:test';
import type { CloudEvent } from '../../virtual/memory-sinks.ts';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

function startsOf(bridge: VirtualBridge): (readonly [string, string | undefined])[] {
  return bridge
    .sink('audit')
    .arrivals.map(({ change, text }) => [change, (JSON.parse(text) as CloudEvent).severitytext]);
}

for (const [what, fields, severity] of [
  ['a Reboot that a user started and Azure approved by itself', { EventType: 'Reboot', EventSource: 'User' }, 'WARN'],
  [
    'a Redeploy that a user started and Azure approved by itself',
    { EventType: 'Redeploy', EventSource: 'User' },
    'WARN',
  ],
  ['a Freeze that another VM approved between two polls', { EventType: 'Freeze' }, 'INFO'],
  ['a Reboot after a failure of hardware', { EventType: 'Reboot' }, 'ERROR'],
  ['a Redeploy after a failure of hardware', { EventType: 'Redeploy' }, 'ERROR'],
  ['a Preempt whose notice was over before the poll', { EventType: 'Preempt' }, 'ERROR'],
] as const) {
  test(`without notice, ${what} is ${severity}`, async (t) => {
    const bridge = new VirtualBridge(t);
    await bridge.startFor(6 * SECOND);
    bridge.simulation.schedule({ ...fields, EventStatus: 'Started' });
    await bridge.advance(2 * SECOND);
    assert.deepEqual(startsOf(bridge), [['started', severity]]);
  });
}

test('an event that is Started in the first document of a bridge has the severity of its impact', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.simulation.schedule({ EventType: 'Redeploy', EventStatus: 'Started' });
  await bridge.startFor(2 * SECOND);
  assert.deepEqual(startsOf(bridge), [['started', 'WARN']]);
});
