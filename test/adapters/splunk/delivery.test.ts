// An HTTP Event Collector on loopback → arrivals, the result of each code, acknowledgments.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Disposition } from '../../../src/errors.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { poll } from '../../support/poll.ts';
import { HOUR, SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { type SplunkSetup, startSplunk, TOKEN } from './start-splunk.ts';

const never = new AbortController().signal;

test('an event has time, source and fields around the stored CloudEvent', async (t) => {
  const { collector, deliver } = await startSplunk(t, { options: { index: 'azure' } });
  await deliver({ seq: 1 });
  const { eventBytes, ...event } = collector.events[0] ?? assert.fail('nothing arrived');
  const { bytes } = sampleDelivery({ seq: 1 });
  assert.deepEqual(Buffer.from(eventBytes), Buffer.from(bytes));
  const { attributes } = logRecord(bytes);
  assert.deepEqual(event, {
    time: 1767225600,
    source: attributes['source'],
    sourcetype: 'scheduled-events-bridge',
    index: 'azure',
    event: JSON.parse(Buffer.from(bytes).toString()),
    fields: attributes,
  });
  assert.equal(collector.receiver.requests[0]?.headers.authorization, `Splunk ${TOKEN}`);
});

test('source and sourcetype are configurable, host is the VM, fields have numbers as texts, and time keeps its fraction', async (t) => {
  const { collector, adapter } = await startSplunk(t, { options: { source: 'vm', sourcetype: 'azure:event' } });
  const sample = sampleDelivery();
  const stored = JSON.parse(Buffer.from(sample.bytes).toString());
  const text = JSON.stringify({
    ...stored,
    severitynumber: 13,
    data: { ...stored.data, observer: { name: 'WestNO_0' } },
  });
  await adapter.deliver([{ ...sample, timeMs: sample.timeMs + 123, bytes: Buffer.from(text) }], never);
  const { time, host, source, sourcetype, fields } = collector.events[0] ?? assert.fail('nothing arrived');
  assert.deepEqual(
    [time, host, source, sourcetype, fields?.['severitynumber']],
    [1767225600.123, 'WestNO_0', 'vm', 'azure:event', '13'],
  );
});

for (const path of [
  '',
  '/',
  '/services/collector',
  '/services/collector/event',
  '/services/collector/event/',
  '/services/collector/event/1.0',
])
  test(`url may end in "${path}"`, async (t) => {
    const { collector, adapter } = await startSplunk(t);
    const url = `${collector.url}${path}`;
    const { deliver } = await startSplunk(t, { options: { url } });
    assert.deepEqual(await deliver(), ['accepted']);
    assert.equal(collector.events.length, 1);
    await adapter.check(never);
  });

const CODES: readonly (readonly [code: number, disposition: Disposition, advice: RegExp])[] = [
  [1, 'misconfigured', /token disabled.*enable the token/],
  [2, 'misconfigured', /token required.*check token/],
  [3, 'misconfigured', /invalid authorization.*check token/],
  [4, 'misconfigured', /invalid token.*check token/],
  [5, 'refused', /no data/],
  [6, 'refused', /invalid data format/],
  [7, 'misconfigured', /incorrect index.*check index/],
  [8, 'retry', /internal error/],
  [9, 'retry', /server busy/],
  [10, 'misconfigured', /channel missing.*acknowledge: true/],
  [11, 'misconfigured', /invalid data channel/],
  [12, 'refused', /event field required/],
  [13, 'refused', /event field blank/],
  [14, 'misconfigured', /acknowledgment disabled.*acknowledge: false/],
  [15, 'refused', /indexed fields/],
];

for (const [code, disposition, advice] of CODES)
  test(`code ${code} of the collector is ${disposition}`, async (t) => {
    const { collector, deliver } = await startSplunk(t);
    collector.failsWith = code;
    const failure = failed((await deliver())[0]);
    assert.deepEqual([failure.disposition, failure.status], [disposition, code]);
    assert.match(failure.message, advice);
  });

for (const [code, disposition] of CODES)
  test(`code ${code} is ${disposition} with status 200 too`, async (t) => {
    const { collector, deliver } = await startSplunk(t);
    collector.receiver.default = { status: 200, body: JSON.stringify({ text: 'said by a gateway', code }) };
    const failure = failed((await deliver())[0]);
    assert.deepEqual([failure.disposition, failure.status], [disposition, code]);
  });

const FOREIGN: readonly (readonly [what: string, answer: { status: number; body: string }, code: string])[] = [
  ['nothing', { status: 204, body: '' }, 'BRIDGE_SINK_ANSWER'],
  ['JSON of something else', { status: 200, body: '{"errors":false}' }, 'BRIDGE_SINK_ANSWER'],
  ['an unknown code with 200', { status: 200, body: '{"text":"?","code":27}' }, 'BRIDGE_SINK_ANSWER'],
  ['null', { status: 200, body: 'null' }, 'BRIDGE_SINK_ANSWER'],
  ['an unknown code with 429', { status: 429, body: '{"text":"?","code":27}' }, 'BRIDGE_SINK_UNAVAILABLE'],
];

for (const [what, answer, code] of FOREIGN)
  test(`${what} instead of an answer of the collector is ${code}`, async (t) => {
    const { collector, deliver } = await startSplunk(t);
    collector.receiver.default = answer;
    assert.equal(failed((await deliver())[0]).code, code);
  });

for (const [what, setup] of [
  ['counted from 1', { firstNumber: 1 }],
  ['not numbered', { omitsNumber: true }],
] as const)
  test(`of a batch with two bad events, ${what}, only those are dead letters`, async (t) => {
    const { lane, collector } = await onLane(t);
    Object.assign(collector, setup, { badText: 'bad' });
    for (let seq = 1; seq <= 6; seq++)
      lane.queue({ seq, partitionKey: `key-${seq}`, mark: seq === 2 || seq === 5 ? 'bad' : '' });
    await lane.pass(SECOND);
    assert.deepEqual(lane.store.dead.map(({ row, status }) => [row.partitionKey, status]).sort(), [
      ['key-2', 6],
      ['key-5', 6],
    ]);
    assert.equal(lane.store.accepted.length, 4);
    assert.equal(new Set(collector.events.map(({ fields }) => fields?.['id'])).size, 4);
  });

async function onLane(t: TestContext, { options, token }: SplunkSetup = {}) {
  const time = new VirtualTime();
  const { adapter, collector, deps } = await startSplunk(t, {
    time,
    ...(options && { options }),
    ...(token && { token }),
  });
  return { lane: adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) }), collector, time };
}

