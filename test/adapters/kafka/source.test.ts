// Messages in a topic of a real broker → what a source hands over, and what is committed by then.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { Reading } from '../source-reading.ts';
import { FarEnd, openSource } from './source-fixture.ts';

/** A topic with a far end, and the options of a source that reads it in a group of the test's own. */
async function setUp(t: TestContext, partitions = 1, config: Readonly<Record<string, string>> = {}) {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic({ partitions, config });
  const groupId = kafka.uniqueName('group');
  return {
    kafka,
    groupId,
    far: await FarEnd.open(t, kafka.brokers, topic),
    options: { brokers: kafka.brokers, topic, groupId },
  };
}

test('a message arrives unchanged, with a stable id, its place and its time', { skip: withoutKafka }, async (t) => {
  const { options, far } = await setUp(t);
  const { source } = openSource(t, options);
  const reading = new Reading(source);
  await reading.ready();
  const huge = Buffer.alloc(1_000_000, 7);
  const garbage = Buffer.from([0, 255, 254, 192, 10]);
  const sentMs = Date.now();
  await far.send(['{"StartRequests":[]}', null, garbage, huge, '']);
  await reading.until(5);
  const bodies = reading.messages.map(({ body }) => body && Buffer.from(body));
  assert.deepEqual(bodies, [Buffer.from('{"StartRequests":[]}'), null, garbage, huge, Buffer.alloc(0)]);
  assert.deepEqual(
    reading.messages.map(({ place }) => place),
    [0, 1, 2, 3, 4].map((offset) => ({ topic: far.topic, partition: 0, offset })),
  );
  assert.equal(new Set(reading.messages.map(({ id }) => id)).size, 5);
  for (const message of reading.messages) assert.ok(Math.abs(message.sentMs - sentMs) < 10_000, String(message.sentMs));
  assert.equal(source.canGiveBack, false);
});

test('a message of a producer that gives no time counts as sent when it is read', { skip: withoutKafka }, async (t) => {
  const { options, far } = await setUp(t);
  const reading = new Reading(openSource(t, options).source);
  await reading.ready();
  const fromMs = Date.now();
  await far.send(['no time'], 0, '-1');
  await reading.until(1);
  const { sentMs = 0 } = reading.messages[0] ?? {};
  assert.ok(sentMs >= fromMs && sentMs <= Date.now(), String(sentMs));
});

test('an offset is committed once its message is settled or refused, and not before', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far, groupId } = await setUp(t);
  const during: number[][] = [];
  const { source } = openSource(t, options);
  const reading = new Reading(source, async ({ place }) => {
    during.push(await far.committed(groupId));
    return place['offset'] === 0 ? 'settle' : { reason: 'not an approval', description: 'it is empty' };
  });
  await reading.ready();
  await far.send(['one', 'two', 'three']);
  await reading.until(3);
  await poll(async () => (await far.committed(groupId))[0] === 3, 'the last commit');
  assert.deepEqual(during, [[0], [1], [2]]);
});

test('if a message cannot be processed, receive rejects with the same error, and the message arrives again with the same id', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far, groupId } = await setUp(t);
  const { source } = openSource(t, options);
  const full = new BridgeError('BRIDGE_STORE_FULL', 'no room');
  const first = new Reading(source, ({ place }) => {
    if (place['offset'] === 1) throw full;
    return 'settle';
  });
  await first.ready();
  await far.send(['one', 'two', 'three']);
  assert.equal(await first.done, full);
  assert.deepEqual(first.texts, ['one', 'two']);
  assert.deepEqual(await far.committed(groupId), [1]);
  const second = new Reading(source);
  await second.until(2);
  assert.deepEqual(second.texts, ['two', 'three']);
  assert.equal(second.messages[0]?.id, first.messages[1]?.id);
});

test('a new group starts at the end, and logs this; another start continues at the last position', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far } = await setUp(t, 2);
  await far.send(['old'], 0);
  await far.send(['old'], 1);
  const first = openSource(t, options);
  const reading = new Reading(first.source);
  await reading.ready();
  assert.match(first.logged(), /the consumer group is new/);
  await far.send(['new'], 1);
  await reading.until(1);
  await reading.abort();
  await far.send(['while away'], 0);
  const second = openSource(t, options);
  const again = new Reading(second.source);
  await again.until(1);
  assert.deepEqual([reading.texts, again.texts], [['new'], ['while away']]);
  assert.doesNotMatch(second.logged(), /the consumer group is new/);
});

test('the current message at an abort is committed, and the source leaves the group for the next start', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far, groupId } = await setUp(t);
  const { source } = openSource(t, options);
  const taking = Promise.withResolvers<'settle'>();
  const reading = new Reading(source, () => taking.promise);
  await reading.ready();
  await far.send(['one', 'two']);
  await reading.until(1);
  const reason = new Error('stop');
  assert.equal(await reading.abort(reason), reason);
  assert.deepEqual(await far.committed(groupId), [0]);
  taking.resolve('settle');
  await source[Symbol.asyncDispose]();
  assert.deepEqual(await far.committed(groupId), [1]);
  assert.equal(await far.members(groupId), 0);
  assert.deepEqual(reading.texts, ['one']);
});

