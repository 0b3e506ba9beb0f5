// Settlements and renewals that fail → whether the call ends, whether the message comes again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { Reading } from '../source-reading.ts';
import { openServer, openSource, QUEUE, send } from './source-fixture.ts';

test('a settlement without an answer ends the call within its time limit, and the message arrives again with the same id', async (t) => {
  const server = await openServer(t);
  const { source } = openSource(server, { options: { timeout: '2s' } });
  server.faults.onSettle({ do: 'ignore' });
  const reading = new Reading(source);
  await send(server, ['one', 'two']);
  const error = await reading.done;
  assert.ok(error instanceof BridgeError && error.code === 'BRIDGE_SERVICE_BUS_TIMEOUT', String(error));
  await server.until(() => server.open === 1, "no connection but the sender's");
  server.queue(QUEUE).expireLocks();
  const again = new Reading(source);
  await again.until(2);
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.deepEqual(
    again.messages.map(({ id }) => id),
    reading.messages.map(({ id }) => id),
  );
});

for (const settled of [true, false]) {
  const then = settled ? 'does not come again' : 'comes again by the same id';
  test(`when the connection is cut during a settlement that was ${settled ? '' : 'not '}done, the message ${then}`, async (t) => {
    const server = await openServer(t);
    const { source } = openSource(server, { options: { timeout: '1s' } });
    server.faults.onSettle({ do: 'drop', settled });
    const reading = new Reading(source);
    await send(server, ['one']);
    const error = await reading.done;
    assert.ok(error instanceof BridgeError && error.code === 'BRIDGE_SERVICE_BUS_BROKEN', String(error));
    server.queue(QUEUE).expireLocks();
    const again = await new Reading(source).ready();
    await send(server, ['two']);
    await again.until(settled ? 1 : 2);
    assert.deepEqual(again.texts, settled ? ['two'] : ['one', 'two']);
    if (!settled) assert.equal(again.messages[0]?.id, reading.messages[0]?.id);
  });
}

test('a settlement that the service refuses ends the call', async (t) => {
  const server = await openServer(t);
  server.faults.onSettle({ do: 'reject', with: 'internalError' });
  const reading = new Reading(openSource(server).source);
  await send(server, ['one']);
  const error = await reading.done;
  assert.ok(error instanceof BridgeError && error.code === 'BRIDGE_SERVICE_BUS_UNAVAILABLE', String(error));
});

test('a renewal that fails changes nothing', async (t) => {
  const server = await openServer(t);
  const held = Promise.withResolvers<'settle'>();
  server.faults.onManagement({ do: 'answer', status: 500, description: 'no' });
  const reading = new Reading(openSource(server).source, () => held.promise);
  await send(server, ['one']);
  const renewals = () => server.contacts('manage').length;
  await server.until(() => renewals() >= 2, 'a second renewal');
  held.resolve('settle');
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.deepEqual([reading.messages.length, reading.ended], [1, undefined]);
});
