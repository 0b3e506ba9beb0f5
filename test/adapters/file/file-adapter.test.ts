// Deliveries to a disk that is slow or fails → what each is told, and what is in the file at last.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { FileAdapter, fileSink } from '../../../adapters/file/file.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { settle, VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { adapterLane } from '../adapter-lane.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { type Call, errno, faultyDisk } from './faulty-disk.ts';

const never = new AbortController().signal;

function given(t: TestContext, before: Call = () => {}, options: object = {}) {
  const time = new VirtualTime();
  const directory = folderOf(t);
  const deps = adapterDeps({ time, directory });
  const parsed = v.parse(fileSink.options, { path: 'events.ndjson', ...options });
  const adapter = manageAdapter(new FileAdapter(parsed, deps, faultyDisk(before)), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  const path = join(directory, 'events.ndjson');
  const idsInFile = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { id: string }).id);
  return { time, deps, adapter, path, idsInFile };
}

const [one, two, three] = [1, 2, 3].map((seq) => sampleDelivery({ seq })) as [Delivery, Delivery, Delivery];

test('a relative path starts at the folder of the configuration', async (t) => {
  const { adapter, path } = given(t);
  assert.deepEqual(await adapter.deliver([one], never), ['accepted']);
  assert.equal(readFileSync(path, 'utf8'), `${Buffer.from(one.bytes)}\n`);
});

test('a failed write is reported for its own members, and those before it are accepted', async (t) => {
  let written = 0;
  const { adapter, idsInFile } = given(
    t,
    (name) => {
      if (name === 'write' && written++ > 0) throw errno('ENOSPC');
    },
    { rotate: { size: '4KiB' } },
  );
  const large = sampleDelivery({ seq: 2, padding: 4096 });
  const [first, second, third] = await adapter.deliver([one, large, three], never);
  assert.equal(first, 'accepted');
  const failure = failed(second);
  assert.equal(failed(third), failure);
  assert.deepEqual(
    [failure.code, failure.disposition, failure.scope, failure.status],
    ['BRIDGE_FILE_FAILED', 'retry', 'sink', 'ENOSPC'],
  );
  assert.match(failure.message, /^sink under-test cannot write to .*events\.ndjson: ENOSPC.*make room on the disk$/);
  assert.deepEqual(idsInFile(), []);
});

test('a disk that does not answer in time is reported; the next delivery waits for it, and nothing is written in between', async (t) => {
  const hanging = Promise.withResolvers<void>();
  let isStuck = false;
  const { adapter, time, idsInFile } = given(t, async (name) => {
    if (name !== 'datasync' || isStuck) return;
    isStuck = true;
    await hanging.promise;
  });
  const first = adapter.deliver([one], never);
  await poll(() => isStuck, 'the disk to hang');
  await time.advance(10_000);
  const failure = failed((await first)[0]);
  assert.deepEqual([failure.code, failure.disposition, failure.scope], ['BRIDGE_FILE_FAILED', 'retry', 'sink']);
  assert.match(failure.message, /did not answer within 10000 ms/);

  const second = adapter.deliver([two], never);
  await time.advance(10_000);
  assert.equal(failed((await second)[0]).code, 'BRIDGE_FILE_FAILED');
  await assert.rejects(
    Promise.all([adapter.check(never), time.advance(10_000)]),
    { code: 'BRIDGE_FILE_FAILED' },
    'a check waits in the same turn',
  );

  hanging.resolve();
  assert.deepEqual(await adapter.deliver([one, two], never), ['accepted', 'accepted']);
  assert.deepEqual(
    idsInFile(),
    [one.id, one.id, two.id],
    'a delivery whose time had passed before its turn was not begun',
  );
});

test('after an abort it is closed once the disk has ended what it was given: no other writer of the file begins before', async (t) => {
  const hanging = Promise.withResolvers<void>();
  const stop = new AbortController();
  const { adapter, idsInFile } = given(t, async (name) => {
    if (name !== 'write') return;
    stop.abort(new Error('enough'));
    await hanging.promise;
  });
  await assert.rejects(adapter.deliver([one], stop.signal), { message: 'enough' });
  let isClosed = false;
  const closed = adapter[Symbol.asyncDispose]().then(() => {
    isClosed = true;
  });
  await settle();
  await settle();
  assert.equal(isClosed, false);
  hanging.resolve();
  await closed;
  assert.deepEqual(idsInFile(), [one.id]);
});

test('through an hour without room nothing is lost and nothing comes twice', async (t) => {
  let isFull = true;
  const before = (name: string) => {
    if (name === 'write' && isFull) throw errno('ENOSPC');
  };
  // The disk answers in real time: a minute of virtual time may pass meanwhile.
  const { adapter, time, deps, idsInFile } = given(t, before, { timeout: '4m' });
  const { lane, queue, pass } = adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) });
  const ids = [1, 2, 3, 4, 5].map((seq) => queue({ seq, partitionKey: `key-${seq % 2}` }));
  for (let minute = 0; minute < 60; minute++) await pass(60_000);
  assert.equal(lane.status().inFlight, 0);
  assert.deepEqual(idsInFile(), []);
  isFull = false;
  const isThere = async () => {
    await pass(60_000);
    return idsInFile().length >= ids.length;
  };
  await poll(isThere, 'every line');
  assert.deepEqual(idsInFile().sort(), ids.sort());
});

test('between two deliveries it has no timer and no open file', async (t) => {
  const calls: string[] = [];
  const { adapter, time } = given(t, (name) => void calls.push(name));
  await adapter.deliver([one], never);
  assert.equal(time.pending, 0);
  const count = (name: string) => calls.filter((call) => call === name).length;
  assert.ok(count('open') > 0);
  assert.equal(count('close'), count('open'));
});