test('a closed source ends its receiving and refuses new calls; closed unused it opens nothing', {
  skip: withoutKafka,
}, async (t) => {
  const { options } = await setUp(t);
  const { source } = openSource(t, options);
  const reading = new Reading(source);
  await reading.ready();
  await source[Symbol.asyncDispose]();
  await source[Symbol.asyncDispose]();
  for (const error of [
    reading.ended,
    await new Reading(source).done,
    await source.check(new AbortController().signal).catch((e) => e),
  ])
    assert.equal((error as BridgeError).code, 'BRIDGE_ADAPTER_CLOSED');
  const unused = openSource(t, { ...options, brokers: ['127.0.0.1:1'] });
  await unused.source[Symbol.asyncDispose]();
  assert.equal(unused.logged(), '');
});

test('a topic that is deleted and created again while the bridge runs is read from its beginning', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far } = await setUp(t);
  const { source } = openSource(t, options);
  const before = new Reading(source);
  await before.ready();
  await far.send(['before']);
  await before.until(1);
  await before.abort();
  await far.makeAnew();
  await far.send(['after']);
  const after = new Reading(source);
  await after.until(1);
  assert.deepEqual(after.texts, ['after']);
  assert.notEqual(after.messages[0]?.id, before.messages[0]?.id);
});

test('a partition that was added is read from its beginning', { skip: withoutKafka }, async (t) => {
  const { kafka, options, far, groupId } = await setUp(t);
  await far.send(['old']);
  const reading = new Reading(openSource(t, options).source);
  await reading.ready();
  await reading.abort();
  await poll(async () => (await far.members(groupId)) === 0, 'an empty group');
  await far.addPartitions(2);
  // A client that does not know of it yet sends nothing, and does not say so.
  const later = await FarEnd.open(t, kafka.brokers, far.topic);
  await later.send(['in the new partition'], 1);
  assert.equal(await later.end(), 2);
  const again = new Reading(openSource(t, options).source);
  await again.until(1);
  assert.deepEqual(again.texts, ['in the new partition']);
  await poll(async () => String(await far.committed(groupId)) === '1,1', 'the commit in the new partition');
});

test('if retention deleted unread messages, the source continues with the earliest message, and logs this', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far } = await setUp(t);
  const reading = new Reading(openSource(t, options).source);
  await reading.ready();
  await reading.abort();
  await far.send(['one', 'two', 'three']);
  await far.forgetBefore(2);
  const { source, logged } = openSource(t, options);
  const again = new Reading(source);
  await again.until(1);
  assert.deepEqual(again.texts, ['three']);
  assert.match(logged(), /Offset out of range/);
});

test('a missing topic is a fault that names it, and is not created; once it exists, it is read', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, options } = await setUp(t);
  const topic = kafka.uniqueName('missing');
  const far = await FarEnd.open(t, kafka.brokers, topic);
  const { source } = openSource(t, { ...options, topic });
  for (const error of [
    await new Reading(source).done,
    await source.check(new AbortController().signal).catch((e) => e),
  ]) {
    assert.ok(error instanceof BridgeError);
    assert.deepEqual([error.code, error.disposition, error.scope], ['BRIDGE_KAFKA_NO_TOPIC', 'misconfigured', 'sink']);
    assert.match(error.message, new RegExp(`^source ops: topic ${topic} does not exist`));
  }
  assert.equal(await far.exists(), false);
});

test('a check reaches the topic and the group without joining it, and reports a new group', {
  skip: withoutKafka,
}, async (t) => {
  const { options, far, groupId } = await setUp(t, 2);
  await far.send(['old']);
  const { source } = openSource(t, options);
  const { signal } = new AbortController();
  assert.match((await source.check(signal)) ?? '', new RegExp(`${groupId} is new`));
  assert.deepEqual([await far.committed(groupId), await far.members(groupId)], [[-1, -1], 0]);
  const reading = new Reading(source);
  await reading.ready();
  assert.equal(await source.check(signal), null);
  await far.send(['new']);
  await reading.until(1);
  await reading.abort();
  assert.equal(await source.check(signal), null);
  assert.deepEqual(await far.committed(groupId), [2, 0]);
});

test('the default group is that of the bridge', { skip: withoutKafka }, async (t) => {
  const { kafka, options, far } = await setUp(t);
  const observerId = kafka.uniqueName('web');
  const { groupId: _, ...others } = options;
  const reading = new Reading(openSource(t, others, { observerId }).source);
  await reading.ready();
  assert.deepEqual(await far.committed(`scheduled-events-bridge-${observerId}`), [0]);
});
