// A connection string whose file changes → new sends with the new key, running ones with the old.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { QUEUE, startServiceBus } from './start-service-bus.ts';

test('a running send ends on its own connection when the key changes, and only then is the connection closed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-bus-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'bus');
  const time = new VirtualTime();
  const { server, deliver } = await startServiceBus(t, {
    time,
    options: { connectionString: { file } },
    beforeOpen: async (opened) => {
      for (const [name, key] of Object.entries({ first: 'Zmlyc3Q=', second: 'c2Vjb25k' }))
        opened.key(name, { key, claims: ['Send'] });
      await writeFile(file, opened.connectionStringFor('first'));
    },
  });
  server.faults.withholdCredit = true;
  const first = deliver({ seq: 1 });
  await poll(() => server.links === 1, 'the first link');
  await writeFile(file, server.connectionStringFor('second'));
  await time.advance(1000);
  const second = deliver({ seq: 2 });
  await poll(() => server.links === 2, 'the second link');
  server.grantCredit();
  assert.deepEqual(await Promise.all([first, second]), ['accepted', 'accepted']);
  await poll(() => server.open === 1, 'the first connection to go');
});

test('a connection string is read again when its file changes: a valid one is used, and an invalid one keeps the old', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-bus-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'bus');
  const time = new VirtualTime();
  const bus = await startServiceBus(t, {
    time,
    options: { connectionString: { file } },
    beforeOpen: async (server) => {
      server.key('first', { key: 'Zmlyc3Q=', claims: ['Send'] });
      server.key('second', { key: 'c2Vjb25k', claims: ['Send'] });
      await writeFile(file, `${server.connectionStringFor('first')}\n`);
    },
  });
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  await writeFile(file, 'Endpoint=hidden');
  await time.advance(1000);
  assert.equal(await bus.deliver({ seq: 2 }), 'accepted');
  assert.match(bus.deps.logged(), /the file of the connection string is unusable/);
  assert.equal(bus.server.contacts('connection').length, 1);
  await writeFile(file, bus.server.connectionStringFor('second'));
  bus.server.key('first', null);
  await time.advance(1000);
  assert.equal(await bus.deliver({ seq: 3 }), 'accepted');
  assert.equal(bus.server.contacts('connection').length, 2);
  assert.match(bus.server.contacts('put-token').at(-1)?.token ?? '', /skn=second/);
  assert.match(bus.deps.logged(), /the connection string changed and was read again/);
  assert.doesNotMatch(bus.deps.logged(), /hidden|Zmlyc3Q|c2Vjb25k/);
  const held = bus.server.queue(QUEUE).messages();
  assert.deepEqual(
    held.map(({ messageId }) => messageId),
    [1, 2, 3].map((seq) => sampleDelivery({ seq }).id),
  );
});
