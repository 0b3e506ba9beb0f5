// Several signals to one `run`, as Ctrl-C under npx → deliveries that run are not cut.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { bridgeFolder, hook, peek, startRun } from '../../support/running-bridge.ts';

test('a second signal while run ends still lets the running delivery end, with exit code 0', async (t) => {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const running = Promise.withResolvers<ServerResponse>();
  receiver.next((response) => running.resolve(response));
  const simulator = await localSimulator(t);
  const folder = bridgeFolder(t, simulator.url, { sinks: { hooks: hook(receiver.url) } });
  const program = await startRun(t, folder);
  simulator.schedule();
  const response = await running.promise;
  program.child.kill('SIGINT');
  await program.logs('"ending"');
  program.child.kill('SIGINT');
  program.child.kill('SIGTERM');
  program.child.kill('SIGTERM');
  response.writeHead(204).end();
  const { code, signal } = await program.ended();
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  assert.equal(
    peek(folder, (outbox) => outbox.queue.backlog('hooks').queued),
    0,
  );
});
