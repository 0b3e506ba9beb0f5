// An HTTP log sink and its far side → the clauses that all such sinks share.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Outcome } from '../../adapters/adapter.ts';
import { BridgeError } from '../../src/errors.ts';
import { CertificateAuthority } from '../far-sides/certificate-authority.ts';
import type { Answer } from '../far-sides/webhook-receiver.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { HOUR, SECOND } from '../virtual/lane-fixture.ts';
import { VirtualTime } from '../virtual/virtual-time.ts';
import { adapterLane } from './adapter-lane.ts';
import type { HttpSinkSetup, HttpSinkUnderTest } from './http-sink-under-test.ts';

const never = new AbortController().signal;
const HOSTILE = [
  '"}\n{"x":[{',
  '"}],"x":[{',
  '|=\\',
  'a\nb\r\tc',
  '\0\u0001',
  '\u202eabc',
  '💥\u2028',
  'x'.repeat(64 * 1024),
];
const MIB = 1024 ** 2;

/** The clauses by their titles. */
export const CLAUSES = {
  'texts with quotes, braces, line ends, NUL, bidi marks and lone surrogates arrive unchanged': async (t, under) => {
    const { deliver, arrivals } = await under.start(t);
    const texts = [...HOSTILE, '\ud800'];
    const outcomes = await deliver(...texts.map((mark, index) => ({ seq: index + 1, mark })));
    assert.ok(outcomes.every((outcome) => outcome === 'accepted'));
    assert.deepEqual(
      arrivals().map(({ description }) => description),
      [...HOSTILE, under.loneSurrogate ?? '\ud800'].map((text) => `Wartung für „WestNO“ ${text}`),
    );
  },

  'a batch with two rejected events makes dead letters of those two only': async (t, under) => {
    const { lane, receiver, arrivals, reject } = await onLane(t, under);
    reject('rejected-text');
    for (let seq = 1; seq <= 6; seq++)
      lane.queue({ seq, partitionKey: `key-${seq}`, mark: seq === 2 || seq === 5 ? 'rejected-text' : '' });
    await lane.pass(SECOND);
    const { status, makesRepeats, requests } = under.rejection;
    assert.deepEqual(lane.store.dead.map(({ row, reason, status }) => [row.partitionKey, reason, status]).sort(), [
      ['key-2', 'refused', status],
      ['key-5', 'refused', status],
    ]);
    const ids = arrivals().map(({ id }) => String(id).split(':')[0]);
    assert.deepEqual([...new Set(ids)].sort(), ['key-1', 'key-3', 'key-4', 'key-6']);
    assert.equal(lane.store.accepted.length, 4);
    assert.equal(ids.length > 4, makesRepeats, 'accepted events are stored again');
    if (requests !== undefined) assert.equal(receiver.requests.length, requests);
  },

  'a far side that is away for an hour gets every event after its return': async (t, under) => {
    const { lane, receiver, arrivals } = await onLane(t, under);
    await receiver.stop();
    for (const partitionKey of ['a', 'b', 'c']) lane.queue({ partitionKey });
    await lane.pass(HOUR);
    await receiver.start();
    await lane.pass(10 * SECOND);
    assert.deepEqual([lane.store.accepted.length, arrivals().length, lane.store.dead.length], [3, 3, 0]);
  },

  'a request that the far side resets is sent again': async (t, under) => {
    // A socket of TLS cannot be reset.
    await assertSentAgain(
      t,
      under,
      () => (_, socket) => void ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy()),
    );
  },

  'an answer that breaks off is not accepted, and the batch is sent again': async (t, under) => {
    await assertSentAgain(t, under, () => (response, socket) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"items":[', () => socket.destroy());
    });
  },

  'a lost answer makes repeats, and loses no event': async (t, under) => {
    const arrived = await assertSentAgain(t, under, (work) => (response, socket, request) => {
      assert.ok(typeof work === 'function');
      work(new ServerResponse(response.req), socket, request);
      socket.destroy();
    });
    assert.ok(arrived > 3, 'the far side stored the batch of the lost answer');
  },

  'a slow far side is given up after timeout, and the delivery is retried': async (t, under) => {
    const { lane, receiver, time } = await onLane(t, under, { options: { timeout: '3s' } });
    receiver.next('hang');
    lane.queue();
    await poll(() => receiver.requests.length === 1, 'the batch');
    await time.advance(3 * SECOND);
    await poll(() => /did not answer within 3s/.test(lane.lane.status().reason ?? ''), 'the time limit');
    for (let second = 0; second < 2; second++) await lane.pass(SECOND);
    assert.equal(lane.store.accepted.length, 1);
  },

  'Retry-After holds the sink for as long as the far side asks': async (t, under) => {
    const { lane, receiver, arrivals } = await onLane(t, under);
    receiver.next({ status: 429, headers: { 'retry-after': '60' } });
    lane.queue();
    await lane.pass(0);
    await lane.pass(59 * SECOND);
    assert.deepEqual([arrivals().length, lane.lane.status().state], [0, 'held']);
    await lane.pass(2 * SECOND);
    assert.equal(lane.store.accepted.length, 1);
  },

  'an answer of 1 GB is not read to its end, and is not accepted': async (t, under) => {
    const { deliver, receiver } = await under.start(t);
    let written = 0;
    receiver.default = (response) => {
      response.writeHead(200, { 'content-length': 1024 * MIB });
      const chunk = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!response.destroyed && written < 1024 * MIB) {
          written += chunk.length;
          if (!response.write(chunk)) return response.once('drain', more);
        }
        return response.end();
      };
      more();
    };
    assert.equal((await failureOf(deliver())).code, 'BRIDGE_SINK_ANSWER');
    assert.ok(written < 64 * MIB, `${written} bytes`);
  },

  'a server with an untrusted certificate gets no request, and one trusted by tls.ca gets the delivery': async (
    t,
    under,
  ) => {
    const authority = await CertificateAuthority.create(t);
    const server = { tls: await authority.issue('IP:127.0.0.1') };
    const foreign = await under.start(t, { server });
    assert.equal((await failureOf(foreign.deliver())).code, 'BRIDGE_SINK_TLS');
    assert.equal(foreign.receiver.requests.length, 0);
    const trusted = await under.start(t, { server, options: { tls: { ca: authority.file } } });
    assert.deepEqual(await trusted.deliver(), ['accepted']);
  },

  'a revoked credential holds the queue, and a new one in its file sends it': async (t, under) => {
    const { options, value, reason } = under.credential ?? assert.fail('no credential');
    const file = join(folderOf(t), 'credential');
    writeFileSync(file, value);
    const { lane, renewCredential } = await onLane(t, under, { options: options(file) });
    renewCredential?.();
    lane.queue();
    await lane.pass(0);
    assert.equal(lane.lane.status().state, 'misconfigured');
    assert.match(lane.lane.status().reason ?? '', reason);
    writeFileSync(file, 'renewed\n');
    await lane.pass(10 * SECOND);
    assert.deepEqual([lane.store.accepted.length, lane.lane.status().state], [1, 'delivering']);
  },

  'the message of a 415 names the option to change': async (t, under) => {
    const { options, advice } = under.unsupportedBody ?? assert.fail('no such body');
    const { deliver, receiver } = await under.start(t, { options });
    receiver.default = { status: 415, body: '{}' };
    const failure = await failureOf(deliver());
    assert.equal(failure.disposition, 'refused');
    assert.match(failure.message, advice);
  },

  'a check that gets a web page fails': async (t, under) => {
    const { adapter, receiver, arrivals } = await under.start(t);
    receiver.default = { status: 200, body: '<html>' };
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_ANSWER' });
    assert.deepEqual(arrivals(), []);
  },

  'an idle sink sends no request and sets no timer': async (t, under) => {
    const { lane, receiver, time, otherRequests = () => 0 } = await onLane(t, under);
    const timers = time.pending;
    lane.queue();
    await lane.pass(0);
    assert.equal(lane.store.accepted.length, 1);
    const before = [receiver.requests.length, otherRequests(), timers];
    await lane.pass(24 * HOUR);
    assert.deepEqual([receiver.requests.length, otherRequests(), time.pending], before);
  },
} as const satisfies Record<string, (t: TestContext, under: HttpSinkUnderTest) => Promise<void>>;