test('with acknowledge, the sink polls at growing intervals and accepts a batch when it is indexed', async (t) => {
  const { lane, collector, time } = await onLane(t, { options: { acknowledge: true }, token: { acknowledges: true } });
  collector.isIndexing = false;
  lane.queue();
  await poll(() => collector.polls === 2, 'the first poll');
  for (const [pauseMs, polls] of [
    [200, 3],
    [400, 4],
    [800, 5],
  ] as const) {
    await time.advance(pauseMs - 1);
    assert.deepEqual([collector.polls, lane.lane.status().inFlight], [polls - 1, 1]);
    await time.advance(1);
    await poll(() => collector.polls === polls, 'the next poll');
  }
  assert.equal(lane.store.accepted.length, 0);
  collector.isIndexing = true;
  await poll(async () => {
    await time.advance(100);
    return lane.store.accepted.length === 1;
  }, 'the acknowledgment');
  assert.deepEqual([collector.events.length, collector.polls], [1, 6]);
  const channels = collector.receiver.requests.map(({ headers }) => headers['x-splunk-request-channel']);
  assert.equal(new Set(channels).size, 1);
  await lane.pass(HOUR);
  assert.equal(collector.receiver.requests.length, channels.length, 'no poll without a delivery');
});

test('a batch that is not acknowledged within timeout is sent again', async (t) => {
  const options = { acknowledge: true, timeout: '3s' };
  const { lane, collector, time } = await onLane(t, { options, token: { acknowledges: true } });
  collector.isIndexing = false;
  lane.queue();
  await poll(async () => {
    await time.advance(100);
    return lane.lane.status().state === 'backing off';
  }, 'the time limit');
  assert.match(lane.lane.status().reason ?? '', /did not answer within 3s/);
  collector.isIndexing = true;
  await poll(async () => {
    await time.advance(100);
    return lane.store.accepted.length === 1;
  }, 'the second attempt');
  assert.equal(collector.events.length, 2);
});

test('with acknowledge, the sink sends nothing if the token does not support acknowledgment', async (t) => {
  const { collector, deliver, adapter } = await startSplunk(t, { options: { acknowledge: true } });
  const failure = failed((await deliver())[0]);
  assert.deepEqual([failure.code, failure.status], ['BRIDGE_SINK_MISCONFIGURED', 14]);
  await assert.rejects(adapter.check(never), { status: 14 });
  assert.equal(collector.events.length, 0);
});

test('a check shows a bad token and a missing channel, and sends no event', async (t) => {
  const disabled = await startSplunk(t, { token: { enabled: false } });
  await assert.rejects(disabled.adapter.check(never), { code: 'BRIDGE_SINK_MISCONFIGURED', status: 1 });
  const acknowledging = await startSplunk(t, { token: { acknowledges: true } });
  await assert.rejects(acknowledging.adapter.check(never), { status: 10 });
  for (const { collector } of [disabled, acknowledging]) assert.deepEqual(collector.events, []);
});

test('a check accepts code 0 for an empty body, the answer of collectors other than Splunk', async (t) => {
  const { collector, adapter } = await startSplunk(t);
  collector.receiver.default = { status: 200, body: '{"text":"Success","code":0}' };
  assert.equal(await adapter.check(never), null);
});

test('with compression: gzip events are compressed; checks and polls for acknowledgment never are', async (t) => {
  const options = { compression: 'gzip', acknowledge: true };
  const { collector, deliver, adapter } = await startSplunk(t, { options, token: { acknowledges: true } });
  await adapter.check(never);
  assert.deepEqual(await deliver(), ['accepted']);
  const encodings = collector.receiver.requests.map(({ path, headers }) => [
    path.replace(/\?.*/, ''),
    headers['content-encoding'],
  ]);
  assert.deepEqual(encodings, [
    ['/services/collector/event', undefined],
    ['/services/collector/ack', undefined],
    ['/services/collector/event', 'gzip'],
    ['/services/collector/ack', undefined],
  ]);
  assert.equal(collector.events.length, 1);
});
