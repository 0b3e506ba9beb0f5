// A command sink whose configuration changes while its programs run → they go on, and are counted.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { deliveryNotes } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { isAlive, Scripts, startCommand } from './start-command.ts';

/** Ends with 1 once the file `end` is there. */
const WAITS = 'echo $$ > pid; while [ ! -e end ]; do sleep 0.05; done; exit 1';

test('the adapter of a changed sink ends no run that another adapter of this process still has, and counts it', async (t) => {
  const scripts = new Scripts(t);
  const notes = deliveryNotes();
  const before = startCommand(t, scripts, { run: [scripts.write('before', WAITS)] }, { notes });
  const running = before.deliver();
  const pid = Number(await scripts.line('pid'));
  const after = startCommand(
    t,
    scripts,
    { run: [scripts.write('after', 'echo "$BRIDGE_ATTEMPT" > attempt')], timeout: '5m' },
    { notes },
  );
  await after.adapter.start?.();
  assert.equal(await after.deliver(sampleDelivery({ seq: 2, partitionKey: 'other' })), 'accepted');
  assert.ok(isAlive(pid), after.deps.logged());
  writeFileSync(scripts.path('end'), '');
  assert.equal(failed(await running).code, 'BRIDGE_COMMAND_FAILED');
  assert.equal(await after.deliver(), 'accepted');
  assert.equal(scripts.read('attempt'), '2\n', 'the second run of this delivery');
  assert.doesNotMatch(after.deps.logged(), /outlived/);
});

test('the next adapter also finds a run that began right after its own start', async (t) => {
  const scripts = new Scripts(t);
  const notes = deliveryNotes();
  const before = startCommand(t, scripts, { run: [scripts.write('before', 'exit 1')] }, { notes });
  const after = startCommand(
    t,
    scripts,
    { run: [scripts.write('after', 'echo "$BRIDGE_ATTEMPT" > attempt')] },
    { notes },
  );
  await after.adapter.start?.();
  failed(await before.deliver());
  await after.deliver();
  assert.equal(scripts.read('attempt'), '2\n');
});

test('a run that could not be ended by the adapter before keeps its event waiting in the next one', async (t) => {
  const scripts = new Scripts(t);
  const notes = deliveryNotes();
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('before', `${WAITS}`)] }, { notes });
  const stop = new AbortController();
  const running = deliver(sampleDelivery(), stop.signal);
  const pid = Number(await scripts.line('pid'));
  stop.abort(new Error('enough'));
  await assert.rejects(running, { message: 'enough' });
  const after = startCommand(t, scripts, { run: [scripts.write('after', 'echo x > done')] }, { notes });
  await after.deliver();
  assert.ok(!isAlive(pid), 'no two runs of one event');
  await poll(() => scripts.read('done') !== null, 'the next run');
});
