// Receivers that are away, slow, foreign or endless → nothing lost, and the fault told.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { HOUR, SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { otlpOnLane, startOtlp } from './start-otlp.ts';

test('a receiver that is away for an hour gets everything once it is back', async (t) => {
  const { lane, receiver } = await otlpOnLane(t);
  await receiver.http.stop();
  for (const partitionKey of ['a', 'b', 'c']) lane.queue({ partitionKey });
  await lane.pass(HOUR);
  await receiver.http.start();
  await lane.pass(10 * SECOND);
  assert.deepEqual([lane.store.accepted.length, receiver.records.length, lane.store.dead.length], [3, 3, 0]);
});

test('a receiver that restarts in the middle of a batch gets it again, whole', async (t) => {
  const { lane, receiver } = await otlpOnLane(t);
  receiver.http.next('reset');
  for (const partitionKey of ['a', 'b', 'c']) lane.queue({ partitionKey });
  await lane.pass(0);
  await lane.pass(10 * SECOND);
  assert.deepEqual([lane.store.accepted.length, lane.store.dead.length], [3, 0]);
});

test('an answer of 1 GB is not read to its end', async (t) => {
  const { deliver, receiver } = await startOtlp(t);
  receiver.http.default = (response, socket) => {
    response.writeHead(200, { 'content-length': String(1024 ** 3) });
    const piece = Buffer.alloc(64 * 1024);
    const more = (): void => void (socket.destroyed || response.write(piece, () => setImmediate(more)));
    more();
  };
  const [outcome] = await deliver();
  assert.equal(failed(outcome).code, 'BRIDGE_SINK_ANSWER');
});

test('a receiver that is slow is given up after timeout', async (t) => {
  const time = new VirtualTime();
  const { deliver, receiver } = await startOtlp(t, { time, options: { timeout: '3s' } });
  receiver.http.default = 'hang';
  const delivered = deliver();
  await poll(() => receiver.http.requests.length === 1, 'the request');
  await time.advance(3 * SECOND);
  const failure = failed((await delivered)[0]);
  assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_SINK_TIMEOUT', 'retry']);
});

test('a receiver whose certificate nobody knows is sent nothing, and one of tls.ca is delivered to', async (t) => {
  const authority = await CertificateAuthority.create(t);
  const server = { tls: await authority.issue('IP:127.0.0.1') };
  const foreign = await startOtlp(t, { server });
  assert.equal(failed((await foreign.deliver())[0]).code, 'BRIDGE_SINK_TLS');
  assert.equal(foreign.receiver.http.requests.length, 0);
  const known = await startOtlp(t, { server, options: { tls: { ca: authority.file } } });
  assert.deepEqual(await known.deliver(), ['accepted']);
});

test('a key that is revoked holds what is queued, and one that is renewed in its file sends it', async (t) => {
  const file = join(folderOf(t), 'key');
  writeFileSync(file, 'old');
  const { lane, receiver } = await otlpOnLane(t, { options: { headers: { 'api-key': { file } } } });
  const { http } = receiver;
  const work = http.default;
  http.default = (response, socket, request) => {
    if (request.headers['api-key'] !== 'new') response.writeHead(403).end();
    else if (typeof work === 'function') work(response, socket, request);
  };
  lane.queue();
  await lane.pass(0);
  assert.equal(lane.lane.status().state, 'misconfigured');
  writeFileSync(file, 'new\n');
  await lane.pass(10 * SECOND);
  assert.deepEqual([lane.store.accepted.length, lane.lane.status().state], [1, 'delivering']);
});
