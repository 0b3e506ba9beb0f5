// SIGTERM, pipes that nobody reads, readers that leave → exit code 0 in time, nothing lost.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { fullPipe } from '../../support/full-pipe.ts';
import { type Program, start } from '../../support/program.ts';
import { bridgeFolder, hook, polled, received, startRun, urlOf } from '../../support/running-bridge.ts';

const AUDIT = { audit: { type: 'stdout' } };
/** From a signal to the exit (behaviour 1.6). */
const END_LIMIT_MS = 10_000;

/** SIGTERM; fails where the process does not end with 0 in time. */
async function endsInTime({ child }: Program): Promise<void> {
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(END_LIMIT_MS) });
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
}

suite('run ends', { concurrency: 4 }, () => {
  test('at SIGTERM under load with 0: what is under way ends and is not repeated, the rest comes after the next start', async (t) => {
    const simulator = await localSimulator(t);
    await using receiver = await WebhookReceiver.start();
    const held: ServerResponse[] = [];
    receiver.default = (response) => held.push(response);
    const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
    const bridge = await startRun(t, folder);
    const ids: string[] = [];
    for (let n = 0; n < 100; n++) ids.push(`${simulator.schedule().EventId.toLowerCase()}:scheduled`);
    await receiver.waitFor(16);
    bridge.child.kill('SIGTERM');
    await bridge.logs('"ending"');
    for (const response of held) response.writeHead(204).end();
    assert.equal((await bridge.ended()).code, 0);
    assert.equal(receiver.requests.length, 16, 'no delivery began after SIGTERM');
    receiver.default = { status: 204 };
    await startRun(t, folder);
    await receiver.waitFor(100);
    const arrived = received(receiver.requests);
    assert.deepEqual([...arrived.keys()].sort(), ids.sort());
    assert.ok([...arrived.values()].every((bodies) => bodies.length === 1));
  });

  test('at SIGTERM with 0 while a delivery never ends; it is repeated after the next start', async (t) => {
    const simulator = await localSimulator(t);
    await using receiver = await WebhookReceiver.start();
    receiver.next('hang');
    const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url, { timeout: '1m' }) } });
    const bridge = await startRun(t, folder);
    simulator.schedule();
    await receiver.waitFor(1);
    await endsInTime(bridge);
    await startRun(t, folder);
    await receiver.waitFor(2);
    assert.equal(receiver.requests[0]?.headers['webhook-id'], receiver.requests[1]?.headers['webhook-id']);
  });

  test('at SIGTERM with 0 though standard error is full and unread, which held up neither polls nor deliveries', async (t) => {
    const simulator = await localSimulator(t);
    await using receiver = await WebhookReceiver.start();
    const { config } = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
    const bridge = start(t, ['run', '--config', config, '--log-level', 'trace'], {
      stdio: ['ignore', 'ignore', fullPipe(t)],
    });
    await polled(simulator);
    simulator.schedule();
    await receiver.waitFor(1);
    await endsInTime(bridge);
  });

  test('at SIGTERM with 0 though standard output is full and unread, which delayed no other sink; nothing is lost', async (t) => {
    const simulator = await localSimulator(t);
    await using receiver = await WebhookReceiver.start();
    const folder = bridgeFolder(t, simulator.url, { sinks: { ...AUDIT, hooks: hook(receiver.url) } });
    const bridge = await startRun(t, folder, { stdio: ['ignore', fullPipe(t), 'pipe'] });
    for (const count of [1, 2]) {
      simulator.schedule();
      await receiver.waitFor(count);
    }
    await endsInTime(bridge);
    const lines = await (await startRun(t, folder)).lines(2);
    assert.deepEqual(lines.map((line) => JSON.parse(line).id).sort(), [...received(receiver.requests).keys()].sort());
  });

  test('by itself with 0 when the reader of its only sink, standard output, goes away; nothing is lost', async (t) => {
    const simulator = await localSimulator(t);
    const folder = bridgeFolder(t, simulator.url, { sinks: AUDIT });
    const bridge = await startRun(t, folder);
    simulator.schedule();
    await bridge.lines(1);
    bridge.child.stdout?.destroy();
    const unread = `${simulator.schedule().EventId.toLowerCase()}:scheduled`;
    assert.equal((await bridge.ended()).code, 0);
    const lines = await (await startRun(t, folder)).lines(1);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      [unread],
    );
  });

  test('not when the reader of standard output ends and there is another sink: only stdout is retired', async (t) => {
    const simulator = await localSimulator(t);
    await using receiver = await WebhookReceiver.start();
    const folder = bridgeFolder(t, simulator.url, { sinks: { ...AUDIT, hooks: hook(receiver.url) } });
    const bridge = await startRun(t, folder);
    bridge.child.stdout?.destroy();
    for (const count of [1, 2]) {
      simulator.schedule();
      await receiver.waitFor(count);
    }
    await bridge.logs('"BRIDGE_STDOUT_CLOSED"');
    const response = await fetch(`${urlOf(bridge)}/readyz`);
    const { sinks } = (await response.json()) as { sinks: Record<string, { state: string }> };
    assert.deepEqual([response.status, sinks['audit']?.state, sinks['hooks']?.state], [200, 'retired', 'delivering']);
    await endsInTime(bridge);
  });
});
