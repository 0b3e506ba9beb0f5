// Lane: failures of keys and of the sink, and what they do and do not delay.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY, HOUR, INFO, laneFixture, MINUTE, SECOND, WARN } from '../../virtual/lane-fixture.ts';
import { accept, always, failure, hang } from '../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const whole = () => 1;

function gaps(at: readonly { readonly ms: number }[]): number[] {
  return at.slice(1).map(({ ms }, index) => ms - (at[index]?.ms ?? 0));
}

describe('a key that fails', () => {
  test('a failing key backs off from 250 ms, doubling, up to 10 s (S-10)', async () => {
    const { lane, queue, time, watch } = laneFixture({ answer: always(failure()), random: whole });
    const at = watch();
    queue('a');
    lane.start();
    await time.advance(MINUTE);
    assert.deepEqual(gaps(at).slice(0, 8), [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  test('a failing key does not hold up others, and goes on in order once it is accepted', async () => {
    const { lane, queue, time, adapter, acceptedIds, statuses } = laneFixture({
      limits: { inFlight: 1 },
      random: whole,
    });
    let isWell = false;
    adapter.answer = (batch) =>
      batch.map(({ partitionKey }) => (partitionKey === 'a' && !isWell ? failure() : 'accepted'));
    for (const id of ['a1', 'b1', 'a2', 'c1', 'b2']) queue(id.charAt(0), { id });
    lane.start();
    await time.advance(100);
    assert.deepEqual(acceptedIds(), ['b1', 'c1', 'b2']);
    assert.equal(lane.status().state, 'backing off');
    assert.equal(lane.status().reason, 'the far side failed');
    isWell = true;
    await time.advance(SECOND);
    assert.deepEqual(acceptedIds(), ['b1', 'c1', 'b2', 'a1', 'a2']);
    assert.deepEqual(
      statuses.map(({ state }) => state),
      ['delivering', 'backing off', 'delivering'],
    );
    assert.equal(time.pending, 0);
  });

  test('an error without a disposition is tried again, and every failure is counted in the row', async () => {
    const { lane, queue, time, adapter, store, attempts } = laneFixture();
    adapter.answer = (batch) => batch.map(() => (adapter.calls.length <= 3 ? failure({}) : 'accepted'));
    queue('a');
    lane.start();
    await time.advance(5 * SECOND);
    assert.equal(store.accepted[0]?.attempts, 3);
    assert.deepEqual(
      attempts.map(({ outcome }) => outcome),
      ['retry', 'retry', 'retry', 'accepted'],
    );
  });

  test('a failing key is told once at warn, and no log line holds a payload', async () => {
    const { lane, queue, time, logs } = laneFixture({ answer: always(failure({ status: 503 })) });
    queue('a', { bytes: new TextEncoder().encode('very secret payload') });
    lane.start();
    await time.advance(MINUTE);
    const failures = logs.filter(({ msg }) => msg.startsWith('delivery failed'));
    assert.deepEqual(
      failures.filter(({ level }) => level >= WARN).map(({ status, failures: count }) => [status, count]),
      [[503, 1]],
    );
    assert.ok(failures.length > 3);
    assert.ok(!JSON.stringify(logs).includes('secret'));
  });
});

describe('a sink that fails as a whole', () => {
  test('three different keys that fail in a row make the sink sick: it is probed one at a time until a success frees all', async () => {
    const { lane, queue, time, adapter, store, watch } = laneFixture({
      answer: always(failure()),
      limits: { inFlight: 8, batch: 5 },
      random: whole,
    });
    const at = watch();
    for (let index = 0; index < 20; index++) queue(`k${index}`);
    lane.start();
    await time.advance(100);
    assert.equal(lane.status().state, 'probing');
    const before = adapter.calls.length;
    await time.advance(MINUTE);
    const probes = adapter.calls.slice(before);
    assert.ok(probes.every((ids) => ids.length === 1));
    assert.deepEqual(gaps(at.slice(-probes.length)).slice(0, 6), [500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    assert.equal(new Set(probes.flat()).size, probes.length, 'each probe is of another key');
    adapter.answer = accept;
    await time.advance(10 * SECOND);
    assert.equal(store.accepted.length, 20);
    assert.equal(lane.status().state, 'delivering');
    assert.equal(time.pending, 0);
  });

  test('a sink that fails as a whole is logged once when that begins and once when it ends', async () => {
    const { lane, queue, time, adapter, logs } = laneFixture({ answer: always(failure({ scope: 'sink' })) });
    queue('a');
    lane.start();
    await time.advance(10 * MINUTE);
    adapter.answer = accept;
    await time.advance(MINUTE);
    assert.deepEqual(
      logs.filter(({ level, msg }) => level >= INFO && !msg.startsWith('delivery failed')).map(({ msg }) => msg),
      ['the sink fails as a whole: one delivery at a time until one is accepted', 'the sink takes deliveries again'],
    );
  });

  test('while a sink is sick, only the keys that made it so are told at warn', async () => {
    const { lane, queue, time, logs } = laneFixture({ answer: always(failure()), limits: { inFlight: 1 } });
    for (let index = 0; index < 10; index++) queue(`k${index}`);
    lane.start();
    await time.advance(10 * MINUTE);
    const failures = logs.filter(({ msg, level }) => msg.startsWith('delivery failed') && level >= WARN);
    assert.equal(failures.length, 3);
    assert.equal(logs.filter(({ msg, level }) => msg.includes('fails as a whole') && level === WARN).length, 1);
  });

  test('however many keys wait, a sick sink remembers a thousand of them at most', async () => {
    const { lane, queue, time, store, adapter } = laneFixture({
      answer: always(failure({ scope: 'sink' })),
      limits: { inFlight: 1 },
    });
    for (let index = 0; index < 2_500; index++) queue(`k${index}`);
    lane.start();
    await time.advance(5 * HOUR);
    assert.ok(adapter.calls.length > 1_500);
    assert.ok(Math.max(...store.asked.map(({ except }) => except.length)) <= 1_000);
  });

  test('a sick sink is probed at least every 10 s as long as a live event, or more rows than can be looked at, wait', async () => {
    for (const { old, live } of [
      { old: 3, live: 1 },
      { old: 150, live: 0 },
    ]) {
      const { lane, queue, time, watch } = laneFixture({
        answer: always(failure({ scope: 'sink' })),
        random: whole,
        maxAgeMs: 7 * DAY,
      });
      const at = watch();
      for (let index = 0; index < old; index++) queue(`old${index}`, { endedAtMs: time.wallMs() - DAY });
      for (let index = 0; index < live; index++) queue('live');
      lane.start();
      await time.advance(10 * MINUTE);
      assert.equal(Math.max(...gaps(at)), 10_000);
    }
  });

  test('keys that are poisoned do not keep a sick sink from finding out that it takes others', async () => {
    const { lane, queue, time, adapter, store } = laneFixture({ limits: { inFlight: 1 } });
    adapter.answer = (batch) =>
      batch.map(({ partitionKey }) => (partitionKey.startsWith('bad') ? failure() : 'accepted'));
    for (let index = 0; index < 5; index++) queue(`bad${index}`);
    for (let index = 0; index < 50; index++) queue(`good${index}`);
    lane.start();
    await time.advance(MINUTE);
    assert.equal(store.accepted.length, 50);
    const bad = adapter.calls.filter(([id]) => id?.startsWith('bad')).length;
    assert.ok(bad < 150, `${bad} calls for keys that ail`);
  });

  test('a key whose turn the rate leaves no room for keeps the count of its failures', async () => {
    const limits = { inFlight: 4, batch: 3, batchBytes: 20, perMinute: 1 };
    const { lane, queue, time, store, logs } = laneFixture({ answer: always(failure()), limits, random: whole });
    const turns = ['b', 'a', 'b'];
    for (const key of ['a', 'b']) queue(key, { bytes: new Uint8Array(15) });
    for (const [turn, key] of turns.entries()) {
      for (const each of ['a', 'b']) store.urgency.set(each, Number(each !== key));
      if (turn === 0) lane.start();
      await time.advance(turn === 0 ? 30 * SECOND : MINUTE);
    }
    const told = logs
      .filter(({ msg }) => msg.startsWith('delivery failed'))
      .map(({ id, failures }) => [String(id).charAt(0), failures]);
    assert.deepEqual(told.slice(0, 3), [
      ['b', 1],
      ['a', 1],
      ['b', 2],
    ]);
  });

  test('a sick sink without rows has no timer, and takes the next row as its probe', async () => {
    const { lane, queue, time, adapter, store } = laneFixture({
      answer: always(failure({ scope: 'sink' })),
      maxAgeMs: 1,
    });
    queue('a');
    lane.start();
    await time.advance(MINUTE);
    assert.equal(store.dead[0]?.reason, 'expired');
    assert.equal(time.pending, 0);
    adapter.answer = accept;
    queue('b');
    await time.advance(SECOND);
    assert.equal(store.accepted.length, 1);
  });
});

describe('what a receiver asks for', () => {
  test('a misconfigured sink is tried slowly, and told once when it begins and once when it ends', async () => {
    const error = failure(
      { disposition: 'misconfigured', status: 401 },
      'the sink wants another token: check the header',
    );
    const { lane, queue, time, adapter, logs, watch, statuses } = laneFixture({ answer: always(error), random: whole });
    const at = watch();
    queue('a');
    lane.start();
    await time.advance(35 * SECOND);
    assert.deepEqual(gaps(at), [10_000, 10_000, 10_000]);
    assert.deepEqual(lane.status().state, 'misconfigured');
    assert.match(lane.status().reason ?? '', /check the header/);
    adapter.answer = accept;
    await time.advance(10 * SECOND);
    assert.equal(lane.status().state, 'delivering');
    assert.deepEqual(
      logs.filter(({ level }) => level >= INFO).map(({ msg }) => msg),
      [
        'the sink looks misconfigured: mend what the reason says; tried slowly until then',
        'the sink takes deliveries: it is no longer misconfigured',
      ],
    );
    assert.deepEqual(
      statuses.map(({ state }) => state),
      ['delivering', 'misconfigured', 'delivering'],
    );
  });
});

describe('over days, clocks and sinks', () => {
  test('three days of outage cost no more attempts than the caps allow (S-10)', async () => {
    const time = new VirtualTime();
    const { lane, queue, adapter, store } = laneFixture({
      answer: always(failure({ disposition: 'retry' })),
      time,
      maxAgeMs: 7 * DAY,
      random: whole,
    });
    for (let index = 0; index < 10; index++) queue(`k${index}`, { endedAtMs: time.wallMs() });
    lane.start();
    await time.advance(3 * DAY);
    const most = (10 * MINUTE) / (10 * SECOND) + (3 * DAY) / (5 * MINUTE) + 20;
    assert.ok(adapter.calls.length <= most, `${adapter.calls.length} calls, at most ${most}`);
    assert.ok(adapter.calls.length >= (3 * DAY) / (5 * MINUTE) - 20);
    adapter.answer = accept;
    await time.advance(5 * MINUTE);
    assert.equal(store.accepted.length, 10);
  });

  test('a new row brings the probe of a sink that waits for old events forward to 10 s', async () => {
    const time = new VirtualTime();
    const { lane, queue, adapter, store } = laneFixture({
      answer: always(failure({ scope: 'sink' })),
      time,
      maxAgeMs: 7 * DAY,
      random: whole,
    });
    queue('old', { endedAtMs: time.wallMs() - DAY });
    lane.start();
    await time.advance(3 * HOUR);
    adapter.answer = accept;
    queue('new');
    await time.advance(10 * SECOND);
    assert.equal(store.accepted.length, 2);
  });

  test('jumps of the wall clock change no back-off', async () => {
    for (const sick of [false, true]) {
      const runs = [0, HOUR, -HOUR].map(async (jumpMs) => {
        const { lane, queue, time, watch } = laneFixture({
          answer: always(failure({ scope: sick ? 'sink' : 'delivery' })),
          maxAgeMs: 30 * DAY,
        });
        const at = watch();
        queue('ended', { endedAtMs: time.wallMs() - MINUTE });
        queue('alive');
        lane.start();
        await time.advance(2 * MINUTE);
        time.jumpWall(jumpMs);
        await time.advance(HOUR);
        return at;
      });
      const [calm, ahead, back] = await Promise.all(runs);
      assert.deepEqual(ahead, calm);
      assert.deepEqual(back, calm);
    }
  });

  test('a sink that hangs delays no other sink', async () => {
    const time = new VirtualTime();
    const hanging = laneFixture({ answer: hang, time, name: 'hanging' });
    const well = laneFixture({ time, name: 'well' });
    for (let index = 0; index < 10; index++) {
      hanging.queue(`k${index}`);
      well.queue(`k${index}`);
    }
    hanging.lane.start();
    well.lane.start();
    await time.advance(10);
    assert.equal(well.store.accepted.length, 10);
    assert.equal(hanging.store.accepted.length, 0);
  });
});

describe('an adapter that keeps no promise', () => {
  test('an attempt that never ends is aborted after 5 min and tried again', async () => {
    const { lane, queue, time, adapter, store } = laneFixture();
    let aborted = false;
    adapter.answer = (batch, signal) => {
      if (adapter.calls.length > 1) return accept(batch, signal);
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    };
    queue('a');
    lane.start();
    await time.advance(5 * MINUTE - 1);
    assert.equal(aborted, false);
    await time.advance(SECOND);
    assert.equal(aborted, true);
    assert.equal(store.accepted[0]?.attempts, 1);
  });

  test('an adapter that throws costs every member a try, and its message is not told', async () => {
    const { lane, queue, time, adapter, store, logs } = laneFixture({ limits: { batch: 5 } });
    adapter.answer = (batch, signal) => {
      if (adapter.calls.length === 1)
        throw Object.assign(new TypeError('https://user:hunter2@example.com'), { code: 'ERR_X' });
      return accept(batch, signal);
    };
    for (const key of ['a', 'b']) queue(key);
    lane.start();
    await time.advance(SECOND);
    assert.deepEqual(
      store.accepted.map(({ attempts }) => attempts),
      [1, 1],
    );
    assert.ok(logs.some(({ code, reason }) => code === 'BRIDGE_DELIVERY_FAILED' && String(reason).includes('ERR_X')));
    assert.ok(!JSON.stringify(logs).includes('hunter2'));
  });

  test('an adapter that gives too few outcomes costs every member a try, and is told as an error', async () => {
    const { lane, queue, time, adapter, store, logs } = laneFixture({ limits: { batch: 5 } });
    adapter.answer = (batch) => batch.map(() => 'accepted' as const).slice(adapter.calls.length === 1 ? 1 : 0);
    for (const key of ['a', 'b']) queue(key);
    lane.start();
    await time.advance(SECOND);
    assert.deepEqual(
      store.accepted.map(({ attempts }) => attempts),
      [1, 1],
    );
    assert.ok(logs.some(({ level, code }) => level > WARN && code === 'BRIDGE_DELIVERY_OUTCOMES'));
  });
});
