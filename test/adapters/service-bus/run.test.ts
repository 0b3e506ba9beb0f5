// The built command, service-bus sink and simulator → what arrives over kill -9 and outages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { run } from '../../support/program.ts';
import { bridgeFolder, startRun } from '../../support/running-bridge.ts';
import { arrived } from './arrived.ts';

const SINK = { type: 'service-bus', connectionString: { env: 'BUS' }, topic: 'maintenance' };

test('all changes of an event arrive in order and once each, although the namespace was unreachable and the bridge was killed', async (t) => {
  const server = await serviceBusServer(t);
  const subscription = server.topic('maintenance', { duplicateDetection: '10m' }).subscription('all');
  const azure = await localSimulator(t);
  const folder = bridgeFolder(t, azure.url, { sinks: { bus: SINK } });
  const env = { BUS: server.connectionString };
  const types = () => subscription.messages().map((kept) => arrived(kept).event.type.replace(/^.*bridge\./, ''));

  const first = await startRun(t, folder, { env });
  const { EventId } = await azure.schedule({});
  await poll(() => types().length === 1, 'the notice');
  await server.leave();
  await azure.start(EventId);
  await poll(
    () => first.stderr.includes('BRIDGE_SERVICE_BUS_') || first.stderr.includes('cannot be reached'),
    'the log to tell',
  );
  await first.end('SIGKILL');
  await server.comeBack();

  const second = await startRun(t, folder, { env });
  await poll(() => types().length === 2, 'the start');
  await azure.end(EventId);
  await poll(() => types().length === 3, 'the end');
  assert.deepEqual(types(), ['scheduled.v1', 'started.v1', 'ended.v1']);
  const keys = new Set(
    subscription.messages().map(({ message }) => message.messageAnnotations['x-opt-partition-key']?.value),
  );
  assert.deepEqual([...keys], [EventId.toLowerCase()]);
  const { code, stderr } = await second.end('SIGTERM');
  assert.equal(code, 0);
  assert.doesNotMatch(first.stderr + stderr, /SharedAccessKey|azure:service-bus/);
  await poll(() => server.open === 0, 'the connection to go');
});

test('check --connect reports whether a message could be sent, and sends none', async (t) => {
  const server = await serviceBusServer(t);
  const azure = await localSimulator(t);
  const { config } = bridgeFolder(t, azure.url, { sinks: { bus: SINK } });
  const env = { BUS: server.connectionString };
  const missing = await run(t, ['check', '--connect', '--config', config], { env });
  assert.equal(missing.code, 1);
  assert.match(
    missing.stdout,
    /\nsinks\.bus: sink bus: 127\.0\.0\.1:\d+ has no topic maintenance: correct the name, or create it/,
  );
  server.topic('maintenance');
  const { code, stdout, stderr } = await run(t, ['check', '--connect', '--config', config], { env });
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 0, stdout: 'metadata: can be reached\nsinks.bus: can be reached\n', stderr: '' },
  );
  assert.deepEqual(server.contacts('send'), []);
});

test('an invalid connection string, and the emulator on another machine, are faults that name the key', async (t) => {
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { sinks: { bus: SINK } });
  const emulator =
    'Endpoint=sb://emulator.test;SharedAccessKeyName=a;SharedAccessKey=hidden;UseDevelopmentEmulator=true';
  for (const [BUS, says] of [
    ['hidden', /sinks\.bus\.connectionString.*Name=value/],
    [emulator, /sinks\.bus\.connectionString.*only loopback is allowed/],
  ] as const) {
    const { code, stderr } = await run(t, ['check', '--config', config], { env: { BUS } });
    assert.equal(code, 78);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /hidden/);
  }
});
