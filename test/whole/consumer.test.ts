// Simulator, bridge, a receiver with the library → a maintenance that is held, approved and over.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { ConsumerError, createApprover, createReceiver, http, preparation, toNodeHandler } from '../../src/consumer.ts';
import { startSimulator } from '../../src/simulator.ts';
import { poll } from '../support/poll.ts';
import { bridgeFolder, hook, startRun, TOKEN, urlOf } from '../support/running-bridge.ts';
import { SECRET } from '../unit/consumer/deliveries.ts';

const BILLING_TOKEN = 'a-horse-of-another-colour';

async function refusalOf(call: Promise<unknown>): Promise<readonly [string, string | undefined, number | undefined]> {
  const error = await call.then(
    () => assert.fail('nothing was refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ConsumerError, String(error));
  return [error.code, error.type, error.status];
}

test('a maintenance is prepared for, held by one approver, approved by another, released, started, and recovered from', async (t) => {
  const azure = await startSimulator();
  t.after(() => azure.close());
  const log: string[] = [];
  const ways = new Map<'orders' | 'billing', ReturnType<typeof createApprover>>();
  const by = (name: 'orders' | 'billing') => ways.get(name) ?? assert.fail('the bridge has not started yet');
  const prepared = preparation({
    prepare: async (event) => {
      await by('billing').hold(event, 'the primary is here');
      const held = await by('orders').approve(event);
      log.push(`${held.state} by ${held.heldBy}`);
      log.push(String(await refusalOf(by('orders').approve(event, { seen: 'never-made' }))));
      log.push(String(await refusalOf(by('orders').release(event))));
      await by('billing').release(event);
      await azure.until(() => azure.approvals().length === 1);
    },
    recover: (_, outcome) => log.push(`recovered: ${outcome}`),
  });
  const receiver = createReceiver({
    secrets: SECRET,
    onError: (error) => log.push(String(error)),
    handlers: {
      ...prepared,
      onStarted: async (event, context) => {
        await prepared.onStarted(event, context);
        log.push('started');
      },
      onApprovalSubmitted: ({ data }) => log.push(`submitted by ${data.approver}`),
    },
  });
  const server = createServer(toNodeHandler(receiver));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const sink = hook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    secrets: [{ env: 'SECRET' }],
    mode: 'batch',
  });
  const approvers = { orders: { token: { env: 'ORDERS' } }, billing: { token: { env: 'BILLING' } } };
  const folder = bridgeFolder(t, azure.url, { sinks: { hooks: sink }, approvals: { approvers } });
  const bridge = await startRun(t, folder, { env: { SECRET, ORDERS: TOKEN, BILLING: BILLING_TOKEN } });
  const url = urlOf(bridge);
  ways.set('orders', createApprover(http({ url, token: TOKEN })));
  ways.set('billing', createApprover(http({ url, token: BILLING_TOKEN })));

  const { EventId } = azure.schedule({ EventType: 'Reboot', notice: '15m' });
  await poll(() => log.includes('started'), 'the start');
  azure.advance('10m');
  await poll(() => log.length >= 6, 'the end');
  assert.deepEqual(log, [
    'held by billing',
    'refused,seen-unknown,404',
    'refused,forbidden,403',
    'submitted by orders',
    'started',
    'recovered: completed',
  ]);
  assert.deepEqual(azure.approvals(), [EventId]);
  assert.deepEqual(await refusalOf(by('orders').approve('unknown-id')), ['refused', 'unknown', 404]);
  const stranger = createApprover(http({ url, token: 'somebody-elses-token' }));
  assert.deepEqual(await refusalOf(stranger.hold(EventId, 'why')), ['refused', 'unauthorized', 401]);
});
