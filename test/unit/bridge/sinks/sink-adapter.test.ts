// What an adapter keeps → in the store while its configuration is in force, and nowhere afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryOf } from '../../../../src/bridge/sinks/sink-adapter.ts';
import { sinks, testStore } from '../../../virtual/outbox-fixture.ts';

test('what an adapter remembers once another configuration is in force is ignored, and it reads nothing of the other', (t) => {
  const { outbox } = testStore(t);
  outbox.sinks.sync(sinks('hooks'));
  let isInForce = true;
  const memory = memoryOf('hooks', outbox, () => isInForce);
  memory.write('consent of the old address');
  assert.equal(memory.read(), 'consent of the old address');
  isInForce = false;
  outbox.sinks.saveConsent('hooks', null);
  memory.write('consent of the old address');
  assert.equal(outbox.sinks.consent('hooks'), null);
  outbox.sinks.saveConsent('hooks', 'consent of the new address');
  assert.equal(memory.read(), null);
  memory.write(null);
  assert.equal(outbox.sinks.consent('hooks'), 'consent of the new address');
});
