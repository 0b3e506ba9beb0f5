// A syslog sink in virtual time, a server that stops and restarts → nothing lost, order kept.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { HOUR, SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { idsOf, startSyslog } from './start-syslog.ts';

async function syslogLane(t: TestContext) {
  const time = new VirtualTime();
  const { server, adapter, deps } = await startSyslog(t, { time, options: { settle: '0s' } });
  const lane = adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) });
  return { ...lane, server };
}

test('a server that is away for the first hour gets every message after its return, in order for each event', async (t) => {
  const { server, queue, pass, store, lane } = await syslogLane(t);
  await server.stop();
  const ids = ['a', 'b'].flatMap((partitionKey) => [1, 2, 3].map((seq) => queue({ seq, partitionKey })));
  for (let step = 0; step < 60; step++) await pass(HOUR / 60);
  assert.equal(store.open.length, ids.length);
  assert.equal(lane.status().state, 'probing');
  await server.start();
  for (let step = 0; step < 30; step++) await pass(SECOND);
  assert.equal(store.open.length, 0);
  assert.equal(lane.status().state, 'delivering');
  for (const key of ['a:', 'b:'])
    assert.deepEqual(
      idsOf(server).filter((id) => id?.startsWith(key)),
      ids.filter((id) => id.startsWith(key)),
    );
});

test('an idle sink opens no new connection', async (t) => {
  const { server, queue, pass, store } = await syslogLane(t);
  queue();
  await pass(0);
  assert.equal(store.accepted.length, 1);
  assert.equal(server.connections.length, 1);
  await pass(HOUR);
  assert.equal(server.connections.length, 1);
});