export type HttpClause = keyof typeof CLAUSES;

/** Starts a lane in virtual time that delivers to the sink. */
async function onLane(
  t: TestContext,
  { start, newTime = () => new VirtualTime() }: HttpSinkUnderTest,
  setup: HttpSinkSetup = {},
) {
  const time = newTime();
  const sink = await start(t, { ...setup, time });
  const { adapter, deps } = sink;
  return { ...sink, time, lane: adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) }) };
}

/**
 * Cuts the first request off by the answer that `cut` makes of the usual one. Returns the number of arrivals of three
 * events.
 */
async function assertSentAgain(
  t: TestContext,
  under: HttpSinkUnderTest,
  cut: (usual: Answer) => Answer,
): Promise<number> {
  const { lane, receiver, arrivals } = await onLane(t, under);
  receiver.next(cut(receiver.default));
  for (const partitionKey of ['a', 'b', 'c']) lane.queue({ partitionKey });
  await lane.pass(0);
  await lane.pass(10 * SECOND);
  assert.deepEqual([lane.store.accepted.length, lane.store.dead.length], [3, 0]);
  assert.equal(new Set(arrivals().map(({ id }) => id)).size, 3);
  return arrivals().length;
}

/** Returns the error of a failed delivery, which may also reject. */
export async function failureOf(delivery: Promise<readonly Outcome[]>): Promise<BridgeError> {
  const outcome = await delivery.then(
    ([first]) => first,
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof BridgeError, `expected a failure, got ${outcome}`);
  return outcome;
}
