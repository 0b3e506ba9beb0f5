// One connection → messages count after `settle`; messages that may be lost are sent again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createSyslog, idsOf, startSyslog } from './start-syslog.ts';

const SECOND = 1000;

test('a delivery is accepted after the connection has stayed open for settle, and not before', async (t) => {
  const time = new VirtualTime();
  const { server, deliver } = await startSyslog(t, { time, options: { settle: '1s' } });
  let outcome: unknown = 'none yet';
  const delivering = deliver().then(([only]) => {
    outcome = only;
  });
  await poll(() => server.messages.length === 1, 'the message');
  // The timer of settle has replaced that of timeout.
  await poll(async () => {
    await time.advance(0);
    return time.pending === 1;
  }, 'the bytes to be taken');
  await time.advance(SECOND - 1);
  assert.equal(outcome, 'none yet');
  await time.advance(1);
  await delivering;
  assert.equal(outcome, 'accepted');
  assert.equal(time.pending, 0, 'an idle sink has no timer');
});

test('with settle: 0s a delivery is accepted when its bytes are taken, and no timer is left', async (t) => {
  const time = new VirtualTime();
  const { server, deliver } = await startSyslog(t, { time, options: { settle: '0s' } });
  assert.deepEqual(await deliver(), ['accepted']);
  assert.equal(time.pending, 0);
  await poll(() => server.messages.length === 1, 'the message');
});

for (const behaviour of ['reset', 'end'] as const) {
  test(`a server that takes a batch and then closes with ${behaviour} has accepted none of it, and gets all of it again`, async (t) => {
    const { server, deliver } = await startSyslog(t, { options: { settle: '10s' } });
    server.behaviour = behaviour;
    for (const outcome of await deliver({ seq: 1 }, { seq: 2 })) {
      const failure = failed(outcome);
      assert.deepEqual(
        [failure.code, failure.disposition, failure.scope],
        ['BRIDGE_SYSLOG_BROKEN', 'retry', 'delivery'],
      );
    }
    server.behaviour = 'read';
    const { deliver: again } = createSyslog(t, { options: { server: server.url } });
    assert.deepEqual(await again({ seq: 1 }, { seq: 2 }), ['accepted', 'accepted']);
    await poll(() => server.messages.length === 2, 'both');
  });
}

test('all unsettled deliveries fail with their connection, and settled ones stay accepted', async (t) => {
  const { server, deliver } = await startSyslog(t, { options: { settle: '200ms' } });
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  const unsettled = [deliver({ seq: 2, partitionKey: 'a' }), deliver({ seq: 3, partitionKey: 'b' })];
  await poll(() => server.messages.length === 3, 'all three');
  server.endConnections();
  const outcomes = (await Promise.all(unsettled)).flat();
  assert.deepEqual(
    outcomes.map((outcome) => failed(outcome).disposition),
    ['retry', 'retry'],
  );
});

test('concurrent deliveries share one connection, in the order of the calls', async (t) => {
  const { server, deliver } = await startSyslog(t);
  const keys = ['a', 'b', 'c', 'd'];
  const outcomes = await Promise.all(keys.map((partitionKey, seq) => deliver({ seq, partitionKey })));
  assert.deepEqual(
    outcomes.flat(),
    keys.map(() => 'accepted'),
  );
  assert.equal(server.connections.length, 1);
  assert.deepEqual(
    idsOf(server),
    keys.map((partitionKey, seq) => sampleDelivery({ seq, partitionKey }).id),
  );
});

test('after the server has closed an idle connection, the next delivery opens a new one', async (t) => {
  const { server, deliver } = await startSyslog(t);
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  server.endConnections();
  await poll(async () => (await deliver({ seq: 2 }))[0] === 'accepted', 'a delivery over a new connection');
  assert.equal(server.connections.length, 2);
});

test('a connection that was silent for 30 s is replaced, because the network may have dropped it', async (t) => {
  const time = new VirtualTime();
  const { server, deliver } = await startSyslog(t, { time, options: { settle: '0s' } });
  await deliver({ seq: 1 });
  await time.advance(29 * SECOND);
  await deliver({ seq: 2 });
  await time.advance(30 * SECOND);
  assert.equal(server.connections.length, 1);
  await deliver({ seq: 3 });
  assert.equal(server.connections.length, 2);
  await poll(() => server.messages.length === 3, 'all three');
});

test('if a server reads nothing, the delivery fails after timeout, and unread bytes do not accumulate', async (t) => {
  const { server, deliver } = await startSyslog(t, { options: { timeout: '300ms', maxBytes: '16MiB' } });
  server.hang();
  const failure = failed((await deliver({ padding: 12 * 1024 ** 2 }))[0]);
  assert.deepEqual([failure.code, failure.disposition, failure.status], ['BRIDGE_SYSLOG_TIMEOUT', 'retry', 'timeout']);
  assert.match(failure.message, /within 300ms/);
  server.read();
  assert.deepEqual(await deliver({ seq: 2 }), ['accepted']);
  assert.equal(server.connections.length, 2);
});

