// A simulated clock put forward, a bridge on real time → what a filter by notice lets pass.
import assert from 'node:assert/strict';
import test from 'node:test';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const near = { type: 'memory', filter: { changes: ['scheduled'], notice: { below: '10m' } } };

for (const [notBefore, told] of [
  ['simulated', ['Terminate']],
  ['wall', ['Terminate', 'Terminate']],
] as const) {
  const seen = notBefore === 'wall' ? 'sees' : 'does not see';
  test(`with NotBefore by the ${notBefore} clock a filter for less than 10 min of notice ${seen} a Terminate of 5 min after the clock was put forward by 1 h`, async (t) => {
    const bridge = new VirtualBridge(t, { sinks: { near, all: { type: 'memory' } } });
    const { simulation } = bridge;
    simulation.order('PUT', '/clock', { notBefore });
    await bridge.start();
    simulation.schedule({ EventType: 'Terminate' });
    await bridge.advance(2 * SECOND);
    simulation.advance('1h');
    await bridge.advance(2 * SECOND);
    simulation.schedule({ EventType: 'Terminate' });
    simulation.schedule({ EventType: 'Reboot' });
    await bridge.advance(2 * SECOND);
    assert.deepEqual(
      bridge.sink('near').events.map(({ data }) => data['eventType']),
      told,
    );
    const all = bridge.sink('all').changes.filter((change) => change === 'scheduled');
    assert.equal(all.length, 3, 'each was seen');
  });
}