test('a server that sends data is not a syslog server: the delivery is not accepted, and the message says what to correct', async (t) => {
  const { server, deliver } = await startSyslog(t, { options: { settle: '10s' } });
  server.behaviour = { answer: `HTTP/1.1 400 Bad Request\r\n\r\n${'x'.repeat(1024 ** 2)}` };
  const failure = failed((await deliver())[0]);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope],
    ['BRIDGE_SYSLOG_MISCONFIGURED', 'misconfigured', 'sink'],
  );
  assert.match(failure.message, /sent data.*correct the host and port in server/);
});

test('a delivery that cannot be encoded is refused alone, and the rest of its batch is sent', async (t) => {
  const { server, adapter } = await startSyslog(t);
  const broken = { ...sampleDelivery({ seq: 2 }), bytes: Buffer.from('{') };
  const outcomes = await adapter.deliver(
    [sampleDelivery({ seq: 1 }), broken, sampleDelivery({ seq: 3 })],
    new AbortController().signal,
  );
  assert.deepEqual([outcomes[0], outcomes[2]], ['accepted', 'accepted']);
  assert.equal(failed(outcomes[1]).disposition, 'refused');
  assert.deepEqual(idsOf(server), [sampleDelivery({ seq: 1 }).id, sampleDelivery({ seq: 3 }).id]);
  assert.equal(failed((await adapter.deliver([broken], new AbortController().signal))[0]).disposition, 'refused');
});

for (const [framing, words] of [
  ['counted', 'the length is sent before each message (framing: counted)'],
  ['lines', 'a line feed is sent after each message (framing: lines)'],
] as const)
  test(`a check names the framing ${framing}, which it cannot test`, async (t) => {
    const { adapter, server } = await startSyslog(t, { options: { framing } });
    const loses =
      'a server that expects the other framing loses every message without an error: run a drill, and search for it there';
    assert.equal(await adapter.check(new AbortController().signal), `${words}; ${loses}`);
    assert.deepEqual(server.messages, []);
  });

test('if the server closes the connection, the message says that it may expect another framing', async (t) => {
  const { server, deliver } = await startSyslog(t, { options: { settle: '5s' } });
  const delivering = deliver();
  await poll(() => server.messages.length === 1, 'the message');
  server.endConnections();
  const { code, message } = failed((await delivering)[0]);
  assert.equal(code, 'BRIDGE_SYSLOG_BROKEN');
  assert.match(message, /its limits and the framing that it expects$/);
});

test('a check fails if the server accepts the connection and closes it at once', async (t) => {
  const { server, adapter } = await startSyslog(t);
  const checking = adapter.check(new AbortController().signal);
  const ending = assert.rejects(checking, { code: 'BRIDGE_SYSLOG_BROKEN' });
  await poll(() => server.connections.length === 1, 'the connection');
  server.endConnections();
  await ending;
  assert.deepEqual(server.messages, []);
});

test('a server that restarts during a batch gets the whole batch after its return', async (t) => {
  const { server, deliver } = await startSyslog(t, { options: { settle: '500ms' } });
  const samples = Array.from({ length: 50 }, (_, seq) => ({ seq, padding: 2000 }));
  const delivering = deliver(...samples);
  await poll(() => server.messages.length > 0, 'the first of them');
  await server.stop();
  assert.ok((await delivering).every((outcome) => failed(outcome).disposition === 'retry'));
  await server.start();
  assert.ok((await deliver(...samples)).every((outcome) => outcome === 'accepted'));
  assert.deepEqual(
    idsOf(server).slice(-50),
    samples.map((sample) => sampleDelivery(sample).id),
  );
});

test('with framing: lines each message arrives as one line', async (t) => {
  const { server, deliver } = await startSyslog(t, {
    server: { transport: 'tcp', framing: 'lines' },
    options: { framing: 'lines' },
  });
  assert.deepEqual(await deliver({ seq: 1 }, { seq: 2 }), ['accepted', 'accepted']);
  await poll(() => server.messages.length === 2, 'both');
  assert.deepEqual(idsOf(server), [sampleDelivery({ seq: 1 }).id, sampleDelivery({ seq: 2 }).id]);
});

test('a server that starts later gets the delivery', async (t) => {
  const { server, deliver } = await startSyslog(t);
  await server.stop();
  const failure = failed((await deliver())[0]);
  assert.deepEqual([failure.code, failure.scope], ['BRIDGE_SYSLOG_UNREACHABLE', 'sink']);
  await server.start();
  assert.deepEqual(await deliver(), ['accepted']);
});
